package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
)

// putSpec is a command in a copy of a workspace, which it finds at the workspace's own path, in a home of its own at the
// path of the user's.
func putSpec(t *testing.T, script string) (s Spec, ws, home string) {
	t.Helper()
	home = outside(t)
	ws = filepath.Join(home, "work")
	copied := filepath.Join(ws, ".state", "copy")
	write(t, filepath.Join(home, "secret"), "s\n")
	write(t, filepath.Join(ws, "theirs"), "t\n")
	write(t, filepath.Join(ws, ".git", "HEAD"), "head\n")
	write(t, filepath.Join(ws, ".git", "index"), "their index\n")
	write(t, filepath.Join(ws, ".git", "refs", "own", "r"), "ref\n")
	write(t, filepath.Join(ws, "packages", "p"), "p\n")
	write(t, filepath.Join(ws, ".state", "index"), "other index\n")
	write(t, filepath.Join(ws, ".state", "cache", "c"), "cached\n")
	write(t, filepath.Join(copied, "file"), "f\n")
	write(t, filepath.Join(copied, "sub", "f"), "f\n")
	s = Spec{Argv: []string{"sh", "-c", script}, Dir: ws, Env: append(Environ(os.Environ(), nil), "HOME="+home),
		Writable: []string{copied, filepath.Join(ws, ".state", "cache")},
		Readable: []string{filepath.Join(ws, ".git")},
		Hidden:   []string{filepath.Join(ws, ".state"), filepath.Join(ws, ".git", "refs", "own"), filepath.Join(ws, "packages")},
		Shown:    []Shown{{From: filepath.Join(ws, "packages"), At: filepath.Join(copied, "sub", "deps")}},
		Put: []Put{{At: home}, {From: copied, At: ws}, {From: filepath.Join(ws, ".state", "cache"), At: filepath.Join(home, ".cache")},
			{From: filepath.Join(ws, ".state", "index"), At: filepath.Join(ws, ".git", "index")}}}
	return s, ws, home
}

func TestPut(t *testing.T) {
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m})
		if !b.Puts(t.Context()) {
			if m != MechanismLandlock {
				t.Fatal("nothing is put anywhere")
			}
			t.Skip("without namespaces nothing is put anywhere")
		}
		s, ws, home := putSpec(t, `set -e
exec 2>/dev/null; pwd; for d in . sub/deps "$HOME" .git/refs/own; do echo "$d:"; ls -A "$d"; done; cat file .git/HEAD .git/index sub/deps/p "$HOME/.cache/c"
echo made > made; mkdir "$HOME/left"; echo new > "$HOME/.cache/new"
! echo x > .git/HEAD; ! echo x > .git/index; ! cat theirs; ! cat "$HOME/secret"; ! ls -d .state`)
		want := ws + "\n.:\n.git\nfile\nsub\nsub/deps:\np\n" + home + ":\n.cache\nwork\n.git/refs/own:\nf\nhead\nother index\np\ncached\n"
		got := output(t, b, s)
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s\nwant\n%s", got, want)
		}
		for _, name := range []string{filepath.Join(ws, ".state/copy/made"), filepath.Join(ws, ".state/cache/new")} {
			if _, err := os.Stat(name); err != nil {
				t.Error(err)
			}
		}
		for _, name := range []string{"made", "left", "work/made", "work/sub", ".cache"} {
			if _, err := os.Lstat(filepath.Join(home, name)); err == nil {
				t.Errorf("%s was made on the machine", name)
			}
		}
		s.Argv[2] = "cat .git/index"
		if got := output(t, b, s); got != "other index\n" { // although a place for it is left in the copy
			t.Errorf("%s", got)
		}
		if got := entries(t, filepath.Join(ws, ".state", "copy")); got != ".git file made sub" && got != "file made sub" {
			t.Errorf("in the copy: %s", got)
		}
		if raw, _ := os.ReadFile(filepath.Join(ws, ".git", "index")); string(raw) != "their index\n" {
			t.Errorf("%s", raw)
		}
	})
}

// TestPutIsRefused is about places that nothing may be put at.
func TestPutIsRefused(t *testing.T) {
	t.Parallel()
	b := box(t, Options{Mechanism: MechanismNamespaces})
	for at, want := range map[string]pawl.Code{"/usr": pawl.CodeDenied, "/": pawl.CodeDenied, "/home": pawl.CodeDenied,
		b.homes[0]: pawl.CodeDenied, "work": pawl.CodeInvalid} {
		s := spec(t, "true")
		s.Put = []Put{{From: s.Dir, At: at}}
		if _, err := b.Run(t.Context(), s); pawl.CodeOf(err) != want {
			t.Errorf("%s: %v", at, err)
		}
	}
	s := spec(t, "true")
	s.Put = []Put{{From: filepath.Join(s.Dir, "missing"), At: "/srv/work"}}
	if _, err := b.Run(t.Context(), s); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Error(err)
	}
}
