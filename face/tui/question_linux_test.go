package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"pawl/face/cli/term"
	"pawl/text/message"
)

// approve and others are the forms that questions have.
func forms(lang message.Lang) map[string]Question {
	yes, no := Way{[]string{"y", "yes", "是"}, "carry it out"}, Way{[]string{"n", "no", "否"}, "refuse"}
	return map[string]Question{
		"ways": {Text: "Approve plan 0123456789ab? [y]es / [e]dit / [r]evise / [n]o",
			Ways: []Way{yes, {[]string{"e", "edit"}, "edit it"}, {[]string{"r", "revise"}, "say more"}, no}},
		"words": {Text: lang.Text("cli.ask.revise"), Free: true},
		"sure":  {Text: "Throw it away? [y/N]", Ways: []Way{yes, no}, Empty: true},
		"list":  {Text: "Which of them?\n  [a] the first\n  [b] the second, of which there is more to say than fits in a line of eighty columns\n>", Ways: []Way{{[]string{"a"}, "the first"}, {[]string{"b"}, "the second"}}},
	}
}

// childQuestion asks one question, while something is printed, and then reads a line as a child that has the terminal.
func childQuestion() {
	lang := message.Lang(os.Getenv("PAWL_TUI_LANG"))
	s := childScreen()
	s.Lang = lang
	s.Hear = func(_ context.Context, line string) bool {
		if !strings.HasSuffix(line, "status") {
			return false
		}
		s.Print("all is well")
		return true
	}
	q := forms(lang)[os.Getenv("PAWL_TUI_FORM")]
	since := time.Now()
	switch os.Getenv("PAWL_TUI_EVENT") {
	case "print":
		go func() {
			for n := range 3 {
				time.Sleep(150 * time.Millisecond)
				s.Print(fmt.Sprint("work ", n))
			}
		}()
	case "away":
		s.Notice, s.typed = NoticeBell, time.Now().Add(-time.Minute)
	case "there":
		s.Notice = NoticeBell
	case "settled":
		q.Settled = func() bool { return time.Since(since) > 200*time.Millisecond }
	}
	if os.Getenv("PAWL_TUI_FORM") == "pick" {
		i, err := s.Pick(context.Background(), "Which issue?", thousand())
		s.Print(fmt.Sprintf("%s%s %v", leftMark, i.ID, err))
		return
	}
	s.Status("a live line", nil)
	answer, err := s.Ask(context.Background(), q)
	s.Status("", nil)
	s.Print(fmt.Sprintf("%s%q %v", leftMark, answer, err))
	rest := make([]byte, 100)
	n, _ := os.Stdin.Read(rest)
	fmt.Printf("the rest: %q\n", rest[:n])
}

// Each form of question hears an answer, is left by both keys, gives help, carries out a command, says what it wants,
// takes a paste for what it is and follows the terminal's size. What is typed behind the answer is whole for whoever
// reads next.
func TestQuestionsOnATerminal(t *testing.T) {
	for _, lang := range []message.Lang{message.English, message.Chinese} {
		for form, q := range forms(lang) {
			good, rest, known := "y", "the rest: \"typed ahead\\n\"", strings.Fields(q.Text)[0]
			if q.Free {
				good = "some words"
			} else {
				good = q.Ways[0].Words[0]
			}
			answered := fmt.Sprintf("%s%q <nil>", leftMark, good)
			left := leftMark + `"" ` + ErrLeft.Error()
			for _, c := range []struct {
				name string
				do   func(p *person)
				want string
			}{
				{"an answer", func(p *person) { p.Types(good + "\rtyped ahead\n") }, answered},
				{"Ctrl-C", func(p *person) { p.Types("half\x03typed ahead\n") }, left},
				{"Ctrl-D", func(p *person) { p.Types("\x04typed ahead\n") }, left},
				{"an interrupt", func(p *person) {
					_ = p.Cmd.Process.Signal(syscall.SIGINT)
					p.Sees(leftMark)
					p.Types("typed ahead\n")
				}, left},
				{"help", func(p *person) {
					p.Types("?\r")
					p.Sees("Ctrl-C, Ctrl-D  " + lang.Text("tui.ask.does_leave"))
					p.Types(good + "\rtyped ahead\n")
				}, answered},
				{"a command", func(p *person) {
					p.Types("/status\r")
					p.Sees("all is well")
					p.Types(good +
						"\rtyped ahead\n")
				}, answered},
				{"no answer", func(p *person) {
					p.Types("/nonsense at all\r")
					p.Sees("! “/nonsense at all”")
					p.Types(good + "\rtyped ahead\n")
				}, answered},
				{"a paste", func(p *person) {
					p.Types("\x1b[200~" + strings.Repeat("one line\r\n", 300) + "/\x1b[201~")
					p.Sees("  /▮")
					p.Types("\r")
					if !q.Free {
						p.Sees("! “one line”")
						p.Types(good + "\rtyped ahead\n")
						return
					}
					p.Types("typed ahead\n")
				}, ""},
				{"a narrow terminal", func(p *person) {
					p.Types("ab")
					p.Sees("ab▮")
					p.Types("\x7f\x7f")
					p.Sees(" ▮")
					for _, size := range [][2]int{{20, 10}, {70, 24}, {20, 24}} {
						// What is drawn for one size must not come when the terminal has the next: no program can know
						// of that.
						n := still(p)
						p.Resize(size[0], size[1])
						want := drawnFor(q, size[0], size[1])
						p.Until(want, func() bool {
							return strings.Contains(p.Written()[n:], ansi.EraseScreenBelow) &&
								strings.Contains(strings.ReplaceAll(p.Screen(), "▮", ""), want)
						})
					}
					still(p)
					p.Types(good + "\rtyped ahead\n")
					p.Until("the question once", func() bool { return strings.Count(p.Screen(), known) == 1 })
				}, ""},
			} {
				t.Run(fmt.Sprint(form, " ", c.name, " ", lang), func(t *testing.T) {
					t.Parallel()
					p := sit(t, 80, 24, "question", "PAWL_TUI_FORM="+form, "PAWL_TUI_LANG="+string(lang))
					p.Sees(known)
					p.Sees("▮")
					c.do(p)
					p.Sees(c.want)
					p.Sees(leftMark)
					p.Until(rest, func() bool {
						return strings.Contains(strings.ReplaceAll(p.Screen(), "\n", ""),
							rest)
					})
					p.Ends()
					if strings.Contains(p.Screen(), "a live line") {
						t.Errorf("the live line stands in\n%s", p.Screen())
					}
				})
			}
		}
	}
}

