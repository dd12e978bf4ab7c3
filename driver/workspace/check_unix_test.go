//go:build unix

package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/driver/workspace"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/store/known"
)

// check is a Check that must leave everything as it is, unless it passes.
func check(t *testing.T, dir string) error {
	t.Helper()
	before := gittest.Tree(t, dir)
	err := workspace.Check(t.Context(), effect.Place{Workspace: dir, Tree: dir})
	if err != nil && gittest.Tree(t, dir) != before {
		t.Errorf("refused, and changed:\n%s\nnow:\n%s", before, gittest.Tree(t, dir))
	}
	return err
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestCheckPasses what pawl and people put in .pawl, with what earlier versions left, and makes it private.
func TestCheckPasses(t *testing.T) {
	r := gittest.New(t, map[string]string{"a": "a", ".pawl/config.yaml": "lang: en\n"})
	r.Git("add", "-f", ".pawl/config.yaml")
	r.Commit("settings")
	for _, file := range []string{"pawl.db", "plan/x/plan.yaml", "archive/2026/x.md", "worktrees/T1/a/b", "git/packs/x",
		"cache/deps/npm-1/tree/x"} {
		write(t, r.Path(".pawl/"+file), "")
	}
	for _, link := range []string{"worktrees/T1/link", "git/packs/pack", "cache/deps/npm-1/link"} {
		if err := os.Symlink("../..", r.Path(".pawl/"+link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(r.Path(".pawl"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := check(t, r.Dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(r.Path(".pawl")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	if err := check(t, t.TempDir()); err != nil {
		t.Error("without .pawl:", err)
	}
}

// TestCheckKinds refuses whatever is neither a file nor a directory, in a repository and in a folder without one.
func TestCheckKinds(t *testing.T) {
	canary := t.TempDir()
	write(t, filepath.Join(canary, "mine"), "mine")
	before := gittest.Tree(t, canary)
	for kind, put := range map[string]func(string) error{
		"out":    func(p string) error { return os.Symlink(canary, p) },
		"file":   func(p string) error { return os.Symlink(filepath.Join(canary, "mine"), p) },
		"within": func(p string) error { return os.Symlink("..", p) },
		"broken": func(p string) error { return os.Symlink("absent", p) },
		"pipe":   func(p string) error { return unix.Mkfifo(p, 0o600) },
	} {
		for _, name := range []string{".pawl", ".pawl/export.lock", ".pawl/config.yaml", ".pawl/git", ".pawl/git/tmp",
			".pawl/git/kept", ".pawl/logs", ".pawl/worktrees", ".pawl/workers", ".pawl/cache", ".pawl/unknown",
			".pawl/plan/x", ".pawl/plan/a/b/c", ".pawl/archive/2026/x.md"} {
			for _, dir := range []string{t.TempDir(), gittest.New(t, nil).Dir} {
				at := filepath.Join(dir, filepath.FromSlash(name))
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), put(at)); err != nil {
					t.Fatal(err)
				}
				if err := check(t, dir); pawl.CodeOf(err) != pawl.CodeDenied {
					t.Errorf("%s at %s: %v", kind, name, err)
				}
			}
		}
	}
	if now := gittest.Tree(t, canary); now != before {
		t.Errorf("changed outside:\n%s", now)
	}
}

// TestCheckTracked refuses whatever a repository brings in .pawl, by any spelling, except the settings.
func TestCheckTracked(t *testing.T) {
	for _, name := range []string{".pawl/git/tmp/x", ".pawl/pawl.db", ".PAWL/config.yaml", ".pawl/config.yaml/x",
		".pawl/Config.yaml", ".Pawl/plan/x", ".pawl"} {
		r := gittest.New(t, map[string]string{name: "x"})
		r.Git("add", "-f", ".")
		if err := check(t, r.Dir); pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%s: %v", name, err)
		}
		// A checkout brings back each file that git tracks, whether it is there now or not.
		if err := os.RemoveAll(r.Path(name)); err != nil {
			t.Fatal(err)
		}
		if err := check(t, r.Dir); pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%s, removed: %v", name, err)
		}
	}
	r := gittest.New(t, map[string]string{"a": "a"})
	blob := r.Git("hash-object", "-w", "a")
	for _, mode := range []string{"120000", "160000"} {
		r.Git("update-index", "--add", "--cacheinfo", mode+","+blob+",.pawl/config.yaml")
		if err := check(t, r.Dir); pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%s: %v", mode, err)
		} else if !strings.Contains(err.Error(), "cli.workspace_tracked_link") {
			t.Errorf("%s: what it is is not said: %v", mode, err)
		}
	}
}

// TestCheckPullRequest looks again after a checkout, which replaces ignored directories without asking.
func TestCheckPullRequest(t *testing.T) {
	r := gittest.New(t, map[string]string{"a": "a", ".gitignore": "/.pawl\n"})
	r.Git("add", ".")
	r.Commit("one")
	first := r.Git("rev-parse", "--abbrev-ref", "HEAD")
	if err := os.MkdirAll(r.Path(".pawl/git/tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := check(t, r.Dir); err != nil {
		t.Fatal(err)
	}
	r.Git("checkout", "-q", "-b", "pr")
	if err := errors.Join(os.Remove(r.Path(".pawl/git/tmp")), os.Symlink("../../..", r.Path(".pawl/git/tmp"))); err != nil {
		t.Fatal(err)
	}
	r.Git("add", "-f", ".pawl/git/tmp")
	r.Commit("pr")
	r.Git("checkout", "-q", first)
	if err := os.MkdirAll(r.Path(".pawl/git/tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := check(t, r.Dir); err != nil {
		t.Fatal(err)
	}
	r.Git("checkout", "-q", "pr")
	if err := check(t, r.Dir); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Error(err)
	}
}

// TestCheckSubfolder holds a folder of a repository to the same, whose .pawl git may track.
func TestCheckSubfolder(t *testing.T) {
	r := gittest.New(t, map[string]string{"sub/.pawl/plan/x": "x", "other/a": "a"})
	r.Git("add", "-f", ".")
	if err := check(t, r.Path("sub")); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Error("tracked:", err)
	}
	if err := check(t, r.Path("other")); err != nil {
		t.Error("next to it:", err)
	}
	write(t, r.Path("other/.pawl/pawl.db"), "")
	if err := errors.Join(os.Mkdir(r.Path("other/.pawl/git"), 0o700),
		os.Symlink("../../..", r.Path("other/.pawl/git/tmp"))); err != nil {
		t.Fatal(err)
	}
	if err := check(t, r.Path("other")); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Error("link:", err)
	}
}

// TestCheckOwner refuses the directory of another user. Root takes that of the user who called sudo.
func TestCheckOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, ".pawl"), 0o755), os.Chown(filepath.Join(dir, ".pawl"), 1234, 1234)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SUDO_UID", "")
	if err := check(t, dir); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Error(err)
	}
	t.Setenv("SUDO_UID", "1234")
	if err := check(t, dir); err != nil {
		t.Error(err)
	}
	for _, name := range []string{".pawl/archive/a.md", ".pawl/plans"} {
		own := t.TempDir()
		write(t, filepath.Join(own, ".pawl/archive/a.md"), "")
		if err := errors.Join(os.Mkdir(filepath.Join(own, ".pawl/plans"), 0o700), os.Chown(filepath.Join(own, name), 5678, 5678)); err != nil {
			t.Fatal(err)
		}
		if err := check(t, own); pawl.CodeOf(err) != pawl.CodeDenied || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckRunsNothing starts no program that a repository names.
func TestCheckRunsNothing(t *testing.T) {
	r := gittest.New(t, map[string]string{"a": "a", ".gitattributes": "* filter=x\n"})
	mark := filepath.Join(t.TempDir(), "ran")
	for _, key := range []string{"core.fsmonitor", "filter.x.clean", "filter.x.smudge", "core.pager", "alias.ls-files"} {
		r.Git("config", key, "!touch "+mark+"; true")
	}
	write(t, r.Path(".git/hooks/post-index-change"), "#!/bin/sh\ntouch "+mark+"\n")
	if err := os.Chmod(r.Path(".git/hooks/post-index-change"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := check(t, r.Dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("a program of the repository ran")
	}
}

// TestPrepareLinks makes no workspace through a link, and deletes no objects behind one: those of another repository,
// or the repository's own.
func TestPrepareLinks(t *testing.T) {
	for _, link := range []string{".pawl", ".pawl/git", ".pawl/git/objects"} {
		other := gittest.New(t, map[string]string{"a": "a", "git/objects/x": "x"})
		for _, target := range []string{other.Path(".git"), "../.git", other.Path("git")} {
			r := gittest.New(t, map[string]string{"a": "a"})
			at := r.Path(link)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(target, at)); err != nil {
				t.Fatal(err)
			}
			before, theirs := gittest.Tree(t, r.Dir), gittest.Tree(t, other.Dir)
			l := known.In(t.TempDir())
			place := effect.Place{Workspace: r.Dir, State: l.State(r.Dir), Tree: r.Dir, Git: true}
			err := workspace.Check(t.Context(), place)
			if link == ".pawl" && err != nil { // without the check, too
				err = workspace.Prepare(l, place)
			}
			if pawl.CodeOf(err) != pawl.CodeDenied {
				t.Errorf("%s: %v", link, err)
			}
			if now := gittest.Tree(t, r.Dir); now != before {
				t.Errorf("%s changed:\n%s", link, now)
			}
			if now := gittest.Tree(t, other.Dir); now != theirs {
				t.Errorf("%s changed elsewhere:\n%s", link, now)
			}
		}
	}
}
