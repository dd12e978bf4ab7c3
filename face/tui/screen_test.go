package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/face/cli/term"
	"pawl/internal/golden"
	"pawl/internal/terminaltest"
	"pawl/text/message"
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
	if got, want := b.String(), live+gone+"done\n"+live+gone+"half a line\n"+live+gone+"editor\n"+live+
		gone; got != want {
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

// What questions look like, what is said to what is no answer, the help, and a choice from a list.
func TestQuestionFrames(t *testing.T) {
	for _, lang := range []message.Lang{message.English, message.Chinese} {
		for _, w := range []int{20, 40, 80, 200} {
			var b strings.Builder
			draw := func(name string, sc scene) {
				f := sc.shape(w, 24)
				v := terminaltest.NewVT(w, 24)
				_, _ = fmt.Fprintf(v, "%s\x1b[%d;1H%s", strings.Join(f.rows, "\r\n"), f.row+1, f.upTo)
				fmt.Fprintf(&b, "== %s\n%s\n", name, v.Screen())
				if v.Bad != nil || v.Off != nil {
					t.Errorf("%s at %d: %q, scrolled off %q", name, w, v.Bad, v.Off)
				}
			}
			for _, c := range []struct {
				name, text, typed string
				unicode           bool
			}{
				{"a plan", lang.Text("cli.ask.plan", "0123456789ab"), "", true},
				{"a plan that was cut, without Unicode", lang.Text("cli.ask.plan_cut", "0123456789ab"), "y", false},
				{"a stage", lang.Text("cli.stage.ask_auto"), "light", true},
				{"what should differ", lang.Text("cli.ask.revise"),
					"use the tables of the standard library, 不要新的依赖, and keep the comment above the loop", true},
			} {
				a := &ask{lang: lang, style: term.Style{Unicode: c.unicode}, question: c.text, history: &history{}}
				a.begin()
				a.press(key{keyText, c.typed})
				draw(c.name, a)
			}
			var said strings.Builder
			s := NewScreen(nil, &said, nil, nil, false, w, func(string) string { return "" })
			s.Lang, s.Style, s.Hear = lang, term.Style{Unicode: true}, func(context.Context,
				string) bool {
				return false
			}
			q := Question{Ways: []Way{{[]string{"y", "yes", "是"}, lang.Text("cli.ask.does.plan")},
				{[]string{"r", "revise"}, lang.Text("cli.ask.does.revise")},
				{[]string{"n", "no", "否"}, lang.Text("cli.ask.does.no")}}}
			for _, line := range []string{"", "why does it ask for so much?\nsecond line", "\x1b[31mred"} {
				s.Print("! " + strings.Join(term.Hang(q.refusal(s, line), 2, w, 0, ""), "\n"))
			}
			q.help(s)
			Question{Free: true}.help(s)
			fmt.Fprintf(&b, "== what is said\n%s\n", said.String())
			for l := range strings.Lines(said.String()) {
				if n := term.Width(strings.TrimSuffix(l, "\n")); n > w {
					t.Errorf("%d columns in %d: %q", n, w, l)
				}
			}
			p := picker(thousand())
			p.ask.lang, p.ask.question = lang, lang.Text("cli.pick.issue")
			draw("a list", p)
			for _, k := range typedKeys("FAILED 77<down>") {
				p.press(k)
			}
			draw("a list that was narrowed down", p)
			golden.Check(t, filepath.Join("testdata", fmt.Sprintf("questions.%d.%s.txt", w, lang[:2])), b.String())
		}
	}
}
