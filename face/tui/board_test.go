package tui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl/face/cli/term"
	"pawl/internal/golden"
	"pawl/internal/terminaltest"
	"pawl/machine/board"
	"pawl/text/message"
)

// noon is the moment of every board that is kept as a golden file.
func noon() time.Time { return time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC) }

func ago(d time.Duration) time.Time { return noon().Add(-d) }

// sample is a backlog in the middle of its work, with titles in the language of the person.
func sample(lang message.Lang) Board {
	say := func(en, zh string) string {
		if lang == message.Chinese {
			return zh
		}
		return en
	}
	b := Board{
		At: noon(), Run: "QUE-20260208-113000", Status: board.RunRunning, Phase: board.PhaseExecuting,
		Columns: []Column{
			{Status: board.IssueRegistered, Count: 99_951},
			{Status: board.IssuePlanning, Count: 1,
				Issues: []Issue{{ID: "ISS-20260208-017", Title: say("Say which file a parse error is in",
					"解析错误时指出所在文件"), Since: ago(42 * time.Second), Priority: 2}}},
			{Status: board.IssuePlanned, Count: 4, Issues: []Issue{
				{ID: "GH-123", Title: say("Retry uploads that the server cut off", "重试被服务器中断的上传"), Flag: FlagReady,
					Priority: 1},
				{ID: "GH-124", Title: say("Show progress of uploads", "显示上传进度"), Flag: FlagBlocked},
				{ID: "ISS-20260208-009", Title: say("Translate the manual", "翻译手册"), Flag: FlagPaused, Priority: 5},
				{ID: "ISS-20260208-010", Title: say("Remove the old importer", "移除旧的导入器")},
			}},
			{Status: board.IssueExecuting, Count: 3, Issues: []Issue{
				{ID: "ISS-20260208-004", Title: say("Keep CRLF line ends when a file is patched", "打补丁时保留 CRLF 换行"),
					Since: ago(3*time.Minute + 5*time.Second), Priority: 1},
				{ID: "ISS-20260208-005", Title: say("Refuse a cycle among dependencies", "拒绝循环依赖"),
					Since: ago(71 * time.Second), Attempt: 2},
				{ID: "ISS-20260208-006", Title: say("Names with blanks and 中文 in archives 📦", "归档支持含空格和 emoji 📦 的名称"),
					Since: ago(9 * time.Second)},
			}},
			{Status: board.IssueCompleted, Count: 38, Issues: []Issue{
				{ID: "ISS-20260208-003", Title: say("Count columns of wide characters", "正确计算宽字符列数")},
				{ID: "ISS-20260208-002", Title: say("Stop at the first fault", "遇到首个错误即停止")}, {ID: "ISS-20260208-001",
					Title: say("Write the README", "编写 README")},
			}},
			{Status: board.IssueFailed, Count: 3,
				Issues: []Issue{{ID: "GH-99", Title: say("Upgrade the parser to version 4", "解析器升级到第 4 版"), Attempt: 3},
					{ID: "GH-98", Title: say("Drop support for old disks", "不再支持旧磁盘")}}},
		},
		Workers: []Worker{
			{Name: "laptop/1", Issue: "ISS-20260208-004", Step: say("2/4 change the writer", "2/4 修改写入器"),
				Since: ago(3*time.Minute + 5*time.Second)},
			{Name: "laptop/2", Issue: "ISS-20260208-005", Step: say("verify: go test ./...", "验证：go test ./..."),
				Since: ago(71 * time.Second)},
			{Name: "laptop/3", Issue: "ISS-20260208-006", Step: say("make the worktree", "创建工作树"),
				Since: ago(9 * time.Second)},
			{Name: "laptop/4", Since: ago(2 * time.Second)},
		},
		Events: []Event{
			{At: ago(2 * time.Second), Issue: "ISS-20260208-003", Mark: MarkOK,
				Text: say("landed as 4f2a91c on main", "已作为 4f2a91c 落地到 main")},
			{At: ago(9 * time.Second), Issue: "ISS-20260208-006", Mark: MarkMove, Text: "planned → executing"},
			{At: ago(30 * time.Second), Issue: "GH-99", Mark: MarkBad,
				Text: say("the last repair failed: tests", "最后一次修复失败：tests")},
			{At: ago(71 * time.Second), Issue: "ISS-20260208-005", Mark: MarkWarn,
				Text: say("the result conflicts with 81be0d2; tried again with it", "结果与 81be0d2 冲突，已带上冲突重试")},
		},
		Totals: Totals{Total: 100_000, Completed: 38, Failed: 3, Finished: 41, Took: 41 * 90 * time.Second,
			Today: Cost{12_345_678, true}},
	}
	for n := range 20 {
		b.Columns[0].Issues = append(b.Columns[0].Issues, Issue{ID: fmt.Sprintf("ISS-20260208-%03d", 20+n),
			Title: say("Import record ", "导入记录 ") + fmt.Sprint(n+1), Priority: 3})
	}
	return b
}

