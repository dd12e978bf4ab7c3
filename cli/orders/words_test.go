package orders

import (
	"slices"
	"testing"
)

// What the user's shell took apart is put together so that another shell takes it apart in the same way.
func TestShellWords(t *testing.T) {
	for want, words := range map[string][]string{
		"go test ./api":                    {"go", "test", "./api"},
		"go test -run 'TestA|TestB' ./...": {"go", "test", "-run", "TestA|TestB", "./..."},
		`echo 'it'\''s' '' '$HOME'`:        {"echo", "it's", "", "$HOME"},
	} {
		if got := shellWords(words); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}

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
