package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// foreignKinds has every name replaced in some ways; without it, one of so many combinations is tried.
var foreignKinds = flag.String("foreign", "", "the kinds of replacements, a regular expression, to try for every name")

const foreignShare = 40

// replacements are what can be in the place of a file or a directory that pawl made. Each gets the path, and a canary of
// the same kind, outside or inside the workspace.
var replacements = map[string]func(at, canary string, dir bool) error{
	"a link":          func(at, canary string, _ bool) error { return os.Symlink(canary, at) },
	"a relative link": func(at, canary string, _ bool) error { return relativeLink(at, canary) },
	"a pipe":          func(at, _ string, _ bool) error { return unix.Mkfifo(at, 0o600) },
	"a hard link": func(at, canary string, dir bool) error {
		if dir {
			return os.Symlink(canary, at) // a directory has none
		}
		return os.Link(canary, at)
	},
	"the other kind": func(at, _ string, dir bool) error {
		if dir {
			return os.WriteFile(at, []byte("x"), 0o600)
		}
		return os.Mkdir(at, 0o700)
	},
	"a device":         func(at, _ string, _ bool) error { return unix.Mknod(at, unix.S_IFCHR|0o600, 1<<8|3) },
	"that of somebody": func(at, _ string, dir bool) error { return ofSomebody(at, dir) },
}

func relativeLink(at, canary string) error {
	to, err := filepath.Rel(filepath.Dir(at), canary)
	if err != nil {
		return err
	}
	return os.Symlink(to, at)
}

func ofSomebody(at string, dir bool) (err error) {
	if dir {
		err = os.Mkdir(at, 0o755)
	} else {
		err = os.WriteFile(at, []byte("x"), 0o644)
	}
	return errors.Join(err, os.Chown(at, 1234, 1234))
}

// foreignCommands are given twice each.
func foreignCommands(plan string) [][]string {
	return [][]string{{"status"}, {"check"}, {"gc"}, {"run", "--plan", plan, "--yes"}, {"undo"}, {"export"}, {"doctor"}}
}

// TestForeignEntries replaces each name that pawl has made, in the workspace, in the state, in caches and for temporary
// files, by something that it has not made. Whatever a command makes of that, it ends, and a tree of canaries outside
// and one in the workspace stay the same in content, mode, owner and time, however old they are.
func TestForeignEntries(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.temp = filepath.Join(u.base(), "tmp")
	if err := os.Mkdir(u.temp, 0o700); err != nil {
		t.Fatal(err)
	}
	u.write("Makefile", "test:\n\ttest -f Makefile\n")
	u.write(".gitignore", "ignored/\n")
	u.repository()
	plan := u.steps(making())
	outside := filepath.Join(u.base(), "canaries")
	inside := filepath.Join(u.dir, "ignored")
	for _, dir := range []string{outside, inside} {
		canaries(t, dir)
	}
	u.must(0, "check")
	u.must(0, "run", "--plan", plan, "--yes")
	u.must(0, "undo")
	u.must(0, "issue", "add", "one")
	pristine := filepath.Join(u.base(), "pristine")
	parts := []string{"work", "home", "tmp"}
	copied := func(from, to string) {
		for _, p := range parts {
			if err := os.RemoveAll(filepath.Join(to, p)); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("cp", "-a", filepath.Join(from, p), to).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	if err := os.Mkdir(pristine, 0o700); err != nil {
		t.Fatal(err)
	}
	copied(u.base(), pristine)
	names := madeBy(t, pristine)
	if len(names) < 40 {
		t.Fatalf("pawl made only %d names: %q", len(names), names)
	}
	before := fingerprint(t, outside) + fingerprint(t, inside)
	tried, kinds := 0, regexp.MustCompile(*foreignKinds)
	for _, name := range names {
		for kind, put := range replacements {
			for where, canary := range map[string]string{"outside": outside, "inside": inside} {
				if *foreignKinds == "" && chosen(name, kind, where)%foreignShare != 0 || !kinds.MatchString(kind) ||
					os.Geteuid() != 0 && (kind == "a device" || kind == "that of somebody") {
					continue
				}
				at := filepath.Join(u.base(), name)
				info, err := os.Lstat(at)
				if err != nil {
					continue
				}
				if !info.IsDir() {
					canary = filepath.Join(canary, "file")
				}
				if err := errors.Join(os.RemoveAll(at), put(at, canary, info.IsDir())); err != nil {
					t.Fatalf("%s, %s: %v", name, kind, err)
				}
				tried++
				for _, args := range foreignCommands(plan) {
					for range 2 {
						p := u.start(args...)
						select {
						case <-p.done:
						case <-time.After(patience / 4):
							t.Errorf("%s in the place of %s: pawl %s does not end", kind, name, args[0])
						}
						if a := p.kill(); strings.Contains(a.err, "panic:") {
							t.Errorf("%s in the place of %s: %v", kind, name, a)
						}
					}
				}
				if now := fingerprint(t, outside) + fingerprint(t, inside); now != before {
					t.Errorf("%s %s in the place of %s changed canaries:\n%s", kind, where, name, differs(before, now))
					u.run("rm", "-rf", outside)
					canaries(t, outside)
				}
				copied(pristine, u.base())
				before = fingerprint(t, outside) + fingerprint(t, inside)
			}
		}
	}
	t.Logf("%d names, %d replacements, %d commands", len(names), tried, tried*2*len(foreignCommands(plan)))
}

// chosen is a number that a combination always has.
func chosen(of ...string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(of, "\x00")))
	return h.Sum32()
}

