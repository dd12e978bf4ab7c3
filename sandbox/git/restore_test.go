package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl"
	"pawl/internal/gittest"
	"pawl/sandbox/git"
)

func restore(t testing.TB, r *git.Repo, q git.Restoration) git.Restored {
	t.Helper()
	done, err := r.Restore(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// names are paths that a random edit uses. Some are each other's folders, so that files and folders take each other's
// place.
var names = []string{
	"a", "b.txt", "d/x", "d/y", "d/e/f", "d", "d/e", "sp ace", "q\"uote'", "new\nline", "中文/名", "-x", "--output=y",
	"$(touch z)",
	"d/.gitkeep", "éclair", "tab\there", "sub/.gitattributes", "back\\slash",
}

var contents = []string{"", "text\n", "two\r\nlines\r\n", "\x00\xff\xfebinary", "no end",
	strings.Repeat("long line ", 2000), "#!/bin/sh\n"}

// edit makes one random change in a tree. Changes that the disk refuses, such as a file below a file, are none. The
// tree is a Root, so that no change reaches through the random links: they lead out of it, to the canary among others.
func edit(t *rapid.T, tree *os.Root, canary string, n *int) {
	path := rapid.SampledFrom(names).Draw(t, "name")
	*n++
	switch rapid.SampledFrom([]string{"write", "write", "write", "link", "remove", "removeAll", "mkdir", "exec",
		"private", "replace", "ignored"}).Draw(t, "op") {
	case "write":
		_ = tree.MkdirAll(filepath.Dir(path), 0o755)
		_ = tree.WriteFile(path, fmt.Appendf([]byte(rapid.SampledFrom(contents).Draw(t, "content")), "%d", *n), 0o644)
	case "replace":
		_ = tree.RemoveAll(path)
		_ = tree.MkdirAll(filepath.Dir(path), 0o755)
		_ = tree.WriteFile(path, []byte(rapid.SampledFrom(contents).Draw(t, "content")), 0o755)
	case "link":
		_ = tree.RemoveAll(path)
		_ = tree.Symlink(rapid.SampledFrom([]string{"a", "d", "..", canary, "nowhere"}).Draw(t, "target"), path)
	case "remove":
		_ = tree.Remove(path)
	case "removeAll":
		_ = tree.RemoveAll(path)
	case "mkdir":
		_ = tree.MkdirAll(path, 0o755)
	case "exec":
		_ = tree.Chmod(path, 0o755)
	case "private":
		mode := os.FileMode(0o600)
		if info, err := tree.Stat(path); err == nil && info.IsDir() {
			mode = 0o700 // one that its owner cannot enter either could not be recorded by anybody but root
		}
		_ = tree.Chmod(path, mode)
	case "ignored":
		_ = tree.WriteFile("x.log", fmt.Append(nil, *n), 0o644)
	}
}

var logs = regexp.MustCompile(`(?m)^"x\.log".*\n?`)

// recorded is the tree without what is ignored.
func recorded(t testing.TB, dir string) string {
	return strings.TrimSpace(logs.ReplaceAllString(gittest.Tree(t, dir), ""))
}

// Any edit script, then restore: the tree is what it was, byte for byte; and back again. A bystander's file survives.
func TestRestoreIsExact(t *testing.T) {
	t.Parallel()
	for name, isGit := range map[string]bool{"git": true, "folder": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) { restoreIsExact(t, rt, isGit) })
		})
	}
}

