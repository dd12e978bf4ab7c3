package tui

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"pawl/cli/term"
	"pawl/message"
)

func screenFor(in io.Reader, out io.Writer, follow bool, width int) *Screen {
	s := NewScreen(in, out, nil, nil, follow, width, func(string) string { return "" })
	s.Lang, s.Style = message.English, term.Style{Unicode: true}
	return s
}

func TestTheLiveLineIsDrawnOnlyOnATerminal(t *testing.T) {
	var b strings.Builder
	s := screenFor(nil, &b, true, 20)
	s.Status("working on something that is too long", nil)
	s.Print("done")
	_, _ = s.Write([]byte("half "))
	_, _ = s.Write([]byte("a line\n"))
	_ = s.Suspend(func() error { b.WriteString("editor\n"); return nil })
	s.Status("", nil)
	const live, gone = "working on somethi…", "\r\x1b[2K"
	if got, want := b.String(), live+gone+"done\n"+live+gone+"half a line\n"+live+gone+"editor\n"+live+gone; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.Reset()
	s = screenFor(nil, &b, false, 20)
	s.Status("working", nil)
	s.Print("done")
	if got := b.String(); got != "done\n" {
		t.Errorf("got %q", got)
	}
}

// Where nothing can be drawn, questions are lines, and what is typed ahead is read by the next.
func TestQuestionsWithoutDrawing(t *testing.T) {
	var b strings.Builder
	s := screenFor(strings.NewReader("what\n?\n\nYES\nsome words\n"), &b, false, 100)
	q := Question{Text: "Go on?", Ways: []Way{{Words: []string{"y", "yes"}, Does: "goes on"}}}
	if got, err := s.Ask(t.Context(), q); got != "y" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := s.Ask(t.Context(), Question{Text: "Why?", Free: true}); got != "some words" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := s.Ask(t.Context(), q); !errors.Is(err, ErrLeft) {
		t.Errorf("at the end: %v", err)
	}
	for _, want := range []string{"“what” is no answer", "y, yes", "goes on", "An answer is needed: y"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "\x1b") || strings.Count(b.String(), "Go on? ") != 5 {
		t.Errorf("%q", b.String())
	}
}

func TestNotices(t *testing.T) {
	env := func(name string) string { return map[string]string{"TMUX": os.Getenv("PAWL_NO")}[name] }
	tmux := func(string) string { return "x" }
	for _, c := range []struct {
		notice Notice
		env    func(string) string
		want   string
	}{
		{NoticeOff, env, ""}, {NoticeBell, env, "\a"},
		{NoticeDesktop, env, "\x1b]9;pawl: Go on, now?\x1b\\\x1b]777;notify;pawl;Go on, now?\x1b\\\a"},
		{NoticeDesktop, tmux, "\x1bPtmux;\x1b\x1b]9;pawl: Go on, now?\x1b\x1b\\\x1b\\\x1bPtmux;\x1b\x1b]777;notify;pawl;Go on, now?\x1b\x1b\\\x1b\\\a"},
	} {
		if got := notice(c.notice, "Go on; now?\nmore", c.env); got != c.want {
			t.Errorf("%s: %q, want %q", c.notice, got, c.want)
		}
	}
	// What a plan is called does not act on the terminal.
	if got := notice(NoticeDesktop, "a\x1b]0;x\x07", env); strings.Count(got, "\x1b") != 4 {
		t.Errorf("%q", got)
	}
}
