package policy

import (
	"strings"
	"testing"
)

// In a table of rows with many names a name that stands twice would hide one of its rules.
func TestNoNameHasTwoRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows() {
		program, subs, ok := strings.Cut(r.names, ": ")
		if !ok {
			program, subs = "", r.names
		}
		for _, name := range strings.Fields(subs) {
			if id := program + " " + name; seen[id] {
				t.Errorf("%s has two rules", id)
			} else {
				seen[id] = true
			}
		}
	}
	for _, w := range shellWords() {
		for _, name := range strings.Fields(w.names) {
			if seen[" "+name] {
				t.Errorf("%s is a word of the shell and a program, or twice one", name)
			}
			seen[" "+name] = true
		}
	}
	for name := range known().subcommands {
		if seen[" "+name] {
			t.Errorf("%s is judged as a whole and by its subcommands", name)
		}
	}
	if len(seen) < 300 {
		t.Errorf("only %d names", len(seen))
	}
}
