package firstrun

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Named finds the commands that a screen tells a person to go on with, in the order in which it names them. Verbs are
// the commands that pawl has: what follows its name elsewhere is a sentence about pawl.
func Named(screen string, verbs []string) []string {
	var out []string
	add := func(c string) {
		if w := strings.Fields(c); len(w) > 1 && w[0] == "pawl" && !slices.Contains(verbs, w[1]) {
			return
		}
		if c = strings.TrimRight(strings.TrimSpace(c), ".`"); c != "" && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	lines := strings.Split(screen, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if c, ok := strings.CutPrefix(line, "→ git merge"); ok {
			add("git merge" + c)
		}
		if c, ok := strings.CutPrefix(line, "next  "); ok {
			line = strings.TrimSpace(c) // the first of several, beside their title
		}
		if strings.HasPrefix(line, "pawl ") {
			c, _, _ := strings.Cut(line, "  ") // the second column says what it does
			add(c)
			continue
		}
		hint, ok := strings.CutPrefix(line, "next: ")
		if !ok {
			continue
		}
		for begins := indent(lines[i]); i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" &&
			indent(lines[i+1]) > begins; {
			i++
			hint += " " + strings.TrimSpace(lines[i])
		}
		for _, c := range inProse(hint) {
			add(c)
		}
	}
	return out
}

// cells fits what is between the columns of a table.
var cells = regexp.MustCompile(` {2,}`)

// listed finds the commands in the cells of a screen that only shows something, such as the list of agents.
func listed(screen string, verbs []string) []string {
	var hints strings.Builder
	for line := range strings.Lines(screen) {
		for _, cell := range cells.Split(strings.TrimSpace(line), -1) {
			hints.WriteString("next: " + cell + "\n")
		}
	}
	return Named(hints.String(), verbs)
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// elsewhere fits commands of other programs that a hint may name.
var elsewhere = regexp.MustCompile("(?:sudo |sysctl -w |apt-get install |npm (?:ci|install|i)\\b|pnpm (?:install|i)\\b|yarn install|go mod download|go install |pip3? install |python3? -m (?:pip|venv) )[^;,()`]*")

// inProse finds the commands in a sentence, in their order. What belongs to one of pawl's is told by its form: a flag,
// a word in capitals for the person to fill in, a quoted text, a path, an id. Anything else is prose again.
func inProse(hint string) []string {
	at := map[int]string{}
	for from := 0; ; {
		i := strings.Index(hint[from:], "pawl ")
		if i < 0 {
			break
		}
		i += from
		from = i + len("pawl ")
		if i == 0 || strings.ContainsRune(" (:`\"", rune(hint[i-1])) {
			at[i] = strings.Join(commandWords(words(hint[i:])), " ")
		}
	}
	for _, m := range elsewhere.FindAllStringIndex(hint, -1) {
		at[m[0]] = hint[m[0]:m[1]]
	}
	var out []string
	for _, i := range slices.Sorted(maps.Keys(at)) {
		if at[i] != "pawl" {
			out = append(out, at[i])
		}
	}
	return out
}

// groups are commands of pawl whose next word is a command as well; naming are those that a name follows.
var (
	groups = []string{"agent", "audit", "checkpoint", "config", "issue", "machine", "plan", "skill", "task"}
	naming = []string{"add", "check", "show", "set", "unset", "plan", "retry"}
	plain  = []string{"--yes", "--no-wait", "--json", "--force", "--all", "--in-place", "--watch"}
)

// commandWords are the words of a text, which begins with pawl, that belong to the command.
func commandWords(all []string) []string {
	out := all[:1]
	for i := 1; i < len(all); i++ {
		w := all[i]
		ends := strings.ContainsAny(w[len(w)-1:], ",;:.)`") && !strings.HasPrefix(w, `"`)
		w = strings.TrimRight(w, ",;:.)`")
		if w == "" || w == "pawl" || !belongs(out, i, w) {
			break
		}
		out = append(out, w)
		if ends {
			break
		}
	}
	return out
}

// belongs reports whether a word, which stands at a place of a text, belongs to the command whose words before it are
// out: because it has the form of an argument, or by what it follows.
func belongs(out []string, at int, w string) bool {
	last := out[len(out)-1]
	switch {
	case strings.HasPrefix(w, "-"), strings.HasPrefix(w, `"`), strings.HasPrefix(w, "'"), strings.ContainsAny(w,
		"0123456789/=_."):
		return true
	case len(w) > 1 && w == strings.ToUpper(w), strings.HasPrefix(last, "--") && !slices.Contains(plain, last):
		return true
	}
	switch at {
	case 1:
		return true
	case 2:
		return slices.Contains(groups, last)
	case 3:
		return slices.Contains(groups, out[1]) && slices.Contains(naming, last)
	case 4:
		return out[1] == "config" && out[2] == "set"
	}
	return false
}

// words splits a text at spaces outside of quotation marks, which stay.
func words(text string) []string {
	var out []string
	var word strings.Builder
	var quote rune
	for _, r := range text + " " {
		switch {
		case quote != 0:
			word.WriteRune(r)
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'' && word.Len() == 0:
			quote = r
			word.WriteRune(r)
		case r == ' ':
			if word.Len() > 0 {
				out = append(out, word.String())
			}
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	if word.Len() > 0 {
		out = append(out, word.String())
	}
	return out
}

// unquoted are words as a shell hands them over.
func unquoted(all []string) []string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = w
		if n := len(w); n > 1 && (w[0] == '"' || w[0] == '\'') && w[n-1] == w[0] {
			out[i] = w[1 : n-1]
		}
	}
	return out
}

// said is what a screen says of why the work is not done, in one line: the reason of a session that is blocked, else
// the error.
func said(screen string) string {
	lines := strings.Split(strings.TrimSpace(screen), "\n")
	for i, line := range lines {
		if strings.Contains(line, "BLOCKED (") {
			out := strings.TrimSpace(strings.TrimLeft(line, "✗ "))
			for _, more := range lines[i+1:] {
				if strings.TrimSpace(more) == "" {
					break
				}
				out += " " + strings.TrimSpace(more)
			}
			return out
		}
	}
	for _, line := range lines {
		if text, ok := strings.CutPrefix(line, "pawl: "); ok {
			return text
		}
	}
	for _, line := range slices.Backward(lines) {
		if text := strings.TrimSpace(line); text != "" {
			return text
		}
	}
	return ""
}

// fleeting is what differs between two messages that say the same.
var fleeting = regexp.MustCompile(`[0-9A-Z]{26}|chk-\d+|[0-9a-f]{7,}|\d+(\.\d+)?(ms|s|m)?|/[^ :]*`)

// same reports whether two screens give the same reason.
func same(a, b string) bool {
	return fleeting.ReplaceAllString(a, "#") == fleeting.ReplaceAllString(b, "#")
}

// Argv are the arguments that a shell would hand over for a command as a screen writes it, the program's name first.
func Argv(command string) []string { return unquoted(words(command)) }
