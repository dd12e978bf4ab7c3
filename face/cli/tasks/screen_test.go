package tasks

import (
	"bytes"
	"strings"
	"testing"

	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/face/cli/term/termtest"
	"pawl/face/host"
	"pawl/kernel/view"
	"pawl/machine/task"
	"pawl/text/message"
)

// printerOf makes a printer that writes to a terminal of a width, or to a pipe.
func printerOf(lang string, width int, tty bool) (*cli.Printer, *bytes.Buffer) {
	var out bytes.Buffer
	style := term.Detect(tty, true, func(string) string { return lang })
	return &cli.Printer{Lang: message.ParseLang(lang), Style: style,
		Std: host.Streams{Out: &out, TTY: tty, Width: width}}, &out
}

func TestScreensFit(t *testing.T) {
	for _, lang := range []string{"en_GB.UTF-8", "zh_CN.UTF-8"} {
		for _, width := range []int{60, 80, 120, 200} {
			for _, text := range termtest.Hostile() {
				pr, out := printerOf(lang, width, true)
				line := view.TaskLine{Label: "T-10000", State: task.Verifying, Title: text, Exit: "retry_exhausted"}
				pr.Say(taskLine(pr, line, cli.ListWidth(pr)))
				if n := strings.Count(out.String(), "\n"); n != 1 {
					t.Errorf("a task on %d lines", n)
				}
				termtest.Fits(t, "list", width, out.String())

				out.Reset()
				line = view.TaskLine{ID: strings.Repeat("0", 26), Label: "T-001", State: task.Done}
				v := view.Task{TaskLine: line, PlanHash: strings.Repeat("a", 64), Steps: []view.StepLine{{Title: text}}}
				showTask(&cli.Session{Printer: pr, App: &cli.App{Printer: pr}}, v, text, false)
				if !strings.Contains(out.String(), " "+strings.Repeat("a", 12)+"\n") ||
					strings.Count(out.String(), "\n") > 20 {
					t.Errorf("%s", out)
				}
				termtest.Fits(t, "show", width, out.String())
			}
		}
	}
}

// Where the output goes to a program nothing of a title is lost.
func TestListsAreWholeInAPipe(t *testing.T) {
	pr, _ := printerOf("en", 60, false)
	long := strings.Repeat("long title ", 50)
	got := taskLine(pr, view.TaskLine{Label: "T-001", State: task.Draft, Title: long}, cli.ListWidth(pr))
	if !strings.Contains(got, strings.TrimSpace(long)) {
		t.Error(got)
	}
}
