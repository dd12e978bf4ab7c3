package verify

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pawl/text/display"

	"pawl/kernel/effect"
	"pawl/store/logs"
)

// label shows a check on one line.
func label(c effect.Check) string {
	if c.Command == "" || strings.HasPrefix(c.Name, c.Command) {
		return display.Line(c.Name)
	}
	return display.Line(c.Name + ": " + commandName(c.Command))
}

// verdict shows how a check ended. Signs and numbers say it in every language.
func verdict(o effect.CheckOutcome) string {
	took := (time.Duration(o.DurationMS) * time.Millisecond).Round(10 * time.Millisecond)
	if o.Status == effect.CheckPassed {
		return fmt.Sprintf("✓ %s (%s)", display.Line(o.Name), took)
	}
	return fmt.Sprintf("✗ %s [%s %d] (%s)", display.Line(o.Name), o.Status, o.ExitCode, took)
}

// tail returns the end of an output, at most limit bytes, as valid UTF-8 without control sequences. Of a line that was
// drawn over with carriage returns the last state is kept. It begins at a line where it can.
func tail(output []byte, limit int) string {
	if len(output) > 4*limit {
		output = output[len(output)-4*limit:]
	}
	text := strings.TrimRight(strings.Map(printable, logs.Plain(output)), " \n")
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	if i := strings.IndexByte(text, '\n'); i >= 0 && i < limit/4 {
		text = text[i+1:]
	}
	return strings.ToValidUTF8(text, "")
}

func printable(r rune) rune {
	if r == '\t' || r == '\n' || unicode.IsGraphic(r) {
		return r
	}
	if unicode.IsControl(r) {
		return -1
	}
	return unicode.ReplacementChar
}

// lines returns the lines of a text.
func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

// byteCount shows a size in mebibytes.
func byteCount(n uint64) string { return fmt.Sprintf("%d MiB", n>>20) }

// relative names paths of a tree in a text as from the tree.
func relative(text, tree string) string {
	var out strings.Builder
	for {
		at := strings.Index(text, tree)
		if at < 0 {
			break
		}
		before, after := strings.TrimSuffix(text[:at], "file://"), text[at+len(tree):]
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		switch {
		case before != "" && inPath(last):
			before += tree // of another one
		case next == '/':
			after = after[1:]
		case after != "" && inPath(next):
			before += tree
		default:
			before += "."
		}
		out.WriteString(before)
		text = after
	}
	return out.String() + text
}

// inPath reports whether a character belongs to the path before or behind it.
func inPath(r rune) bool {
	return r == '/' || r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// commandName is the first line of a command, cut to a length that fits a table.
func commandName(command string) string {
	line, _, _ := strings.Cut(command, "\n")
	if r := []rune(line); len(r) > 60 {
		line = string(r[:59]) + "…"
	}
	return strings.TrimSpace(line)
}