func plainStyle() term.Style { return term.Style{Unicode: true} }

func TestBoardFrames(t *testing.T) {
	for _, lang := range []message.Lang{message.English, message.Chinese} {
		for _, size := range [][2]int{{80, 24}, {80, 40}, {200, 50}, {50, 30}} {
			v := View{Width: size[0], Height: size[1], Lang: lang, Style: plainStyle(), Selected: "ISS-20260208-005"}
			var out strings.Builder
			show := func(name string, lines []string) {
				fmt.Fprintf(&out, "== %s, %d × %d\n", name, v.Width, v.Height)
				for _, l := range lines {
					out.WriteString(strings.TrimRight(l, " ") + "\n")
				}
				out.WriteString("== end\n\n")
			}
			show("the board", sample(lang).Frame(v))
			if size == [2]int{80, 24} || size == [2]int{200, 50} {
				f := v
				f.Filter, f.Typing = "upload", true
				show("a filter", sample(lang).Frame(f))
				lines, _ := exampleDetail(lang).Frame(sample(lang), v, 0)
				show("a detail", lines)
				show("help", Help(v))
				show("nothing yet", Board{At: noon()}.Frame(v))
			}
			golden.Check(t, filepath.Join("testdata", fmt.Sprintf("board.%dx%d.%s.txt", size[0], size[1], lang[:2])),
				out.String())
		}
		golden.Check(t, filepath.Join("testdata", fmt.Sprintf("board.pipe.%s.txt", lang[:2])),
			sample(lang).Text(lang, 80))
	}
	v := View{Width: 80, Height: 24, Lang: message.English, Selected: "ISS-20260208-005", Failure: "the store is busy"}
	golden.Check(t, filepath.Join("testdata", "board.ascii.txt"), strings.Join(sample(message.English).Frame(v), "\n")+
		"\n")
}

func exampleDetail(lang message.Lang) Detail {
	say := func(en, zh string) string {
		if lang == message.Chinese {
			return zh
		}
		return en
	}
	return Detail{
		Issue: Issue{ID: "GH-99", Title: say("Upgrade the parser to version 4", "解析器升级到第 4 版"),
			Flag: FlagBlocked}, Status: board.IssueFailed,
		Text:    say("Version 3 is not kept up any more.\n\nThe new one reads the same files; see https://example.com/parser/4 for what changed.", "第 3 版已不再维护。\n\n新版可读取相同的文件；变更见 https://example.com/parser/4。"),
		Blocked: say("the last of 3 repairs failed: tests. Somebody has to look at it.", "3 次修复均失败：tests。需要人工处理。"),
		Plan: []DetailLine{
			{MarkOK, say("take up version 4", "引入第 4 版"), "go.mod"}, {MarkOK,
				say("rename what was renamed", "重命名相应的标识符"), "parse.go, walk.go"},
			{MarkBad, say("keep the order of keys", "保持键的顺序"), say("the new one sorts them", "新版会排序")}, {MarkNone,
				say("say so in the manual", "在手册中说明"), ""},
		},
		Evidence: []DetailLine{{MarkOK, "go vet ./...", "0.8s"},
			{MarkBad, "go test ./...", say("exit status 1, 4.2s, on tree 81be0d2", "退出码 1，4.2s，目录树 81be0d2")}},
		History: []Event{{ago(30 * time.Second), "GH-99", MarkBad, "executing → failed"},
			{ago(9 * time.Minute), "GH-99", MarkMove, "planned → executing"}},
		Next: []string{"pawl issue retry GH-99", "pawl issue skip GH-99", "pawl issue show GH-99 --json"},
	}
}

