package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl/internal/need"
)

// link gives a file a further name.
func link(t testing.TB, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(from, to); err != nil {
		t.Fatal(err)
	}
}

// What has a name outside of the folder that a command works in is not changed there by anything that the command does
// to it, and is in the folder as it was.
func TestNothingIsWrittenThroughHardLinks(t *testing.T) {
	mechanisms(t, func(t *testing.T, m Mechanism) {
		out, many := t.TempDir(), 300
		s := spec(t, `set -e; echo x >>one; test one -ef twin; chmod 600 two; touch -d 2001-01-01 two; ln three four; echo y >four
			truncate -s 0 node_modules/few/f 2>/dev/null || true; for f in node_modules/.pnpm/*; do echo z >"$f" || true; chmod 666 "$f" || true; done 2>/dev/null
			cat one two three; stat -c '%a %h' kept`)
		write(t, filepath.Join(out, "pawl"), "")
		var names []string
		add := func(rel string, mode os.FileMode) {
			at := write(t, filepath.Join(out, strings.ReplaceAll(rel, "/", "-")), rel+"\n")
			if err := os.Chmod(at, mode); err != nil {
				t.Fatal(err)
			}
			link(t, at, filepath.Join(s.Dir, rel))
			names = append(names, at)
		}
		for _, rel := range []string{"one", "two", "three"} {
			add(rel, 0o644)
		}
		add("kept", 0o750)
		link(t, filepath.Join(s.Dir, "one"), filepath.Join(s.Dir, "twin"))
		own := write(t, filepath.Join(s.Dir, "own"), "own\n")
		link(t, own, filepath.Join(s.Dir, "own2"))
		for i := range many {
			add(fmt.Sprint("node_modules/.pnpm/", i), 0o644)
		}
		state := func() string {
			var b strings.Builder
			for _, at := range names {
				var st unix.Stat_t
				if err := unix.Stat(at, &st); err != nil {
					t.Fatal(err)
				}
				data, _ := os.ReadFile(at)
				fmt.Fprintln(&b, at, st.Mode, st.Mtim, string(data))
			}
			return b.String()
		}
		few := write(t, filepath.Join(s.Dir, "node_modules/few/f"), "f\n")
		before := state()
		want := "one\nx\ntwo\ny\n750 1\n"
		if got := output(t, box(t, Options{Mechanism: m}), s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if after := state(); after != before {
			t.Errorf("outside:\n%s\nwas\n%s", after, before)
		}
		for _, p := range []string{own, filepath.Join(s.Dir, "one"), few} {
			if _, err := os.Stat(p); err != nil {
				t.Error(err)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(s.Dir, ".pawl-free*")); len(left) > 0 {
			t.Error(left)
		}
		// The names that the folder has for one file still are.
		one, _ := os.Stat(own)
		two, _ := os.Stat(filepath.Join(s.Dir, "own2"))
		if !os.SameFile(one, two) {
			t.Error("links within the folder were parted")
		}
	})
}

// Files that policy lets nobody read are masked in the folder that a command works in, by each of their names and on
// each way, but for what git tracks, what belongs to a package, and what a setting names.
func TestSecretsOfTheTreeAreMasked(t *testing.T) {
	need.Program(t, "git")
	for _, m := range []Mechanism{MechanismNamespaces, MechanismBubblewrap} {
		t.Run(string(m), func(t *testing.T) {
			s := spec(t, `grep -rsl s3cret . | sort; for f in .env packages/app/.env; do grep -sh s3cret /proc/self/root"$PWD"/$f /proc/self/cwd/$f ../"${PWD##*/}"/$f
				ln $f hard 2>/dev/null && grep -sh s3cret hard; ln -s $f soft; grep -sh s3cret soft; rm -f soft; cp $f copy 2>/dev/null; grep -sh s3cret copy
				mv $f moved 2>/dev/null && grep -sh s3cret moved; rm -f $f 2>/dev/null; echo new 2>/dev/null >$f; done; true`)
			shown := []string{"./.env.example", "./config/tracked.pem", "./named/.env", "./node_modules/p/test.key",
				"./v/certs.pem", "./src/main.go"}
			for _, name := range slices.Concat(shown, []string{".env", ".env.local", "packages/app/.env", "id_rsa", "deploy/server.key",
				"secrets.yaml", "config/Tracked.pem.d/.env", "copy-of-env"}) {
				write(t, filepath.Join(s.Dir, name), "s3cret "+name+"\n")
			}
			write(t, filepath.Join(s.Dir, "v/pyvenv.cfg"), "home = /usr/bin\n")
			if err := os.Remove(filepath.Join(s.Dir, "copy-of-env")); err != nil {
				t.Fatal(err)
			}
			link(t, filepath.Join(s.Dir, ".env"), filepath.Join(s.Dir, "copy-of-env"))
			git := exec.Command("sh", "-c", "git init -q && git add -f config/tracked.pem src")
			git.Dir = s.Dir
			if out, err := git.CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			b := box(t, Options{Mechanism: m, Readable: []string{filepath.Join(s.Dir, "named/.env")}})
			if got, want := strings.Fields(output(t, b, s)), shown; !slices.Equal(got, slices.Sorted(slices.Values(want))) {
				t.Errorf("%q, want %q", got, want)
			}
			if data, err := os.ReadFile(filepath.Join(s.Dir, ".env")); err != nil || string(data) != "s3cret .env\n" {
				t.Errorf("%q %v", data, err)
			}
		})
	}
}

// To look through a folder with a large folder of packages takes a bounded time.
func TestManyPackagesAreLookedThrough(t *testing.T) {
	out, s := t.TempDir(), spec(t, "echo x >node_modules/p0/0; cat node_modules/p1/1")
	store := write(t, filepath.Join(out, "store"), "shared\n")
	for d := range 100 {
		dir := filepath.Join(s.Dir, "node_modules", fmt.Sprint("p", d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for f := range 500 {
			if err := os.Link(store, filepath.Join(dir, fmt.Sprint(f))); err != nil {
				t.Fatal(err)
			}
		}
	}
	begin := time.Now()
	if got := output(t, box(t, Options{Mechanism: MechanismNamespaces}), s); got != "shared\n" {
		t.Errorf("%q", got)
	}
	took := time.Since(begin)
	if data, _ := os.ReadFile(store); string(data) != "shared\n" {
		t.Errorf("%q", data)
	}
	if t.Logf("50,000 files: %v", took); took > 5*time.Second {
		t.Error("that is not bounded")
	}
}