func restoreIsExact(t *testing.T, rt *rapid.T, isGit bool) {
	base, err := os.MkdirTemp(t.TempDir(), "restore")
	if err != nil {
		rt.Fatal(err)
	}
	dir, canary := filepath.Join(base, "tree"), filepath.Join(base, "canary")
	gittest.Write(t, base, map[string]string{"canary": "outside"})
	files := map[string]string{"a": "a\n", "d/x": "x\r\n", "run": "#!/bin/sh\n", ".gitignore": "*.log\n"}
	r := &gittest.Repo{Dir: dir}
	gittest.Write(t, dir, files)
	if isGit {
		for _, args := range [][]string{{"init", "-q"}, {"add", "-A"},
			{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"}} {
			if out, err := r.Try(args...); err != nil {
				rt.Fatal(out)
			}
		}
	}
	repo := open(t, r, "", isGit)
	tree, err := os.OpenRoot(dir)
	if err != nil {
		rt.Fatal(err)
	}
	defer tree.Close()
	n := 0
	for range rapid.IntRange(0, 6).Draw(rt, "before") {
		edit(rt, tree, canary, &n)
	}
	one, before := snapshot(t, repo), recorded(t, dir)
	for range rapid.IntRange(1, 12).Draw(rt, "edits") {
		edit(rt, tree, canary, &n)
	}
	two, after := snapshot(t, repo), recorded(t, dir)
	if one == two {
		return // git trees do not tell empty folders and permissions; alone, they are not restored
	}
	log, _ := os.ReadFile(filepath.Join(dir, "x.log"))
	check := func(what, want string) {
		if got := recorded(t, dir); got != want {
			rt.Fatalf("%s: got\n%s\nwant\n%s", what, got, want)
		}
		info, err := os.Stat(canary)
		raw, _ := os.ReadFile(canary)
		if all, _ := os.ReadDir(base); err != nil || len(all) != 2 || string(raw) != "outside" ||
			info.Mode().Perm() != 0o644 {
			rt.Fatalf("%s: something was done outside the tree: %v %q %v %v", what, err, raw, info, all)
		}
	}
	restore(t, repo, git.Restoration{Target: one})
	check("exact", before)
	restore(t, repo, git.Restoration{Target: two, Expect: one})
	check("redo", after)
	gittest.Write(t, dir, map[string]string{"bystander/file": "mine"})
	done := restore(t, repo, git.Restoration{Target: one, Expect: two})
	if raw, _ := os.ReadFile(filepath.Join(dir, "bystander/file")); string(raw) != "mine" ||
		strings.Join(done.Kept, ",") != "bystander/file" {
		rt.Fatalf("bystander %q, kept %q", raw, done.Kept)
	}
	os.RemoveAll(filepath.Join(dir, "bystander"))
	check("undo", before)
	if now, _ := os.ReadFile(filepath.Join(dir, "x.log")); string(now) != string(log) {
		rt.Fatal("an ignored file was touched")
	}
}

func TestRestoreConflicts(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a", "b": "b", "c": "c", ".gitignore": "*.log\n"})
	repo := open(t, r, "", true)
	one := snapshot(t, repo)
	r.Write(map[string]string{"a": "pawl", "b": "pawl", "new": "pawl"})
	two := snapshot(t, repo)
	r.Write(map[string]string{"b": "somebody", "c": "somebody"})
	want := gittest.Tree(t, r.Dir)
	_, err := repo.Restore(context.Background(), git.Restoration{Target: one, Expect: two})
	wantCode(t, err, pawl.CodeConflict)
	var e *pawl.Error
	if !errors.As(err, &e) || fmt.Sprint(e.Args...) != `"b"` {
		t.Fatalf("%v", err)
	}
	if got := gittest.Tree(t, r.Dir); got != want {
		t.Fatal("a refused restore changed something")
	}
	done := restore(t, repo, git.Restoration{Target: one, Expect: two, Force: true})
	if strings.Join(done.Changed, ",") != "a,b,new" || strings.Join(done.Kept, ",") != "c" {
		t.Fatalf("%+v", done)
	}
	if raw, _ := os.ReadFile(r.Path("c")); string(raw) != "somebody" {
		t.Fatal("a file that pawl never changed was restored")
	}
	// A file that was not recorded is never overwritten, forced or not.
	os.Remove(r.Path("a"))
	gone := snapshot(t, repo)
	r.Write(map[string]string{".gitignore": "*.log\na\n"})
	snapshot(t, repo)
	r.Write(map[string]string{"a": "ignored and not recorded"})
	for _, force := range []bool{false, true} {
		_, err = repo.Restore(context.Background(), git.Restoration{Target: one, Expect: gone, Force: force})
		wantCode(t, err, pawl.CodeConflict)
	}
	_, err = repo.Restore(context.Background(), git.Restoration{Target: strings.Repeat("1", 40)})
	wantCode(t, err, pawl.CodeRepository)
	_, err = repo.Restore(context.Background(), git.Restoration{Target: "HEAD"})
	wantCode(t, err, pawl.CodeInvalid)
}

// A file that was recorded only because its ignore pattern was gone for a while is the user's, and stays.
func TestRestoreSparesWhatTheTargetIgnores(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{".gitignore": ".env\nbuild/\n", "a": "a"})
	r.Write(map[string]string{".env": "secret", "build/out": "o"})
	repo := open(t, r, "", true)
	one := snapshot(t, repo)
	r.Write(map[string]string{".gitignore": "", "pawl": "made"})
	two := snapshot(t, repo)
	for _, expect := range []string{two, ""} {
		restore(t, repo, git.Restoration{Target: two})
		done := restore(t, repo, git.Restoration{Target: one, Expect: expect, Origin: two})
		for name, want := range map[string]string{".env": "secret", "build/out": "o", ".gitignore": ".env\nbuild/\n"} {
			if raw, _ := os.ReadFile(r.Path(name)); string(raw) != want {
				t.Fatalf("%s is %q (%+v)", name, raw, done)
			}
		}
		if _, err := os.Stat(r.Path("pawl")); err == nil {
			t.Fatal("what pawl made is still there")
		}
	}
}

