package term_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/face/cli/term"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "任务": 4, "a任b": 4, "e\u0301": 1, "✓": 1, "✅": 2, "，": 2,
		"ｱ": 1, "한글": 4, "\x1b[2m任\x1b[0mb": 3} {
		if got := term.Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		tty, off bool
		env      map[string]string
		want     bool
	}{
		{tty: true, want: true},
		{env: map[string]string{"CLICOLOR_FORCE": "1"}, want: true},
		{env: map[string]string{"CLICOLOR_FORCE": "0"}},
		{env: map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}},
		{env: map[string]string{"CLICOLOR_FORCE": "1", "TERM": "dumb"}},
		{off: true, env: map[string]string{"CLICOLOR_FORCE": "1"}},
		{},
	} {
		if s := term.Detect(c.tty, c.off, func(name string) string { return c.env[name] }); s.Color != c.want {
			t.Errorf("%+v: %v", c, s.Color)
		}
	}
}

func TestClipAndPad(t *testing.T) {
	for _, c := range []struct {
		s    string
		w    int
		want string
	}{{"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"任务列表", 5, "任务…"}, {"任务列表", 6, "任务…"}, {"ab", 0, "…"}} {
		if got := term.Clip(c.s, c.w, "…"); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.s, c.w, got, c.want)
		}
	}
	if got := term.Pad("任务", 6); got != "任务  " {
		t.Errorf("Pad = %q", got)
	}
}

func TestHang(t *testing.T) {
	for _, c := range []struct {
		text     string
		at, most int
		want     string
	}{
		{"", 4, 0, ""}, {"one two three four", 4, 0, "one two three|    four"}, {"one two three four five six", 4, 1,
			"one two three…"},
		{"任务列表要对齐吧啊", 4, 2, "任务列表要对齐吧|    啊"}, {"任务列表要对齐吧啊任务列表要对齐吧啊", 4, 2, "任务列表要对齐吧|    啊任务列表要对…"},
	} {
		if got := strings.Join(term.Hang(c.text, c.at, 20, c.most, "…"), "|"); got != c.want {
			t.Errorf("Hang(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

// Wrapping never makes a line too wide and leaves out nothing but blanks.
func TestWrapKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("ab 任务，x  -"))).Draw(t, "s")
		w := rapid.IntRange(1, 40).Draw(t, "w")
		lines := term.Wrap(s, w)
		for _, l := range lines {
			if term.Width(l) > max(w, 8) {
				t.Fatalf("%q is wider than %d", l, w)
			}
		}
		strip := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got := strip(strings.Join(lines, "")); got != strip(s) {
			t.Fatalf("Wrap(%q, %d) = %q", s, w, lines)
		}
	})
}

func TestWrapBreaksWhereReadersDo(t *testing.T) {
	for _, c := range []struct {
		s    string
		w    int
		want string
	}{
		{"只撤销一步：--step 之后", 16, "只撤销一步：|--step 之后"},
		{"在外部解决了问题。", 16, "在外部解决了问|题。"},
		{"用（就地）来工作吧", 8, "用（就|地）来工|作吧"},
		{"何时询问：assisted 或 autonomous", 20, "何时询问：assisted|或 autonomous"},
		{"one two  three", 8, "one two |three"},
		{"abcdefghijkl", 8, "abcdefgh|ijkl"},
	} {
		if got := strings.Join(term.Wrap(c.s, c.w), "|"); got != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.s, c.w, got, c.want)
		}
	}
}

func TestTableAlignsWideText(t *testing.T) {
	var tab term.Table
	tab.Row("目标", "x")
	tab.Row("goal", "a long text that is wrapped below its own column, as it should be")
	got := strings.Join(tab.Lines(40), "\n")
	want := "目标  x\ngoal  a long text that is wrapped below\n      its own column, as it should be"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
