package tui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"pawl/face/cli/term"
	"pawl/internal/golden"
	"pawl/internal/terminaltest"
	"pawl/text/message"
)

// stage is a prompt on a terminal that is not there.
type stage struct {
	ask  ask
	vt   *terminaltest.VT
	w, h int
}

func newStage(w, h int, lang message.Lang, style term.Style) *stage {
	s := &stage{vt: terminaltest.NewVT(w, h), w: w, h: h}
	s.ask = ask{lang: lang, style: style, complete: offer, history: &history{lines: []string{
		"~plan 为导出功能增加 CSV 格式", "make go vet and the tests pass", "~exec 202611220615_csv-export",
	}}}
	s.ask.begin()
	return s
}

// offer completes as the command line may: commands, and packages behind ~exec.
func offer(text string, cursor int) []Candidate {
	word := text[strings.LastIndexByte(text[:cursor], ' ')+1 : cursor]
	all := []Candidate{
		{"~auto ", "~auto", "plan and carry out"}, {"~exec ", "~exec", "carry out a package"}, {"~plan ", "~plan",
			"plan only"},
		{"~rollback ", "~rollback", "go back to a checkpoint"}, {"~review ", "~review", "审查改动"}, {"~help ", "~help",
			""},
	}
	if strings.HasPrefix(text, "~exec ") {
		all = []Candidate{{Insert: "202611220615_csv-export", Note: "3 tasks"},
			{Insert: "202611220640_csv-import", Note: "5 tasks"}}
	}
	var out []Candidate
	for _, c := range all {
		if strings.HasPrefix(c.Insert, word) {
			out = append(out, c)
		}
	}
	return out
}

// press sends keys: names in <>, everything else as text.
func (s *stage) press(t testing.TB, keys string) act {
	t.Helper()
	last := nothing
	for _, k := range typedKeys(keys) {
		last = s.ask.press(k)
		s.draw()
	}
	return last
}

// draw paints the frame; the row with the cursor is painted up to it at last.
func (s *stage) draw() {
	f := s.ask.shape(s.w, s.h)
	_, _ = fmt.Fprintf(s.vt, "\x1b[1;1H\x1b[J%s\x1b[%d;1H%s", strings.Join(f.rows, "\r\n"), f.row+1, f.upTo)
}

func TestPromptFrames(t *testing.T) {
	scenes := []struct{ name, keys string }{
		{"an empty line", ""},
		{"a line", "make the tests pass"},
		{"the cursor in the middle", "修复 login 的错误<alt+b><alt+b>"},
		{"a long line", "rename the package that holds the exporters to export, move its tests beside it, and see to it that nothing imports the old path any more; 然后运行全部测试，确认没有遗漏"},
		{"several rows", "~plan add an export<alt+enter>- CSV 和 JSON<alt+enter>- emoji 👩\u200d💻 in names"},
		{"commands", "~<tab>"},
		{"a chosen command", "~<tab><tab><tab>"},
		{"packages: what they have in common", "~exec <tab>"},
		{"packages: the list", "~exec <tab><tab><down>"},
		{"nothing to complete", "xyz<tab>"},
		{"from the history", "new line<up><up>"},
		{"search", "<ctrl+r>vet"},
		{"search without success", "<ctrl+r>zebra"},
		{"Ctrl-C on an empty line", "<ctrl+c>"},
		{"what nobody would see", "rm \u202e\u200bx"},
	}
	for _, lang := range []message.Lang{message.English, message.Chinese} {
		for _, w := range []int{80, 200} {
			var b strings.Builder
			for i, c := range scenes {
				s := newStage(w, 24, lang, term.Style{Unicode: true})
				if i == 0 {
					s.ask.note = lang.Text("tui.prompt.welcome")
				}
				if i > 2 {
					s.ask.status = Status{State: "EXECUTING", Mode: "AUTO_FULL", Stage: "DEVELOP", Busy: i%2 == 0}
				} else {
					s.ask.status = Status{State: "IDLE"}
				}
				s.draw()
				s.press(t, c.keys)
				fmt.Fprintf(&b, "== %s: %s\n%s\n", c.name, c.keys, s.vt.Screen())
				if s.vt.Bad != nil {
					t.Errorf("%s: %q", c.name, s.vt.Bad)
				}
			}
			golden.Check(t, filepath.Join("testdata", fmt.Sprintf("prompt.%d.%s.txt", w, lang[:2])), b.String())
		}
	}
}

