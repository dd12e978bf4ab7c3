package git_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pawl/internal/gittest"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// remembered is a repository whose tree is recorded with a memory.
type remembered struct {
	*gittest.Repo
	t      *testing.T
	memory git.Memory
	calls  []string // of git, in the last snapshot
}

func (r *remembered) snapshot() string {
	r.t.Helper()
	r.calls = nil
	ctx := gittest.Trace(context.Background(), func(step string) {
		if verb, ok := strings.CutPrefix(step, "git "); ok {
			r.calls = append(r.calls, verb)
		}
	})
	repo, err := r.memory.Open(ctx, layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
	if err != nil {
		r.t.Fatal(err)
	}
	tree, err := repo.Snapshot(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	return tree
}

// truth is a snapshot by git alone, which has forgotten everything and reads every file.
func (r *remembered) truth() string {
	r.t.Helper()
	if err := os.RemoveAll(r.Path(".pawl/git/index")); err != nil {
		r.t.Fatal(err)
	}
	return snapshot(r.t, open(r.t, r.Repo, "", true))
}

func (r *remembered) asked(verb string) bool {
	for _, c := range r.calls {
		if c == verb {
			return true
		}
	}
	return false
}

// try fails the test when a change of the file system cannot be made.
func (r *remembered) try(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// settle waits until changes show in the times of files.
func settle() { time.Sleep(250 * time.Millisecond) }

// template is the repository that the tests copy.
func template(t *testing.T) string {
	r := gittest.New(t, map[string]string{
		".gitignore": "*.log\nbuild/\ncache/\n/.pawl\n", "a": "one", "b": "two", "run.sh": "#!/bin/sh\n",
		"link": "-> a", "d/e/f": "f", "d/g": "g",
		"d.x/y": "sorts between d and d/", "swap/f": "f", "kept.log": "kept", "build/kept": "kept",
	})
	r.Git("add", "-f", "kept.log", "build/kept")
	r.Git("commit", "-qm", "ignored but tracked")
	r.Write(map[string]string{"x.log": "ignored", "build/out": "ignored", "untracked": "u", "empty/": "",
		"vendor/.gitignore": "*\n", "vendor/v": "v",
		"cache/c/c": "c", ".git/info/exclude": "*.loc\n", "x.loc": "ignored", ".git/mine": "*.usr\n",
		"x.usr": "ignored"})
	return r.Dir
}

func newRemembered(t *testing.T, template string) *remembered {
	r := &remembered{t: t, Repo: gittest.At(t, gittest.Copy(t, template))}
	r.Git("config", "core.excludesFile", r.Path(".git/mine"))
	return r
}

// A change is seen whatever it is, whether it comes long after the last look or in the same moment. Those that need
// nobody's judgment are seen without asking git.
func TestMemorySeesEveryChange(t *testing.T) {
	t.Parallel()
	const unasked, differs = true, true
	cases := []struct {
		name             string
		unasked, differs bool
		change           func(r *remembered)
	}{
		{"nothing", unasked, !differs, func(*remembered) {}},
		{"same size and time", unasked, differs, func(r *remembered) {
			info, err := os.Stat(r.Path("a"))
			r.try(err)
			r.try(os.WriteFile(r.Path("a"), []byte("eno"), 0o644))
			r.try(os.Chtimes(r.Path("a"), info.ModTime(), info.ModTime()))
		}},
		{"touched", unasked, !differs, func(r *remembered) { r.try(os.Chtimes(r.Path("a"), time.Now(), time.Now())) }},
		{"executable", unasked, differs, func(r *remembered) { r.try(os.Chmod(r.Path("a"), 0o755)) }},
		{"not executable", unasked, differs, func(r *remembered) { r.try(os.Chmod(r.Path("run.sh"), 0o644)) }},
		{"private", unasked, !differs, func(r *remembered) { r.try(os.Chmod(r.Path("a"), 0o600)) }},
		{"another target", unasked, differs, func(r *remembered) { r.Write(map[string]string{"link": "-> b"}) }},
		{"a link for a file", unasked, differs, func(r *remembered) { r.Write(map[string]string{"d/e/f": "-> ../g"}) }},
		{"a file for a link", unasked, differs, func(r *remembered) {
			r.try(os.Remove(r.Path("link")))
			r.Write(map[string]string{"link": "a"})
		}},
		{"deep", unasked, differs, func(r *remembered) {
			r.Write(map[string]string{"d/e/f": "g", "d/g": "f",
				"untracked": ""})
		}},
		{"replaced", unasked, differs, func(r *remembered) {
			r.Write(map[string]string{".git/new": "eno"})
			r.try(os.Rename(r.Path(".git/new"), r.Path("a")))
		}},
		{"exchanged", unasked, differs, func(r *remembered) {
			r.try(os.Rename(r.Path("a"), r.Path(".git/a")))
			r.try(os.Rename(r.Path("b"), r.Path("a")))
			r.try(os.Rename(r.Path(".git/a"), r.Path("b")))
		}},
		{"ignored content", unasked, !differs,
			func(r *remembered) { r.Write(map[string]string{"x.log": "more", "build/out": "more", "vendor/v": "w"}) }},
		{"tracked though ignored", unasked, differs,
			func(r *remembered) { r.Write(map[string]string{"kept.log": "v2", "build/kept": "v2"}) }},
		{"removed", !unasked, differs, func(r *remembered) { r.try(os.Remove(r.Path("a"))) }},
		{"removed folder", !unasked, differs, func(r *remembered) { r.try(os.RemoveAll(r.Path("d/e"))) }},
		{"folder for a file", !unasked, differs, func(r *remembered) {
			r.try(os.Remove(r.Path("a")))
			r.Write(map[string]string{"a/b": "one"})
		}},
		{"file for a folder", !unasked, differs, func(r *remembered) {
			r.try(os.RemoveAll(r.Path("swap")))
			r.Write(map[string]string{"swap": "f"})
		}},
		{"link for a folder", !unasked, differs, func(r *remembered) {
			r.try(os.Rename(r.Path("swap"), r.Path(".git/swap")))
			r.Write(map[string]string{"swap": "-> .git/swap"})
		}},
		{"special for a file", !unasked, differs, func(r *remembered) {
			r.try(os.Remove(r.Path("a")))
			fifo(r.t, r.Path("a"))
		}},
		{"new", !unasked, differs, func(r *remembered) { r.Write(map[string]string{"d/e/new": "n"}) }},
		{"new and gone", unasked, !differs, func(r *remembered) {
			r.Write(map[string]string{"d/e/new": "n"})
			r.try(os.Remove(r.Path("d/e/new")))
		}},
		{"new ignored", !unasked, !differs,
			func(r *remembered) { r.Write(map[string]string{"d/y.log": "y", "build/new": "n"}) }},
		{"new in an ignored folder", unasked, !differs,
			func(r *remembered) { r.Write(map[string]string{"cache/c/d": "new", "cache/x/y": "new"}) }},
		{"new folder", !unasked, !differs, func(r *remembered) { r.Write(map[string]string{"d/n/": ""}) }},
		{"new nested repository", !unasked, !differs, func(r *remembered) {
			r.Git("init", "-q", "inner")
			r.Write(map[string]string{"inner/i": "i"})
		}},
		{"file for an ignored folder", !unasked, differs, func(r *remembered) {
			r.try(os.RemoveAll(r.Path("cache")))
			r.Write(map[string]string{"cache": "not a folder"})
		}},
		{"folder for a file in an ignored one", !unasked, differs, func(r *remembered) {
			r.try(os.Remove(r.Path("build/kept")))
			r.Write(map[string]string{"build/kept/k": "now"})
		}},
		{"ignore file", !unasked, differs,
			func(r *remembered) { r.Write(map[string]string{".gitignore": "build/\n/.pawl\n"}) }},
		{"ignore file of the repository", !unasked, differs,
			func(r *remembered) { r.Write(map[string]string{".git/info/exclude": "nothing\n"}) }},
		{"ignore file below an ignored name", !unasked, differs,
			func(r *remembered) { r.Write(map[string]string{"vendor/.gitignore": "!v\n"}) }},
		{"ignore file of the user", !unasked, differs,
			func(r *remembered) { r.Write(map[string]string{".git/mine": "nothing\n"}) }},
		{"another ignore file of the user", !unasked, differs,
			func(r *remembered) { r.Git("config", "core.excludesFile", "/nowhere") }},
		{"ignored becomes tracked", !unasked, differs, func(r *remembered) { r.Git("add", "-f", "x.log") }},
	}
	from, repos := template(t), map[string]*remembered{}
	for _, c := range cases {
		for _, moment := range []string{"later", "at once"} {
			repos[c.name+", "+moment] = newRemembered(t, from)
		}
	}
	settle()
	for _, c := range cases {
		for _, moment := range []string{"later", "at once"} {
			t.Run(c.name+", "+moment, func(t *testing.T) {
				t.Parallel()
				r := repos[c.name+", "+moment]
				r.t = t
				if moment == "at once" {
					r.Write(map[string]string{"a": "one", "b": "two", "link": "-> a", "d/e/f": "f", "kept.log": "kept",
						"swap/f": "f", "run.sh": "#!/bin/sh\n"})
				}
				before := r.snapshot()
				c.change(r)
				after := r.snapshot()
				asked := r.asked("status")
				if again := r.snapshot(); again != after {
					t.Errorf("a second look finds %s, the first %s", again, after)
				}
				if truth := r.truth(); after != truth {
					t.Errorf("recorded %s, git records %s:\n%s", after, truth, r.Git("diff-tree", "-r", after, truth))
				}
				if c.differs && before == after {
					t.Error("the change was not seen")
				}
				if !c.differs && before != after {
					t.Error("a change was seen")
				}
				if runtime.GOOS == "linux" && asked == c.unasked {
					t.Errorf("git was asked: %v", asked)
				}
				if c.unasked && c.differs {
					r.Git("fsck", "--strict", "--no-dangling")
				}
			})
		}
	}
}

// Contents that follow each other faster than the clock of the file system ticks, with the same size and the same time,
// are told apart, also where git has to look because of something else.
func TestMemorySeesWritesWithinATick(t *testing.T) {
	t.Parallel()
	r := newRemembered(t, template(t))
	settle()
	r.snapshot()
	at := time.Unix(1e9, 0)
	for i := range 60 {
		content := fmt.Sprintf("%03d", i)
		f, err := os.OpenFile(r.Path("a"), os.O_WRONLY, 0)
		r.try(err)
		_, err = f.WriteString(content)
		r.try(err)
		r.try(f.Close())
		r.try(os.Chtimes(r.Path("a"), at, at))
		looks := 1
		switch {
		case i%20 > 15: // git has to look, too
			r.Write(map[string]string{fmt.Sprintf("new%d", i): "n"})
		case i%20 > 10: // and once more, when nothing else has changed
			looks = 2
		}
		for look := range looks {
			if look > 0 {
				r.Write(map[string]string{fmt.Sprintf("new%d", i): "n"})
			}
			if got := r.Own("cat-file", "blob", r.snapshot()+":a"); got != content {
				t.Fatalf("look %d recorded %q for %q", look, got, content)
			}
		}
	}
}

// What was recorded without git is read by git when it looks, however long ago it changed: git knows older contents,
// and tells times apart by whole seconds.
func TestMemoryTellsGitWhatItKnows(t *testing.T) {
	t.Parallel()
	r := newRemembered(t, template(t))
	settle()
	r.snapshot()
	r.Write(map[string]string{"a": "eno"})
	r.snapshot()
	settle()
	r.snapshot()
	r.Write(map[string]string{"new": "n"})
	after := r.snapshot()
	if runtime.GOOS == "linux" && (len(r.calls) < 2 || r.calls[0] != "update-index" || r.calls[1] != "status") {
		t.Errorf("git was asked for %v", r.calls)
	}
	if truth := r.truth(); after != truth {
		t.Errorf("recorded %s, git records %s", after, truth)
	}
}

// Whether a folder is a nested repository depends on what is inside, and is left to git.
func TestMemoryLeavesNestedRepositoriesToGit(t *testing.T) {
	t.Parallel()
	r := newRemembered(t, template(t))
	r.Git("init", "-q", "d/inner")
	r.Write(map[string]string{"d/inner/i": "i"})
	settle()
	before := r.snapshot()
	r.try(os.Remove(r.Path("d/inner/.git/HEAD")))
	after := r.snapshot()
	if truth := r.truth(); before == after || after != truth {
		t.Errorf("recorded %s and %s, git records %s", before, after, truth)
	}
}

// Whatever is done in whatever order, memory and git agree.
func TestMemoryAgreesWithGit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	r := newRemembered(t, template(t))
	settle()
	names := []string{"a", "b", "d/g", "d/e/f", "d/e/n", "d/h/i", "x.log", "d/y.log", "build/out", "cache/c/c", "link",
		"swap", "swap/f", "vendor/v"}
	for i := range 60 {
		for range 1 + random.IntN(3) {
			path := r.Path(names[random.IntN(len(names))])
			switch random.IntN(6) {
			case 0:
				_ = os.RemoveAll(path)
			case 1:
				_ = os.Chmod(path, 0o755)
			case 2:
				_ = os.Remove(path)
				_ = os.Symlink("a", path)
			default:
				_ = os.MkdirAll(filepath.Dir(path), 0o755) // what is in the way stays in the way
				_ = os.WriteFile(path, fmt.Append(nil, i), 0o644)
			}
		}
		got := r.snapshot()
		if i%4 == 3 {
			if want := r.truth(); got != want {
				t.Fatalf("step %d: recorded %s, git records %s:\n%s", i, got, want, r.Git("diff-tree", "-r", got, want))
			}
		}
	}
	r.Git("fsck", "--strict", "--no-dangling")
}

func TestMemoryInOtherStores(t *testing.T) {
	t.Parallel()
	make256 := func(dir string) *gittest.Repo {
		r := gittest.At(t, dir)
		r.Git("init", "-q", "--object-format=sha256")
		return r
	}
	shared := gittest.New(t, map[string]string{"a": "a", "d/b": "b"})
	for name, repo := range map[string]*gittest.Repo{"sha256": make256(t.TempDir()),
		"alternates": gittest.At(t, t.TempDir())} {
		r := &remembered{t: t, Repo: repo}
		if name == "alternates" {
			r.Git("clone", "-q", "--shared", shared.Dir, ".")
		}
		r.Write(map[string]string{"a": "a", "d/b": "b"})
		r.snapshot()
		r.Write(map[string]string{"a": "changed", "d/b": "changed"})
		after := r.snapshot()
		if r.asked("status") && runtime.GOOS == "linux" {
			t.Errorf("%s: git was asked", name)
		}
		r.Git("fsck", "--strict", "--no-dangling")
		if truth := r.truth(); truth != after {
			t.Errorf("%s: recorded %s, git records %s", name, after, truth)
		}
	}
}

// A snapshot from memory leaves what any other leaves: a reference that keeps it, permissions to restore, and a note
// that spares it from Prune.
func TestMemoryLeavesASnapshot(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRemembered(t, template(t))
	settle()
	r.try(os.Chmod(r.Path("b"), 0o600))
	r.snapshot()
	r.Write(map[string]string{"a": "changed"})
	r.try(os.Chmod(r.Path("d/g"), 0o640))
	after := r.snapshot()
	want := gittest.Tree(t, r.Dir)
	r.Git("gc", "-q", "--prune=now")
	repo := open(t, r.Repo, "", true)
	if _, err := repo.Refs.Prune(ctx, time.Now().Add(30*24*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	if kept := r.Own("for-each-ref", "--format=%(objectname)", "refs/pawl/trees"); !strings.Contains(kept, after) {
		t.Errorf("kept are %s, not %s", kept, after)
	}
	r.Write(map[string]string{"a": "other", "b": "other"})
	r.try(os.Chmod(r.Path("b"), 0o644))
	r.try(os.Chmod(r.Path("d/g"), 0o644))
	r.try(os.Remove(r.Path("empty")))
	if _, err := repo.Restore(ctx, git.Restoration{Target: after}); err != nil {
		t.Fatal(err)
	}
	if got := gittest.Tree(t, r.Dir); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	if now := r.snapshot(); now != after {
		t.Errorf("after the restoration the tree is %s, not %s", now, after)
	}
}

// What the configuration says is read again when one of its files changed, came or went.
func TestMemoryReadsChangedConfiguration(t *testing.T) {
	r := &remembered{t: t, Repo: gittest.New(t, map[string]string{"a": "a"})}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	r.Git("config", "--unset", "user.name")
	r.Git("config", "include.path", "more")
	name := func() string {
		repo, err := r.memory.Open(context.Background(), layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
		r.try(err)
		return repo.Identity().Name
	}
	write := func(path, name string) func() {
		return func() {
			r.try(os.MkdirAll(filepath.Dir(path), 0o755))
			r.try(os.WriteFile(path, []byte("[user]\n\tname = "+name+"\n"), 0o600))
		}
	}
	steps := []struct {
		want   string
		change func()
	}{
		{"pawl", func() {}},
		{"Xdg", write(home+"/.config/git/config", "Xdg")},
		{"Home", write(home+"/.gitconfig", "Home")},
		{"Emoh", write(home+"/.gitconfig", "Emoh")},
		{"Included", write(r.Path(".git/more"), "Included")},
		{"Emoh", func() { r.try(os.Remove(r.Path(".git/more"))) }},
		{"Own", func() { r.Git("config", "user.name", "Own") }},
	}
	for i, s := range steps {
		s.change()
		for range 2 {
			if got := name(); got != s.want {
				t.Fatalf("step %d: the name is %q, not %q", i, got, s.want)
			}
		}
		settle()
		name()
	}
	r.snapshot()
	r.snapshot()
	if runtime.GOOS == "linux" && len(r.calls) > 0 {
		t.Errorf("git was asked for %v though nothing changed", r.calls)
	}
}
