// Package fault puts errors into words for programs: one form on every face.
package fault

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pawl"
	"pawl/kernel/view"
	"pawl/text/display"
	"pawl/text/message"
)

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

// flawed is an error that lists the problems of a document.
type flawed interface {
	error
	Errors() []*pawl.Error
	Rest() int
}

// Of turns an error into its parts, in a language. Commands that it names speak of an issue, "" for none. Texts are on
// one line and escaped.
func Of(l message.Lang, issue string, err error) Fault {
	f := Fault{Code: pawl.CodeOf(err), Message: err.Error()}
	f.Class = f.Code.Info().Class
	var e *pawl.Error
	if errors.As(err, &e) {
		f.Rule, f.Gate, f.Trace = e.Rule, e.Gate, e.Trace
		f.Message, f.Hint = l.Error(fitted(l, err))
		var bad flawed
		if errors.As(err, &bad) {
			args := Args(l, e.Key, e.Args)
			f.Message, f.Hint = l.Text(e.Key, args...), l.Hint(e.Key, args...)
			f.Problems = problems(l, bad)
		}
	}
	if e != nil && f.Code == pawl.CodeDenied && strings.HasPrefix(e.Key, "policy.") {
		f.Message = l.Text("cli.policy_denies", f.Message)
	}
	f.Message, f.Hint = display.Line(view.ForIssue(f.Message, issue)), display.Line(view.ForIssue(f.Hint, issue))
	return f
}

// Args are the arguments of a message in the form that it wants, escaped.
func Args(l message.Lang, key string, args []any) []any {
	out := make([]any, len(args))
	for i, v := range args {
		switch v := v.(type) {
		case string:
			out[i] = display.Line(v)
		case error, fmt.Stringer:
			out[i] = display.Line(fmt.Sprint(v))
		default:
			out[i] = v
		}
	}
	return fit(l, key, out)
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

// problems lists what is wrong with a document, each with its place and its next step.
func problems(l message.Lang, bad flawed) []string {
	var out []string
	for _, p := range bad.Errors() {
		text, hint := l.Error(p)
		if hint != "" {
			text = l.Text("cli.problem", text, hint)
		}
		out = append(out, display.Line(text))
	}
	if n := bad.Rest(); n > 0 {
		out = append(out, l.Text("cli.more_problems", n))
	}
	return out
}