// Nothing outside the tree is reached through links that stand where folders should be.
func TestRestoreFollowsNoLink(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	gittest.Write(t, outside, map[string]string{"x": "outside", "y": "outside"})
	r := gittest.New(t, map[string]string{"d/x": "x", "d/y": "y", "other/x": "o"})
	repo := open(t, r, "", true)
	one := snapshot(t, repo)
	r.Write(map[string]string{"d/x": "changed"})
	os.Remove(r.Path("d/y"))
	snapshot(t, repo)
	for _, target := range []string{outside, "other"} {
		os.RemoveAll(r.Path("d"))
		r.Write(map[string]string{"d": "-> " + target})
		snapshot(t, repo)
		restore(t, repo, git.Restoration{Target: one})
		for path, want := range map[string]string{outside + "/x": "outside", outside + "/y": "outside",
			r.Path("other/x"): "o", r.Path("d/x"): "x"} {
			if raw, _ := os.ReadFile(path); string(raw) != want {
				t.Fatalf("%s is %q", path, raw)
			}
		}
	}
}

// Paths that a tree made without git may hold are refused before anything is written.
func TestRestoreRefusesUnsafePaths(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a"})
	blob := r.Git("rev-parse", "HEAD:a")
	repo := open(t, r, "", true)
	for _, name := range []string{".git", ".GIT", ".pawl", "..", "git~1"} {
		inner := mktree(t, r, "100644 blob "+blob+"\tx")
		tree := mktree(t, r, "040000 tree "+inner+"\t"+name)
		_, err := repo.Restore(context.Background(), git.Restoration{Target: tree})
		wantCode(t, err, pawl.CodeDenied)
	}
	if _, err := os.Stat(r.Path(".git/x")); err == nil {
		t.Fatal("a file was written into .git")
	}
}

// mktree makes a tree without git's checks: as raw bytes.
func mktree(t *testing.T, r *gittest.Repo, line string) string {
	t.Helper()
	head, name, _ := strings.Cut(line, "\t")
	f := strings.Fields(head)
	raw := strings.TrimPrefix(f[0], "0") + " " + name + "\x00"
	for i := 0; i < len(f[2]); i += 2 {
		var b byte
		fmt.Sscanf(f[2][i:i+2], "%02x", &b)
		raw += string([]byte{b})
	}
	path := filepath.Join(t.TempDir(), "tree")
	if err := os.WriteFile(path, []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	return r.Git("hash-object", "-t", "tree", "-w", "--literally", path)
}