// wild makes boards that no store would hold.
func wild(t *rapid.T) Board {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab 任，\u0301👍🏽🇩🇪\u202e\t\n\x1b[2Jé")))
	b := Board{At: noon(), Run: text.Draw(t, "run"), Phase: board.PhaseExecuting}
	for _, s := range statuses() {
		c := Column{Status: s, Count: rapid.IntRange(0, 1_000_000).Draw(t, "count")}
		for range min(c.Count, rapid.IntRange(0, 40).Draw(t, "page")) {
			c.Issues = append(c.Issues, Issue{ID: text.Draw(t, "id"), Title: text.Draw(t, "title"), Attempt: 2,
				Priority: 1, Since: ago(time.Hour), Flag: FlagReady})
		}
		b.Columns = append(b.Columns, c)
	}
	for range rapid.IntRange(0, 20).Draw(t, "workers") {
		b.Workers = append(b.Workers, Worker{Name: text.Draw(t, "name"), Issue: text.Draw(t, "at"),
			Step: text.Draw(t, "step"), Since: ago(time.Minute)})
		b.Events = append(b.Events, Event{At: noon(), Issue: text.Draw(t, "issue"), Text: text.Draw(t, "text")})
	}
	b.Totals = Totals{Total: rapid.IntRange(-1, 100).Draw(t, "total"), Completed: rapid.IntRange(0, 200).Draw(t,
		"done"), Failed: rapid.IntRange(0, 200).Draw(t, "failed"), Today: Cost{1 << 50, true}, Finished: 1,
		Took: time.Hour}
	return b
}

// Whatever the board holds and however small the terminal is: no line is too wide or holds anything that acts on a
// terminal, there are not too many, and the last one is the footer.
func TestBoardFitsAnyTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := wild(t)
		v := View{Width: rapid.IntRange(20, 220).Draw(t, "w"), Height: rapid.IntRange(8, 70).Draw(t, "h"),
			Lang: rapid.SampledFrom([]message.Lang{message.English, message.Chinese}).Draw(t, "lang"), Selected: "a"}
		v.Style = term.Style{Unicode: rapid.Bool().Draw(t, "unicode")}
		v.Filter, v.Typing = rapid.SampledFrom([]string{"", "a", "任\x1b"}).Draw(t, "filter"), rapid.Bool().Draw(t,
			"typing")
		if len(b.Columns[0].Issues) > 0 {
			v.Selected = b.Columns[0].Issues[len(b.Columns[0].Issues)-1].ID
		}
		d := Detail{Issue: Issue{ID: b.Run, Title: b.Run}, Text: b.Run, Blocked: b.Run,
			Plan: []DetailLine{{MarkOK, b.Run, b.Run}}, Next: []string{b.Run}}
		detail, _ := d.Frame(b, v, 3)
		for name, lines := range map[string][]string{"board": b.Frame(v), "detail": detail, "help": Help(v)} {
			if len(lines) > v.Height {
				t.Fatalf("%s: %d lines in %d", name, len(lines), v.Height)
			}
			for _, l := range lines {
				if term.Width(l) > v.Width || strings.ContainsAny(l, "\x1b\n\t\r") {
					t.Fatalf("%s: %q is %d wide in %d", name, l, term.Width(l), v.Width)
				}
			}
		}
		for l := range strings.Lines(b.Text(v.Lang, v.Width)) {
			if term.Width(strings.TrimSuffix(l, "\n")) > max(v.Width, 40) || strings.Contains(l, "\x1b") {
				t.Fatalf("%q is too wide for a pipe of %d", l, v.Width)
			}
		}
	})
}

func TestEstimates(t *testing.T) {
	for _, c := range []struct {
		b     Board
		want  time.Duration
		known bool
	}{
		{Board{}, 0, false}, {Board{Totals: Totals{Total: 4}}, 0,
			false}, {Board{Totals: Totals{Total: 4, Completed: 3, Failed: 1}}, 0, true},
		{Board{Totals: Totals{Total: 10, Completed: 2, Finished: 2, Took: 2 * time.Minute}}, 8 * time.Minute, true},
		{Board{Totals: Totals{Total: 10, Completed: 2, Finished: 2, Took: 2 * time.Minute}, Workers: make([]Worker, 4)},
			2 * time.Minute, true},
		{Board{Totals: Totals{Total: 3, Completed: 2, Finished: 2, Took: 2 * time.Minute}, Workers: make([]Worker, 4)},
			time.Minute, true},
	} {
		if d, known := c.b.Left(); d != c.want || known != c.known {
			t.Errorf("%+v: %v %v, want %v %v", c.b.Totals, d, known, c.want, c.known)
		}
	}
	if n := (Board{Totals: Totals{Total: 1000, Completed: 999}}).Percent(); n != 99 {
		t.Errorf("999 of 1000 are %d%%", n)
	}
	for d, want := range map[time.Duration]string{-1: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m01s",
		3*time.Hour + 4*time.Minute: "3h04m", 50 * time.Hour: "2d2h"} {
		if got := span(d); got != want {
			t.Errorf("%v = %q, want %q", d, got, want)
		}
	}
}

