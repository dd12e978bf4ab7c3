package cli

import (
	"strings"

	"pawl/face/cli/term"
	"pawl/face/person"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/session"
)

// MoveText is a move between two states; a state that is empty is shown as nothing.
func MoveText(pr *Printer, from, to string) string {
	name := func(state string) string {
		if state == "" {
			return pr.Style.None()
		}
		return Display(state)
	}
	return name(from) + " " + pr.Style.To() + " " + name(to)
}

// MaxTitle is the number of lines that the title of a task or a step takes at most.
const MaxTitle = 4

// AboutText names what an open question is about.
func AboutText(pr *Printer, about string) string {
	switch about {
	case "plan", "call", "action", "checks", "proof", "test", aboutStage:
		return pr.Text("cli.about." + about)
	}
	return Display(about)
}

// NextText is a command that this caller can give, with the words to fill in in the person's language: without a
// terminal only --yes approves, or the touch of a key. What pawl refuses this caller names where a person gives it.
func NextText(pr *Printer, n view.Next) string {
	command, program, key := filled(pr, Display(n.Command)), caller(pr), pr.config.ApproveKey != ""
	approves := strings.HasPrefix(command, "pawl approve")
	grants := approves || n.Op == "accept" || n.Op == string(session.OpConfirm)
	if grants && !person.MayApprove(program, pr.config.Profile.Approvers, key) {
		return pr.Text("cli.next_person", command)
	}
	if approves && !pr.Std.TTY && (program == "" || !key) {
		command += " --yes"
	}
	return command
}

// filled puts the words to fill in into the person's language.
func filled(pr *Printer, command string) string {
	for word, key := range map[string]string{" REQUIREMENT": "cli.fill.requirement",
		" " + view.Feedback: "cli.ask.what_differs", " REASON": "cli.fill.reason"} {
		if head, ok := strings.CutSuffix(command, word); ok {
			return head + ` "` + pr.Text(key) + `"`
		}
	}
	return command
}

// Glimpse is the first line of a text, cut to what two lines of the screen hold; the whole is in the task.
func Glimpse(pr *Printer, text string) string {
	return term.Clip(Display(FirstLine(text)), max(2*pr.Std.Width-40, 40), pr.Style.Ellipsis())
}

// Joined are words as a usage line offers them, a|b.
func Joined[T ~string](in []T) string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return strings.Join(out, "|")
}

// ToolText says what a tool does. The tool's own description is for models; the catalogue's is for people.
func ToolText(pr *Printer, t effect.ToolInfo) string {
	key := "cli.tool." + t.Name
	if _, ok := pr.Lang.Format(key); !ok {
		return Display(FirstLine(t.Description))
	}
	return pr.Text(key)
}

// aboutStage is what an approval is about that a stage of a flow ends with.
const aboutStage = "stage"

// FirstLine is the first line of a text, without the blanks around it.
func FirstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// DegradedTexts returns what the context of a run could not use. Keys without a text are left out: earlier versions of
// pawl recorded some that no longer apply.
func DegradedTexts(pr *Printer, keys []string) (out []string) {
	for _, key := range keys {
		if _, ok := pr.Lang.Format(key); ok {
			out = append(out, pr.Text(key))
		}
	}
	return out
}

// ReasonText puts a kept error into words: its text and that of the errors of pawl behind it. A technical detail is
// left to the place that shows output.
func ReasonText(pr *Printer, key string, args []string, cause *effect.Fault) string {
	text := pr.Text(key, Args(args)...)
	for ; cause != nil; cause = cause.Cause {
		text += pr.Choose(": ", "：") + pr.Text(cause.Key, Args(cause.Args)...)
		if cause.Cause == nil && cause.Detail != "" {
			text += pr.Choose(": ", "：") + Display(cause.Detail)
		}
	}
	return text
}
