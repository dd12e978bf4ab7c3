package message_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl/text/message"
)

// counts matches a number with the word that it counts, or whose form depends on it.
var counts = regexp.MustCompile(`%(?:\[\d\])?d (?:more |other |audit |changed )?([a-z]+s)\b`)

// TestPlural: each English text that counts something has a form for one of it. The words that only look like plurals
// are named.
func TestPlural(t *testing.T) {
	for _, key := range message.Keys() {
		entry, _ := message.Lookup(key)
		for _, text := range []string{entry.En, entry.HintEn} {
			for _, m := range counts.FindAllStringSubmatch(text, -1) {
				if !slices.Contains([]string{"is", "was", "has", "as", "less", "passes", "instead", "works", "lies", "needs"}, m[1]) {
					t.Errorf("%s: %q has no form for one: %s", key, m[0], text)
				}
			}
		}
	}
	for _, c := range []struct {
		key  string
		args []any
		want string
	}{
		{"pull.spent", []any{"0.01", 1, 1}, "0.01 USD, 1 token, 1 request"},
		{"pull.spent", []any{"0.01", 0, 2}, "0.01 USD, 0 tokens, 2 requests"},
		{"cli.sum.cost", []any{"price unknown", "110", "1"}, "models: price unknown, 110 tokens, 1 request"},
		{"issue.count", []any{int64(1)}, "1 issue"},
		{"issue.count", []any{21}, "21 issues"},
	} {
		if got := message.English.Text(c.key, c.args...); got != c.want {
			t.Errorf("%s: %q, want %q", c.key, got, c.want)
		}
	}
	for _, key := range message.Keys() {
		if entry, _ := message.Lookup(key); strings.Contains(entry.Zh+entry.HintZh, "{1:") {
			t.Errorf("%s: Chinese has no plural forms", key)
		}
	}
}