// drawnFor is a question as it is drawn for a terminal of so many columns and rows.
func drawnFor(q Question, w, h int) string {
	a := ask{style: term.Style{Unicode: true}, question: q.Text, history: &history{}}
	a.begin()
	return strings.TrimRight(strings.Join(a.shape(w, h).rows, "\n"), " ")
}

// still waits until nothing more is written, and returns how much was.
func still(p *person) int {
	for n := -1; n != len(p.Written()); time.Sleep(3 * resizeTime) {
		n = len(p.Written())
	}
	return len(p.Written())
}

// What is printed while something is asked stands above the question, and the question stays whole.
func TestPrintedAboveAQuestion(t *testing.T) {
	p := sit(t, 80, 12, "question", "PAWL_TUI_FORM=ways", "PAWL_TUI_LANG=en", "PAWL_TUI_EVENT=print")
	p.Sees("[n]o ▮")
	p.Types("hel")
	p.Sees("work 0\nwork 1\nwork 2\nApprove plan 0123456789ab? [y]es / [e]dit / [r]evise / [n]o hel▮")
	p.Types("\x15y\r\n")
	p.Sees("work 2\nApprove plan 0123456789ab? [y]es / [e]dit / [r]evise / [n]o y\n")
	p.Ends()
}

func TestAnsweredElsewhere(t *testing.T) {
	p := sit(t, 80, 12, "question", "PAWL_TUI_FORM=ways", "PAWL_TUI_LANG=en", "PAWL_TUI_EVENT=settled")
	p.Sees(leftMark + `"" ` + ErrSettled.Error())
	p.Types("\n")
	p.Ends()
}

// A terminal that goes away leaves the question open and ends nothing by force.
func TestQuestionOnALostTerminal(t *testing.T) {
	p := sit(t, 80, 12, "question", "PAWL_TUI_FORM=ways", "PAWL_TUI_LANG=en")
	p.Sees("[n]o ▮")
	_ = p.Cmd.Process.Signal(syscall.SIGHUP)
	p.Sees(leftMark + `"" ` + ErrLeft.Error())
	p.Types("\n")
	p.Ends()
}

// A question is asked on a terminal that obeys nothing, too.
func TestQuestionOnADumbTerminal(t *testing.T) {
	p := sit(t, 80, 24, "question", "PAWL_TUI_FORM=ways", "PAWL_TUI_LANG=en", "TERM=dumb")
	p.Sees("[n]o ▮")
	p.Types("what\n")
	p.Sees("“what” is no answer")
	p.Types("y\n")
	p.Sees(leftMark + `"y" <nil>`)
	p.Types("\n")
	p.Ends()
}

func TestQuestionWithoutInput(t *testing.T) {
	s := screenFor(strings.NewReader(""), io.Discard, false, 80)
	if _, err := s.Ask(t.Context(), Question{Text: "?", Free: true}); !errors.Is(err, ErrLeft) {
		t.Error(err)
	}
}

func TestPickOnATerminal(t *testing.T) {
	left := " " + ErrLeft.Error()
	for _, c := range []struct {
		end  string
		keys []string // what is typed, each but the last followed by what is seen then
	}{
		{"ISS-3 <nil>", []string{"\x1b[B\x1b[B\r"}},
		{"ISS-777 <nil>", []string{"777\r"}},
		{left, []string{"\x1b"}},
		{left, []string{"\x03"}},
		{"ISS-2 <nil>", []string{"zebra", "nothing fits", "\x1b", "→ ISS-1", "failed\r"}},
	} {
		for _, w := range []int{20, 80} {
			p := sit(t, w, 16, "question", "PAWL_TUI_FORM=pick", "PAWL_TUI_LANG=en")
			p.Sees("→ ISS-1")
			for n, k := range c.keys {
				if n%2 == 0 {
					p.Types(k)
				} else {
					p.Sees(k)
				}
			}
			end := leftMark + c.end
			p.Until(end, func() bool { return strings.Contains(strings.ReplaceAll(p.Screen(), "\n", ""), end) })
			p.Ends()
			if strings.Contains(p.Screen(), "Mend") {
				t.Errorf("%q leaves\n%s", c.keys, p.Screen())
			}
		}
	}
}

// Who has typed a moment ago looks at the question; who has not is called.
func TestAPersonWhoLookedAwayIsCalled(t *testing.T) {
	for event, calls := range map[string]int{"away": 1, "there": 0} {
		p := sit(t, 80, 12, "question", "PAWL_TUI_FORM=ways", "PAWL_TUI_LANG=en", "PAWL_TUI_EVENT="+event)
		p.Sees("[n]o ▮")
		p.Types("y\r\n")
		p.Ends()
		if n := strings.Count(p.Written(), "\a"); n != calls {
			t.Errorf("%s: called %d times", event, n)
		}
	}
}