// madeBy lists what pawl has made below a copy of everything that a user has, one of each form.
func madeBy(t *testing.T, base string) (out []string) {
	t.Helper()
	forms := map[string]bool{}
	for _, part := range []string{"work/.pawl", "home/.local", "home/.cache", "home/.config", "tmp"} {
		_ = filepath.WalkDir(filepath.Join(base, part), func(p string, _ fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(base, p)
			form := anyID.ReplaceAllString(rel, "*")
			// The directories above pawl's own are the user's, who may have them elsewhere.
			above := rel == part || strings.HasPrefix(rel, "home/") && !strings.Contains(rel, "/pawl/")
			if err == nil && !above && !forms[form] && strings.Count(form, "/objects/") == 0 {
				forms[form], out = true, append(out, rel)
			}
			return nil
		})
	}
	slices.Sort(out)
	return out
}

// anyID matches what differs between two names of one form: ids, hashes and dates.
var anyID = regexp.MustCompile(`[0-9A-Z]{26}|[0-9a-f]{16,}|20[0-9]{6,10}`)

// canaries makes a tree with names of many kinds, most of them old: whatever is swept by its name or its age is here.
func canaries(t *testing.T, dir string) {
	t.Helper()
	long := time.Now().Add(-20 * 24 * time.Hour)
	for _, name := range []string{"file", "Cargo.lock", "poetry.lock", "id_rsa", ".bashrc", "pawl.db-wal", "tmp_obj_x", ".new-1",
		"my-proof-of-concept/a", "1/001-check.log", "01M8HPMT9GAYBYHGA3NE2CQJAT/001-x.log", "pack/pack-1.pack", "objects/ab/cd",
		"once/x", "built/x", "index/x.tree", "meta/x", "tmp/x", "kept/x/list", "worktrees/x/a", "home/a"} {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("mine: "+name), 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	_ = filepath.WalkDir(dir, func(p string, _ fs.DirEntry, _ error) error {
		ts := unix.NsecToTimespec(long.UnixNano())
		return unix.UtimesNanoAt(unix.AT_FDCWD, p, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// fingerprint is everything that can be seen of a tree, a line for each path.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		content := ""
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x", sha256.Sum256(raw))
		}
		fmt.Fprintln(&b, p, info.Mode(), st.Uid, st.Gid, info.ModTime().UnixNano(), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// differs shows the lines in which two fingerprints differ.
func differs(before, now string) string {
	var b strings.Builder
	was, is := strings.Split(before, "\n"), strings.Split(now, "\n")
	for _, l := range was {
		if !slices.Contains(is, l) {
			b.WriteString("- " + l + "\n")
		}
	}
	for _, l := range is {
		if !slices.Contains(was, l) {
			b.WriteString("+ " + l + "\n")
		}
	}
	return b.String()
}

// TestForeignStep sees the test above fail where the sweeps of earlier versions would be: its canaries are what they took.
func TestForeignStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	canaries(t, dir)
	before := fingerprint(t, dir)
	if fingerprint(t, dir) != before {
		t.Fatal("looking changes it")
	}
	for name, change := range map[string]func() error{
		"a mode":    func() error { return os.Chmod(filepath.Join(dir, "tmp"), 0o700) },
		"a time":    func() error { return os.Chtimes(filepath.Join(dir, "file"), time.Now(), time.Now()) },
		"a content": func() error { return os.WriteFile(filepath.Join(dir, "id_rsa"), nil, 0o640) },
		"a name":    func() error { return os.RemoveAll(filepath.Join(dir, "my-proof-of-concept")) },
	} {
		if err := change(); err != nil || fingerprint(t, dir) == before {
			t.Errorf("%s that changed is not seen, %v", name, err)
		}
		before = fingerprint(t, dir)
	}
}
