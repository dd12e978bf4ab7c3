package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"pawl/face/host"
	"pawl/text/display"

	"pawl"
	"pawl/face/cli/settings"
	"pawl/face/cli/term"
	"pawl/face/fault"
	"pawl/face/tui"
	"pawl/kernel/view"
	"pawl/text/message"
	"pawl/text/triage"
)

// Printer puts things into the words of one language and writes them to the streams of one call of the program: as text
// to a person, as JSON to a program. Each line is written in one piece; who writes from several goroutines sees to
// their order.
type Printer struct {
	Lang  message.Lang
	Style term.Style
	Std   host.Streams
	// JSON says that a program reads, to which only documents are written and no words.
	JSON bool
	// Screen is the one thing that draws on the terminal and reads what a person types.
	Screen *tui.Screen
	// issue is the label of the issue whose session the command speaks of, "" for that of the person who sits here.
	// What a text says can be done next speaks of it, too.
	issue string
	// config are the settings that say whether a program may approve, those of nobody before they are read.
	config settings.Config
}

// caller names the program that gives the command, "" for a person.
func caller(pr *Printer) string {
	if pr.Std.Program == nil {
		return ""
	}
	return pr.Std.Program()
}

// Text renders a message of the catalogue. Strings among the arguments are escaped, so that nothing in them can act on
// the terminal.
func (pr *Printer) Text(key string, args ...any) string { return pr.TextIn(pr.Lang, key, args...) }

// TextIn is Text in another language, for documents that are not written in that of the person.
func (pr *Printer) TextIn(l message.Lang, key string, args ...any) string {
	return view.ForIssue(l.Text(key, fault.Args(l, key, args)...), pr.issue)
}

// Wordy renders what is either a key of the catalogue or text of somebody else: a reason of an agent, a line of a
// driver.
func (pr *Printer) Wordy(reason string) string {
	if _, ok := pr.Lang.Format(reason); ok {
		return pr.Lang.Text(reason)
	}
	return reason
}

// Choose picks between texts that come in both languages, such as the descriptions of the machines.
func (pr *Printer) Choose(en, zh string) string {
	if pr.Lang == message.Chinese {
		return zh
	}
	return en
}

// Say writes a line to Out.
func (pr *Printer) Say(line string) { _, _ = io.WriteString(pr.Std.Out, line+"\n") }

// SayText writes a message to Out.
func (pr *Printer) SayText(key string, args ...any) { pr.Say(pr.Text(key, args...)) }

// SayTable writes a table to Out, no wider than width where that is above 0.
func (pr *Printer) SayTable(t *term.Table, width int) {
	for _, l := range t.Lines(width) {
		pr.Say(l)
	}
}

// Present reports whether there is a person who can be asked and who sees what goes on.
func (pr *Printer) Present() bool { return pr.Std.TTY && !pr.JSON }

// Note writes a line for people to Err; with --json it is left out.
func (pr *Printer) Note(line string) {
	if !pr.JSON {
		aside(pr, line)
	}
}

// aside writes a line to Err, above the line that is drawn.
func aside(pr *Printer, line string) {
	_ = pr.Screen.Suspend(func() error {
		_, err := io.WriteString(pr.Std.Err, line+"\n")
		return err
	})
}

// PrintLine writes v to Out as one line of JSON, in one piece.
func (pr *Printer) PrintLine(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = pr.Std.Out.Write(append(raw, '\n'))
	return err
}

// PrintJSON writes v to Out as one JSON document, indented for a terminal and on one line otherwise.
func (pr *Printer) PrintJSON(v any) error {
	enc := json.NewEncoder(pr.Std.Out)
	enc.SetEscapeHTML(false)
	if pr.Std.TTY {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// Status sets the live line, where a person sees what goes on.
func (pr *Printer) Status(text string, paint func(string) string) {
	if pr.Present() {
		pr.Screen.Status(text, paint)
	}
}

// ListWidth is the width to which lists are cut: that of the terminal, and 0, which cuts nothing, where the output goes
// elsewhere.
func ListWidth(pr *Printer) int {
	if pr.Std.TTY {
		return pr.Std.Width
	}
	return 0
}

// fold wraps text for a terminal, with every line but the first indented; the first one begins so many columns further
// in. Where the output goes elsewhere a line stays whole, so that programs find it.
func fold(pr *Printer, text string, indent, further int) string {
	if !pr.Std.TTY {
		return text
	}
	lines := term.Wrap(strings.Repeat("\u00a0", max(0, further))+text, pr.Std.Width-indent)
	lines[0] = strings.TrimLeft(lines[0], "\u00a0")
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}

// way is an answer with what it does, by its key.
func way(pr *Printer, does string, words ...string) tui.Way {
	return tui.Way{Words: words, Does: pr.Text(does)}
}

// AskText asks for a text. An empty line is one; who cancels has left the question.
func AskText(ctx context.Context, pr *Printer, question string) (string, error) {
	text, err := pr.Screen.Ask(ctx, tui.Question{Text: question, Free: true, Empty: true,
		Means: Answering(triage.WaitWords)})
	if err == nil && text == canceling {
		err = tui.ErrLeft
	}
	return text, err
}

// Confirm asks a question that is answered with yes or no; an empty line is no. Without a terminal it fails with
// approval_needed, naming the flag that answers it.
func Confirm(ctx context.Context, pr *Printer, question string) (bool, error) {
	if !pr.Present() {
		return false, pawl.Fail(pawl.CodeApprovalNeeded, "cli.confirm_needed")
	}
	answer, err := pr.Screen.Ask(ctx, tui.Question{Text: question, Empty: true, Ways: []tui.Way{
		way(pr, "cli.ask.does.confirm", "y", "yes", "是"), way(pr, "cli.ask.does.refuse", "n", "no", "否"),
	}, Means: Answering(triage.WaitChoice)})
	if errors.Is(err, tui.ErrLeft) {
		err = Shown(pawl.Fail(pawl.CodeUserDenied, "cli.ended", "declined"))
	}
	return answer == "y", err
}

// The words that Answering gives for what is no plain yes or no.
const canceling, goingOn = "cancel", "go-on"

// Answering reads what a person types at a question in words of their own: y, n, cancel, or go-on to go on with what
// there is, and whether the line is no answer at all.
func Answering(w triage.Wait) func(line string) (word string, none bool) {
	words := map[triage.Choice]string{triage.ChoiceYes: "y", triage.ChoiceNo: "n", triage.ChoiceCancel: canceling}
	if w == triage.WaitWords {
		words = map[triage.Choice]string{triage.ChoiceCancel: canceling, triage.ChoiceAsIs: goingOn, triage.ChoiceYes: "",
			triage.ChoiceNo: "", triage.ChoiceMore: ""}
	}
	return func(line string) (string, bool) {
		r, err := triage.Decide(line, triage.Situation{Waiting: w})
		word, ok := words[r.Choice]
		// Who wants to leave has Ctrl-C, which gives nothing up.
		return word, !ok || err != nil || slices.Contains([]string{"exit", "quit", "q"}, line)
	}
}

// Display escapes text of others for one line.
func Display(s string) string { return display.Line(s) }