func TestScreenKeys(t *testing.T) {
	for _, c := range []struct{ keys, selected, state string }{
		{"", "ISS-20260208-020", ""}, {"jj", "ISS-20260208-022", ""}, {"jk", "ISS-20260208-020", ""}, {"k",
			"ISS-20260208-020", ""}, {"l", "ISS-20260208-017", ""},
		{"<right><right><down>", "GH-124", ""}, {"<right><right><down><left>", "ISS-20260208-017", ""}, {"G<right>",
			"ISS-20260208-017", ""}, {"<tab><tab><tab><end>", "ISS-20260208-006", ""},
		{"?", "ISS-20260208-020", "help"}, {"?x", "ISS-20260208-020", ""}, {"<enter>", "ISS-20260208-020",
			"detail ISS-20260208-020"}, {"<enter>q", "ISS-20260208-020", ""},
		{"/upload", "GH-123", "filter upload"}, {"/upload<enter>j", "GH-124", "filter upload"}, {"/upload<esc>",
			"GH-123", ""}, {"/q", "", "filter q"}, {"/upload<enter><esc>", "GH-123", ""}, {"/progress upload<enter>",
			"GH-124", "filter progress upload"},
	} {
		s := screen{lang: message.English, style: plainStyle(), width: 80, height: 24}
		s.see(sight{board: sample(message.English)})
		for _, k := range split(c.keys) {
			if s.press(k) != nothing {
				t.Errorf("%s leaves", c.keys)
			}
			_ = s.frame()
		}
		state := ""
		switch {
		case s.help:
			state = "help"
		case s.open != "":
			state = "detail " + s.open
		case s.filter.text != "":
			state = "filter " + s.filter.text
		}
		if s.selected != c.selected || state != c.state {
			t.Errorf("%s: %s %q, want %s %q", c.keys, s.selected, state, c.selected, c.state)
		}
	}
	s := screen{width: 80, height: 24}
	for _, k := range []key{{keyText, "q"}, {name: "ctrl+c"}} {
		if s.press(k) != leave {
			t.Errorf("%v does not leave", k)
		}
	}
}

// split turns keys as in stage.press into keys.
func split(keys string) []key {
	var out []key
	for keys != "" {
		if strings.HasPrefix(keys, "<") {
			name, rest, _ := strings.Cut(keys[1:], ">")
			out, keys = append(out, key{name: name}), rest
			continue
		}
		i := strings.IndexByte(keys, '<')
		if i < 0 {
			i = len(keys)
		}
		out, keys = append(out, key{keyText, keys[:i]}), keys[i:]
	}
	return out
}

// What can be shown by name and sign alone is: a frame without colour tells completed, failed and blocked apart.
func TestColourSaysNothingAlone(t *testing.T) {
	b := sample(message.English)
	v := View{Width: 200, Height: 50, Lang: message.English, Style: term.Style{Unicode: true, Color: true}}
	colour := strings.Join(b.Frame(v), "\n")
	v.Style.Color = false
	bare := strings.Join(b.Frame(v), "\n")
	got := terminaltest.NewVT(200, 60)
	_, _ = got.Write([]byte(strings.ReplaceAll(colour, "\n", "\r\n")))
	want := terminaltest.NewVT(200, 60)
	_, _ = want.Write([]byte(strings.ReplaceAll(bare, "\n", "\r\n")))
	if got.Screen() != want.Screen() {
		t.Errorf("with colour:\n%s\nwithout:\n%s", got.Screen(), want.Screen())
	}
	if !strings.Contains(colour, "\x1b[3") {
		t.Error("there is no colour")
	}
}

// TestTimesAreThoseOfThePlace draws a board where it is another day already: what happened before says on which.
func TestTimesAreThoseOfThePlace(t *testing.T) {
	b := Board{At: noon(), Events: []Event{{At: noon().Add(-time.Minute), Text: "today"},
		{At: noon().Add(-13 * time.Hour), Text: "before"}}}
	events := strings.Join(strings.Fields(b.In(time.FixedZone("east", 2*3600)).Text(message.English, 80)), " ")
	if !strings.Contains(events, "13:59:00 • today") || !strings.Contains(events, " 01:00:00 • before") {
		t.Errorf("east of it: %s", events)
	}
	events = strings.Join(strings.Fields(b.In(time.FixedZone("west", -2*3600)).Text(message.English, 80)), " ")
	want := noon().Add(-15 * time.Hour).Format("01-02 15:04")
	if !strings.Contains(events, "09:59:00 • today") || !strings.Contains(events, want+" • before") {
		t.Errorf("west of it, where %q is missing: %s", want, events)
	}
	if d := (Detail{History: b.Events}).In(time.FixedZone("east", 2*3600)); d.History[0].At.Hour() != 13 ||
		b.Events[0].At.Hour() != 11 {
		t.Errorf("%v, %v", d.History[0].At, b.Events[0].At)
	}
}
