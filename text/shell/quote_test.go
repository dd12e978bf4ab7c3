package shell_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pawl/text/shell"
)

// A shell takes the words apart as they were put together, and what is plain is left readable.
func TestQuoteAll(t *testing.T) {
	for want, words := range map[string][]string{
		"go test ./api -run=TestA":         {"go", "test", "./api", "-run=TestA"},
		"go test -run 'TestA|TestB' ./...": {"go", "test", "-run", "TestA|TestB", "./..."},
		`echo 'it'\''s' '' '$HOME'`:        {"echo", "it's", "", "$HOME"},
		"'A=b' C=d":                        {"A=b", "C=d"},
	} {
		if got := shell.QuoteAll(words); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
	var words []string
	for c := rune(1); c < 0x100; c++ {
		words = append(words, string(c), "a"+string(c)+"b")
	}
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+shell.QuoteAll(words)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("the shell reads\n%q, want\n%q", got, words)
	}
}
