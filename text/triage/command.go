package triage

import (
	"slices"
	"strings"
	"unicode/utf8"

	"pawl"
	"pawl/machine/workflow"
)

// word is a "~" with a name behind it that may be a command.
type word struct {
	Span        // in the source
	name string // with the "~", in lower case
	at   int    // where the "~" stands in the folded text
}

// tildes finds the words behind a "~" that could be meant as commands, wherever they stand: not inside quotes and code,
// not in paths (~/x, ~ada/x), not behind a letter or digit (HEAD~1), not struck out (~x~), not escaped (\~x), and no
// numbers (~5).
func tildes(f folded, qs []quote) []word {
	var out []word
	for from := 0; ; {
		i := strings.IndexByte(f.text[from:], '~')
		if i < 0 {
			return out
		}
		at := from + i
		from = at + 1
		end := from
		for end < len(f.text) && nameByte(f.text[end], end == from) {
			end++
		}
		if end == from && strings.HasPrefix(f.text[end:], "?") {
			end++
		}
		name := strings.TrimRight(f.text[at:end], "-._")
		end = at + len(name)
		if name == "~" || !freeBefore(f.text[:at]) || !freeAfter(f.text[end:]) {
			continue
		}
		span := f.span(at, end)
		if _, quoted := within(qs, span.Start); quoted {
			continue
		}
		out = append(out, word{span, name, at})
		from = end
	}
}

// nameByte reports whether a byte may stand in the name behind a "~", which begins with a letter.
func nameByte(b byte, first bool) bool {
	letters := b >= 'a' && b <= 'z'
	return letters || !first && (b >= '0' && b <= '9' || b == '-' || b == '_' || b == '.')
}

// freeBefore reports whether what stands before a "~" does not join with it. Chinese needs no blank between words.
func freeBefore(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s == "" || han(r) || !letter(r) && !strings.ContainsRune(`~\/=.$@#-`, r)
}

// freeAfter reports whether what stands behind a name leaves it a name of its own.
func freeAfter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s == "" || han(r) || !letter(r) && !strings.ContainsRune(`~/\=@`, r)
}

// commandNames are the names of the commands, in the order of their table.
func commandNames() []string {
	var out []string
	for _, c := range workflow.Commands() {
		out = append(out, c.Name)
	}
	return out
}

// nearCommands returns the commands that a misspelt name may mean, the nearest first.
func nearCommands(name string) []string {
	var out []string
	rest := commandNames()
	for len(out) < 3 {
		n := pawl.Suggest(name, rest)
		if n == "" {
			break
		}
		out = append(out, n)
		rest = slices.DeleteFunc(rest, func(c string) bool { return c == n })
	}
	// A name that begins like a command is as near as a misspelt one: ~val, ~rollback-last.
	for _, c := range rest {
		if len(out) < 3 && len(name) > 2 && (strings.HasPrefix(c, name) || strings.HasPrefix(name, c+"-") ||
			strings.HasPrefix(name, c+"_")) {
			out = append(out, c)
		}
	}
	return out
}

// slip reports whether a name is one small typing error away from a command: a letter too few, too many or wrong, or
// two that changed places.
func slip(name string) bool {
	for _, c := range commandNames() {
		if len(name) > 3 && pawl.Suggest(name, []string{c}) == c && oneSlip(name, c) {
			return true
		}
	}
	return false
}

func oneSlip(a, b string) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// argument is what an input says beside its command: the text behind it, and before it what is more than the way to it
// ("please run", "用").
func argument(src string, w word) string {
	before := strings.TrimSpace(leadIn.Get().ReplaceAllString(src[:w.Start], ""))
	after := strings.TrimLeft(src[w.End:], " \t:：,，。.!！")
	after = strings.TrimSpace(after)
	if leadOnly.Get().MatchString(after) {
		after = ""
	}
	if before == "" {
		return after
	}
	before = strings.TrimRight(before, " \t,，;；:：")
	if after == "" {
		return before
	}
	return before + " " + after
}
