package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
)

// TestASecretIsReadOnce gives a command a secret through a pipe, and has another command of the same walls look for it
// wherever one looks.
func TestASecretIsReadOnce(t *testing.T) {
	secret := "tok-" + strings.Repeat("s3cret", 20)
	// What was read goes into a file: in a pipe that nobody has emptied yet, those who look would find it.
	looking := `read -r got <&9; echo "got $got" > got.txt
env > env.txt; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline > processes.txt 2>/dev/null
cat <&9 > again.txt; for d in /proc/[0-9]*/fd/*; do timeout 1 cat "$d" < /dev/null >> again.txt 2>/dev/null; done; true`
	for _, m := range []Mechanism{MechanismBubblewrap, MechanismNamespaces} {
		t.Run(string(m), func(t *testing.T) {
			b, err := New(Options{Mechanism: m})
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			r, err := b.Run(t.Context(), Spec{
				Argv: []string{"bash", "-c", looking}, Dir: dir, Env: Environ(os.Environ(),
					nil), Writable: []string{dir}, Secret: []byte(secret + "\n"), SecretFD: 9,
			})
			got, _ := os.ReadFile(filepath.Join(dir, "got.txt"))
			if err != nil || r.Exit != 0 || string(got) != "got "+secret+"\n" {
				t.Fatalf("%v %q: %+v", err, got, r)
			}
			for _, name := range []string{"env.txt", "processes.txt", "again.txt"} {
				raw, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil || bytes.Contains(raw, []byte(secret)) {
					t.Errorf("%s: %v %q", name, err, raw)
				}
			}
		})
	}
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Spec{{Secret: []byte("x"), SecretFD: 2}, {Secret: []byte("x"), SecretFD: 256},
		{Secret: bytes.Repeat([]byte("x"), maxSecret+1), SecretFD: 9}} {
		s.Argv, s.Dir = []string{"true"}, "/"
		if _, err := b.Run(t.Context(), s); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("descriptor %d, %d bytes: %v", s.SecretFD, len(s.Secret), err)
		}
	}
}
