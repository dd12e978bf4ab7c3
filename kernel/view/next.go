package view

import (
	"regexp"
	"strings"
	"sync"
)

// ofSession matches a command that speaks of a session, with what stands before and behind it.
var ofSession = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`\bpawl (accept|answer|approve|cancel|choose|deny|diff|fix|pause|plan approve|plan edit|plan show|redo|resume|` +
			`revise|rollback|show|skip|status|stop|task show|undo)\b`)
})

// Feedback stands in a command for what a person says to whoever goes on.
const Feedback = "FEEDBACK"

// Heard reports whether what a person says with it is told to whoever goes on.
func (n Next) Heard() bool { return strings.HasSuffix(n.Command, " -m "+Feedback) }

// ForIssue has the commands in a text speak of the session of an issue, by its label: what follows them as they stand
// must not end up in another session. A command that names an issue already is left alone, and so is every one where
// label is "".
func ForIssue(text, label string) string {
	if label == "" || !strings.Contains(text, "pawl ") {
		return text
	}
	var out strings.Builder
	at := 0
	for _, m := range ofSession().FindAllStringIndex(text, -1) {
		out.WriteString(text[at:m[1]])
		if at = m[1]; !strings.HasPrefix(text[at:], " --issue") {
			out.WriteString(" --issue " + label)
		}
	}
	return out.String() + text[at:]
}