func TestPromptKeys(t *testing.T) {
	for _, c := range []struct {
		keys, want string
		act        act
	}{
		{"abc<enter>", "abc", submit}, {"  <enter>", "  ", nothing}, {"<ctrl+d>", "", leave}, {"ab<home><ctrl+d>", "b",
			nothing},
		{"abc<ctrl+c>", "", nothing}, {"<ctrl+c><ctrl+c>", "", leave}, {"<ctrl+c>a<ctrl+c><ctrl+c>", "",
			nothing}, {"<ctrl+z>", "", suspend}, {"<ctrl+l>", "", wipe},
		{"<up>", "~exec 202611220615_csv-export", nothing}, {"dr<up><down>", "dr",
			nothing}, {"dr<up><up><up><up><down>", "make go vet and the tests pass", nothing},
		{"dr<pgup>", "~plan 为导出功能增加 CSV 格式", nothing}, {"dr<pgup><pgdown>", "dr", nothing},
		{"~p<tab>", "~plan ", nothing}, {"~r<tab>", "~r", nothing}, {"~r<tab><tab>", "~rollback ",
			nothing}, {"~r<tab><tab><tab>", "~review ", nothing},
		{"~r<tab><shift+tab>", "~review ", nothing}, {"~r<tab><tab><esc>", "~r", nothing}, {"~r<tab><tab><enter>",
			"~rollback ", nothing}, {"~r<tab><tab><enter><enter>", "~rollback ", submit},
		{"~r<tab><enter>", "~r", submit}, {"~r<tab><tab>x", "~rollback x", nothing}, {"x ~h<tab>y", "x ~help y",
			nothing},
		{"y foo<ctrl+a>~pl<tab>", "~plan y foo", nothing},
		{"<ctrl+r>go<enter>", "make go vet and the tests pass", nothing}, {"dr<ctrl+r>csv<enter>",
			"~exec 202611220615_csv-export", nothing},
		{"dr<ctrl+r>csv<ctrl+r><enter>", "~plan 为导出功能增加 CSV 格式", nothing}, {"dr<ctrl+r>csv<esc>", "dr",
			nothing}, {"dr<ctrl+r>csv<enter><down><down>", "dr", nothing},
		{"dr<ctrl+r>zzz<enter>", "dr", nothing}, {"a<ctrl+j><ctrl+x>b", "ab", nothing},
	} {
		s := newStage(80, 24, message.English, term.Style{Unicode: true})
		s.ask.history.lines = s.ask.history.lines[:3:3]
		got := s.press(t, c.keys)
		if got != c.act || s.ask.line.text != c.want {
			t.Errorf("%s: %q and %v, want %q and %v", c.keys, s.ask.line.text, got, c.want, c.act)
		}
	}
}

func TestPasteIsOneInput(t *testing.T) {
	s := newStage(80, 24, message.English, term.Style{})
	for _, k := range feed(&keys{}, "x \x1b[200~one\r\ntwo\rthree\x1b]0;t\x07\tfour\x1b[201~") {
		if got := s.ask.press(k); got != nothing {
			t.Fatalf("a paste means %v", got)
		}
	}
	if got, want := s.ask.line.text, "x one\ntwo\nthree]0;t\tfour"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// However small the terminal and whatever was typed, no row is too wide, there are not too many, and the cursor is
// where the terminal puts the text before it.
func TestPromptFitsAnyTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(12, 120).Draw(t, "w"), rapid.IntRange(3, 30).Draw(t, "h")
		s := newStage(w, h, rapid.SampledFrom([]message.Lang{message.English, message.Chinese}).Draw(t, "lang"),
			term.Style{Unicode: true, Color: rapid.Bool().Draw(t, "color")})
		s.ask.status = Status{State: rapid.SampledFrom([]string{"", "IDLE", "EXECUTING\x1b[2J"}).Draw(t, "state"),
			Mode: "AUTO_FULL", Busy: true}
		names := []string{"left", "up", "down", "tab", "shift+tab", "ctrl+r", "esc", "enter", "home", "alt+enter",
			"ctrl+w", "ctrl+y"}
		for range rapid.IntRange(0, 15).Draw(t, "n") {
			k := key{name: rapid.SampledFrom(names).Draw(t, "key")}
			if rapid.Bool().Draw(t, "text") {
				k = key{keyPaste, rapid.StringOf(rapid.SampledFrom([]rune("~ex ab 任，\u0301👍🏽🇩🇪👨\u200d♂\ufe0f\u202e\t\n"))).Draw(t, "typed")}
			}
			s.ask.press(k)
			f := s.ask.shape(w, h)
			if len(f.rows) > h || f.row >= len(f.rows) || !strings.HasPrefix(f.rows[f.row], f.upTo) {
				t.Fatalf("%d rows of %d, the cursor in %d behind %q: %q", len(f.rows), h, f.row, f.upTo, f.rows)
			}
			for _, r := range f.rows {
				if columns(ansi.Strip(r)) >= w {
					t.Fatalf("%q is as wide as the terminal (%d)", r, w)
				}
			}
			s.draw()
			if s.vt.Bad != nil || s.vt.Off != nil {
				t.Fatalf("unknown to the terminal: %q; scrolled off: %q", s.vt.Bad, s.vt.Off)
			}
		}
	})
}
