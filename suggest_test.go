package pawl_test

import (
	"strings"
	"testing"

	"pawl"
)

func TestNearest(t *testing.T) {
	known := []string{"write_file", "read_file", "run", "undo", "redo", "T-001", strings.Repeat("x", 300)}
	for word, want := range map[string]string{
		"write_fil": "write_file", "WRITE_FILE": "write_file", "wrte_fle": "write_file", "wt_fl": "", "rnu": "",
		"rum": "run", "und": "undo",
		"rdo": "redo", "undoo": "undo", "run": "", "": "", "T-01": "T-001", "elsewhere": "", strings.Repeat("x",
			299): "",
	} {
		if got := pawl.Suggest(word, known); got != want {
			t.Errorf("%.20q: %q, want %q", word, got, want)
		}
	}
}
