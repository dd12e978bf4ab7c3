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

	"pawl"
	"pawl/cli/term"
	"pawl/message"
	"pawl/policy"
	"pawl/view"
)

// shown is an error that the command has explained to a person already. With --json it is reported like any other.
type shown struct{ error }

func (s shown) Unwrap() error { return s.error }

// Shown marks an error that the command has explained to a person already; programs are told of it like of any other.
func Shown(err error) error { return shown{err} }

// Explain puts an error into words, on one line and escaped.
func Explain(a *Printer, err error) string { return describe(a, err).Message }

// NextStep says what to do about an error, on one line and escaped, or "".
func NextStep(a *Printer, err error) string {
	hint := describe(a, err).Hint
	if hint == "" {
		return ""
	}
	return a.Style.Cyan(a.Text("cli.next")) + hint
}

// Made names what a command made, before it prints that: where the output cannot be written, the name is told all the same.
func (a *App) Made(name string) { a.made = name }

// judgeOutput returns the error of a command that ended with err, in the light of what became of its output. A reader that went away is
// no fault of the command, and whatever else went wrong is told first.
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

// fault is the JSON form of an error.
type fault struct {
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

// describe turns an error into its parts. Texts are escaped.
func describe(a *Printer, err error) fault {
	f := fault{Code: pawl.CodeOf(err), Message: err.Error()}
	f.Class = f.Code.Info().Class
	var e *pawl.Error
	if errors.As(err, &e) {
		f.Rule, f.Gate, f.Trace = e.Rule, e.Gate, e.Trace
		f.Message, f.Hint = a.Lang.Error(fitted(a.Lang, err))
		var bad flawed
		if errors.As(err, &bad) {
			f.Message, f.Hint = a.Text(e.Key, e.Args...), a.Lang.Hint(e.Key, fit(a.Lang, e.Key, safe(e.Args))...)
			f.Problems = problemTexts(a, bad)
		}
	}
	if e != nil && f.Code == pawl.CodeDenied && strings.HasPrefix(e.Key, "policy.") {
		f.Message = a.Lang.Text("cli.policy_denies", f.Message)
	}
	f.Message, f.Hint = policy.Display(view.ForIssue(f.Message, a.issue)), policy.Display(view.ForIssue(f.Hint, a.issue))
	return f
}

// fitted returns the error with the arguments of each of its messages in the form that the message wants. Errors that were
// kept in the store come back with all their arguments as text.
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
func problemTexts(a *Printer, bad flawed) []string {
	var out []string
	for _, p := range bad.Errors() {
		text, hint := a.Lang.Error(p)
		if hint != "" {
			text = a.Lang.Text("cli.problem", text, hint)
		}
		out = append(out, policy.Display(text))
	}
	if n := bad.Rest(); n > 0 {
		out = append(out, a.Text("cli.more_problems", n))
	}
	return out
}

// reportError writes an error to Err.
func reportError(a *Printer, err error) {
	f := describe(a, err)
	if a.JSON {
		raw, _ := json.Marshal(map[string]fault{"error": f})
		_, _ = a.Std.Err.Write(append(raw, '\n'))
		return
	}
	var s shown
	if errors.As(err, &s) {
		return
	}
	var b strings.Builder
	const name = "pawl:"
	b.WriteString(a.Style.Red(name) + " " + fold(a, f.Message, 2, len(name)-1) + "\n")
	for _, p := range f.Problems {
		b.WriteString("  " + fold(a, p, 4, -2) + "\n")
	}
	if f.Hint != "" {
		next := a.Text("cli.next")
		b.WriteString("  " + a.Style.Cyan(next) + fold(a, f.Hint, 4, term.Width(next)-2) + "\n")
	}
	b.WriteString("  " + a.Style.Dim(faultLabel(a, f)) + "\n")
	_, _ = io.WriteString(a.Std.Err, b.String())
}

// fold wraps text for a terminal, with every line but the first indented; the first one begins so many columns further in.
// Where the output goes elsewhere a line stays whole, so that programs find it.
func fold(a *Printer, text string, indent, further int) string {
	if !a.Std.TTY {
		return text
	}
	lines := term.Wrap(strings.Repeat("\u00a0", max(0, further))+text, a.Std.Width-indent)
	lines[0] = strings.TrimLeft(lines[0], "\u00a0")
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}

// faultLabel joins what programs and reports need: code, rule, gate and trace.
func faultLabel(a *Printer, f fault) string {
	parts := []string{string(f.Code)}
	if f.Rule != "" {
		parts = append(parts, a.Text("cli.rule", f.Rule))
	}
	if f.Gate != "" {
		parts = append(parts, a.Text("cli.gate", f.Gate))
	}
	if f.Trace != "" {
		parts = append(parts, a.Text("cli.trace", f.Trace))
	}
	return strings.Join(parts, " "+a.Style.Middle()+" ")
}

// PrintLine writes v to Out as one line of JSON, in one piece.
func (a *Printer) PrintLine(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = a.Std.Out.Write(append(raw, '\n'))
	return err
}

// PrintJSON writes v to Out as one JSON document, indented for a terminal and on one line otherwise.
func (a *Printer) PrintJSON(v any) error {
	enc := json.NewEncoder(a.Std.Out)
	enc.SetEscapeHTML(false)
	if a.Std.TTY {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}
