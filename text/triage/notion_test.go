package triage

import (
	"slices"
	"testing"
)

// TestEveryNotion wants each entry to be found where it stands alone, and once in its row.
func TestEveryNotion(t *testing.T) {
	seen := map[string]bool{}
	rows(notionsText, func(notion, said string) {
		list := knownWords(said)
		if len(list) != 1 || !slices.Contains(list[0].notions, notion) {
			t.Errorf("%s\t%s\tis not found", notion, said)
			return
		}
		if key := notion + " " + list[0].said; seen[key] {
			t.Errorf("%s\t%s\tstands twice", notion, said)
		} else {
			seen[key] = true
		}
	})
	if len(seen) < 4000 {
		t.Errorf("%d entries", len(seen))
	}
}
