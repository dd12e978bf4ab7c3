package allow

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestNothingBelowEtcIsProposed is about what a command says that it missed: the setting is proposed for none of it, and
// for what lies in a directory only with that.
func TestNothingBelowEtcIsProposed(t *testing.T) {
	dir, err := filepath.EvalSymlinks(".")
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := Offered([]string{"/etc/ssl", "/etc/hosts", dir, dir, filepath.Join(dir, "needs.go")}, []string{filepath.Dir(dir)}, "", func(string) bool { return true })
	if !slices.Equal(got, []string{dir}) {
		t.Errorf("%q", got)
	}
}
