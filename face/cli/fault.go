package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"syscall"

	"pawl"
	"pawl/face/cli/term"
	"pawl/face/fault"
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

// exitOf returns the exit status of an error.
func exitOf(err error) int {
	if errors.Is(err, context.Canceled) {
		return interrupted
	}
	return pawl.CodeOf(err).Info().Exit
}

// Describe turns an error into its parts. Texts are escaped.
func Describe(pr *Printer, err error) fault.Fault { return fault.Of(pr.Lang, pr.issue, err) }

// ReportError writes an error to Err.
func ReportError(pr *Printer, err error) {
	f := Describe(pr, err)
	if pr.JSON {
		raw, _ := json.Marshal(map[string]fault.Fault{"error": f})
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
	if label := FaultLabel(pr, f); label != "" {
		b.WriteString("  " + pr.Style.Dim(label) + "\n")
	}
	_, _ = io.WriteString(pr.Std.Err, b.String())
}

// FaultLabel joins what refused: rule, gate and trace. The code is for programs, which read it with --json.
func FaultLabel(pr *Printer, f fault.Fault) string {
	var parts []string
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
