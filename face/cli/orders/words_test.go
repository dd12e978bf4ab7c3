package orders

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                             {},
		`issue add "parse dates" -p 2`: {"issue", "add", "parse dates", "-p", "2"},
		`say don't stop`:               {"say", "don't", "stop"},
		`"`:                            {""},
	} {
		if got := Words(line); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
