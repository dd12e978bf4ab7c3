package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"pawl/text/display"

	"pawl"
	"pawl/face/cli/term"
	"pawl/kernel/view"
	"pawl/text/message"
)

// shown is an error that the command has explained to a person already. With --json it is reported like any other.
type shown struct{ error }

func (s shown) Unwrap() error { return s.error }

// Shown marks an error that the command has explained to a person already; programs are told of it like of any other.
func Shown(err error) error { return shown{err} }

// Explain puts an error into words, on one line and escaped.
func Explain(pr *Printer, err error) string { return Describe(pr, err).Message }

// Made names what a command made, before it prints that: where the output cannot be written, the name is told all the
// same.
func (a *App) Made(name string) { a.made = name }

// judgeOutput returns the error of a command that ended with err, in the light of what became of its output. A reader
// that went away is no fault of the command, and whatever else went wrong is told first.
func judgeOutput(a *App, err error) error {
	failed := a.out.Err()
	if failed == nil || errors.Is(failed, syscall.EPIPE) || err != nil && !errors.Is(err, failed) {
		return err
	}
	lost := pawl.Fail(pawl.CodeIO, "cli.output_failed")
	switch {
	case a.made != "":
		lost = pawl.Fail(pawl.CodeIO, "cli.output_failed_made", a.made)
	case a.did.Load():
		lost = pawl.Fail(pawl.CodeIO, "cli.output_failed_done")
	}
	return lost.In("cli.output").Because(failed)
}

// flawed is an error that lists the problems of a document.
type flawed interface {
	error
	Errors() []*pawl.Error
	Rest() int
}

// exitOf returns the exit status of an error.
func exitOf(err error) int {
	if errors.Is(err, context.Canceled) {
		return interrupted
	}
	return pawl.CodeOf(err).Info().Exit
}

// Fault is the JSON form of an error.
type Fault struct {
	Code    pawl.Code  `json:"code"`
	Class   pawl.Class `json:"class"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
	Rule    string     `json:"rule,omitempty"`
	Gate    string     `json:"gate,omitempty"`
	Trace   string     `json:"trace,omitempty"`
	// Problems are the single problems of a document, one text each.
	Problems []string `json:"problems,omitempty"`
}

// Describe turns an error into its parts. Texts are escaped.
func Describe(pr *Printer, err error) Fault {
	f := Fault{Code: pawl.CodeOf(err), Message: err.Error()}
	f.Class = f.Code.Info().Class
	var e *pawl.Error
	if errors.As(err, &e) {
		f.Rule, f.Gate, f.Trace = e.Rule, e.Gate, e.Trace
		f.Message, f.Hint = pr.Lang.Error(fitted(pr.Lang, err))
		var bad flawed
		if errors.As(err, &bad) {
			f.Message, f.Hint = pr.Text(e.Key, e.Args...), pr.Lang.Hint(e.Key, fit(pr.Lang, e.Key, safe(e.Args))...)
			f.Problems = problemTexts(pr, bad)
		}
	}
	if e != nil && f.Code == pawl.CodeDenied && strings.HasPrefix(e.Key, "policy.") {
		f.Message = pr.Lang.Text("cli.policy_denies", f.Message)
	}
	f.Message, f.Hint = display.Line(view.ForIssue(f.Message, pr.issue)), display.Line(view.ForIssue(f.Hint,
		pr.issue))
	return f
}

// fitted returns the error with the arguments of each of its messages in the form that the message wants. Errors that
// were kept in the store come back with all their arguments as text.
func fitted(l message.Lang, err error) error {
	var e *pawl.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Args = fit(l, e.Key, e.Args)
	if e.Err != nil {
		out.Err = fitted(l, e.Err)
	}
	return &out
}

// numbered finds the placeholders of a message that take a number.
var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%(?:\[(\d+)\])?([a-z%])`) })

// fit makes numbers of the arguments that a message wants as numbers and that are text.
func fit(l message.Lang, key string, args []any) []any {
	if len(args) == 0 {
		return args
	}
	format, ok := l.Format(key)
	if !ok || !strings.Contains(format, "%d") && !strings.Contains(format, "]d") {
		return args
	}
	out := slices.Clone(args)
	next := 0
	for _, m := range numbered().FindAllStringSubmatch(format, -1) {
		if m[2] == "%" {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil {
			next = n - 1
		}
		if next < len(out) && m[2] == "d" {
			if text, ok := out[next].(string); ok {
				if n, err := strconv.ParseInt(text, 10, 64); err == nil {
					out[next] = n
				}
			}
		}
		next++
	}
	return out
}

// problemTexts lists what is wrong with a document, each with its place and its next step.
func problemTexts(pr *Printer, bad flawed) []string {
	var out []string
	for _, p := range bad.Errors() {
		text, hint := pr.Lang.Error(p)
		if hint != "" {
			text = pr.Lang.Text("cli.problem", text, hint)
		}
		out = append(out, display.Line(text))
	}
	if n := bad.Rest(); n > 0 {
		out = append(out, pr.Text("cli.more_problems", n))
	}
	return out
}

// ReportError writes an error to Err.
func ReportError(pr *Printer, err error) {
	f := Describe(pr, err)
	if pr.JSON {
		raw, _ := json.Marshal(map[string]Fault{"error": f})
		_, _ = pr.Std.Err.Write(append(raw, '\n'))
		return
	}
	var s shown
	if errors.As(err, &s) {
		return
	}
	var b strings.Builder
	const name = "pawl:"
	b.WriteString(pr.Style.Red(name) + " " + fold(pr, f.Message, 2, len(name)-1) + "\n")
	for _, p := range f.Problems {
		b.WriteString("  " + fold(pr, p, 4, -2) + "\n")
	}
	if f.Hint != "" {
		next := pr.Text("cli.next")
		b.WriteString("  " + pr.Style.Cyan(next) + fold(pr, f.Hint, 4, term.Width(next)-2) + "\n")
	}
	b.WriteString("  " + pr.Style.Dim(FaultLabel(pr, f)) + "\n")
	_, _ = io.WriteString(pr.Std.Err, b.String())
}

// FaultLabel joins what programs and reports need: code, rule, gate and trace.
func FaultLabel(pr *Printer, f Fault) string {
	parts := []string{string(f.Code)}
	if f.Rule != "" {
		parts = append(parts, pr.Text("cli.rule", f.Rule))
	}
	if f.Gate != "" {
		parts = append(parts, pr.Text("cli.gate", f.Gate))
	}
	if f.Trace != "" {
		parts = append(parts, pr.Text("cli.trace", f.Trace))
	}
	return strings.Join(parts, " "+pr.Style.Middle()+" ")
}
