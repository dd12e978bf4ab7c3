package git_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/internal/gittest"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

func TestMain(m *testing.M) {
	// Few by default, because each check runs git dozens of times; the command line can ask for more.
	for name, value := range map[string]string{"rapid.checks": "12", "rapid.shrinktime": "5s",
		"rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(gittest.Isolate(m, nil))
}

func open(t testing.TB, r *gittest.Repo, tree string, isGit bool) *git.Repo {
	t.Helper()
	if tree == "" {
		tree = r.Dir
	}
	repo, err := git.Open(context.Background(), layout.Place{Workspace: r.Dir, Tree: tree, Git: isGit})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func snapshot(t testing.TB, r *git.Repo) string {
	t.Helper()
	tree, err := r.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func wantCode(t *testing.T, err error, code pawl.Code) {
	t.Helper()
	if pawl.CodeOf(err) != code {
		t.Fatalf("error %v, want code %s", err, code)
	}
}

func TestSnapshotEqualsCommit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{
		"a.txt": "a\n", "bin": "\x00\x01\xff", "crlf": "x\r\ny\r\n", "run.sh": "#!/bin/sh\n", "link": "-> a.txt",
		"dangling": "-> /nowhere",
		"d/e/f":    "f", "目录/文件 \"q\"\n": "名", ".gitignore": "*.log\nbuild/\n",
	})
	repo := open(t, r, "", true)
	if got, want := snapshot(t, repo), r.Git("rev-parse", "HEAD^{tree}"); got != want {
		t.Fatalf("snapshot %s, commit's tree %s", got, want)
	}
	r.Write(map[string]string{".pawl/.gitignore": "*\n"}) // as driver/workspace writes it
	before := r.Git("status", "--porcelain")
	r.Write(map[string]string{"new": "n", "x.log": "ignored", "build/o": "ignored", ".pawl/secret": "s",
		"fifo-dir/x": "x"})
	fifo(t, r.Path("fifo"))
	tree := snapshot(t, repo)
	changes, err := repo.Objects.Diff(context.Background(), r.Git("rev-parse", "HEAD^{tree}"), tree)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range changes {
		names = append(names, c.Status+" "+c.Path)
	}
	if got := strings.Join(names, ","); got != "A fifo-dir/x,A new" {
		t.Fatalf("changes %s", got)
	}
	if again := snapshot(t, repo); again != tree {
		t.Fatal("an unchanged tree has another id")
	}
	if before != "" || r.Git("diff", "--cached", "--name-only") != "" {
		t.Fatal("the user's index changed")
	}
}

// Attributes and configuration that make ordinary git convert contents must not touch what is recorded or restored.
func TestSnapshotKeepsBytes(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a\n"})
	r.Git("config", "core.autocrlf", "true")
	r.Git("config", "filter.up.clean", "tr a-z A-Z")
	r.Write(map[string]string{
		".gitattributes": "* text=auto eol=crlf\n*.up filter=up\n*.id ident\n*.enc working-tree-encoding=UTF-16\n",
		"c.txt":          "x\r\ny\r\n", "f.up": "lower", "k.id": "$Id$ $Id: abc $", "w.enc": "plain",
	})
	repo := open(t, r, "", true)
	tree := snapshot(t, repo)
	want := gittest.Tree(t, r.Dir)
	for _, name := range []string{"c.txt", "f.up", "k.id", "w.enc"} {
		r.Write(map[string]string{name: "other\n"})
	}
	if _, err := repo.Restore(context.Background(), git.Restoration{Target: tree}); err != nil {
		t.Fatal(err)
	}
	if got := gittest.Tree(t, r.Dir); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSnapshotOfNothing(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		r := gittest.New(t, map[string]string{"a": "a"})
		if err := os.RemoveAll(r.Path(".git")); err != nil {
			t.Fatal(err)
		}
		r.Git("init", "-q", "--object-format="+format)
		if err := os.Remove(r.Path("a")); err != nil {
			t.Fatal(err)
		}
		tree := snapshot(t, open(t, r, "", true))
		if entries := r.Git("ls-tree", tree); entries != "" {
			t.Errorf("%s: the empty folder's tree has %s", format, entries)
		}
		r.Git("fsck", "--no-dangling")
	}
}

func TestSnapshotTracksIgnoredButTracked(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{".gitignore": "*.gen\n", "a": "a"})
	r.Write(map[string]string{"kept.gen": "v1", "other.gen": "v1"})
	r.Git("add", "-f", "kept.gen")
	repo := open(t, r, "", true)
	one := snapshot(t, repo)
	r.Write(map[string]string{"kept.gen": "v2", "other.gen": "v2"})
	two := snapshot(t, repo)
	if one == two {
		t.Fatal("the change of a tracked file was not seen")
	}
	r.Git("add", "-f", "other.gen")
	if three := snapshot(t, repo); three == two {
		t.Fatal("a file that became tracked was not recorded")
	}
}

// What hides changes from the user's git hides nothing from a snapshot.
func TestSnapshotSeesHiddenChanges(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a", "b": "b"})
	r.Git("update-index", "--assume-unchanged", "a")
	r.Git("update-index", "--skip-worktree", "b")
	repo := open(t, r, "", true)
	one := snapshot(t, repo)
	r.Write(map[string]string{"a": "A"})
	two := snapshot(t, repo)
	r.Write(map[string]string{"b": "B"})
	if three := snapshot(t, repo); one == two || two == three {
		t.Fatal("a hidden change was not recorded")
	}
}

func TestSnapshotOfTypeChanges(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"file": "f", "dir/x": "x", "dir/y": "y", "dir2/x": "x", "link": "-> file"})
	repo := open(t, r, "", true)
	first := snapshot(t, repo)
	os.Remove(r.Path("file"))
	os.RemoveAll(r.Path("dir"))
	os.RemoveAll(r.Path("dir2"))
	os.Remove(r.Path("link"))
	r.Write(map[string]string{"file/inside": "now a folder", "dir": "-> dir2", "dir2": "now a file",
		"link/x": "folder"})
	second := snapshot(t, repo)
	fresh := r.Path(".pawl/git/index")
	os.RemoveAll(fresh)
	if again := snapshot(t, open(t, r, "", true)); again != second {
		t.Fatal("the snapshot depends on what was remembered")
	}
	for _, target := range []string{first, second, first} {
		if _, err := repo.Restore(context.Background(), git.Restoration{Target: target}); err != nil {
			t.Fatal(err)
		}
		if got := snapshot(t, repo); got != target {
			t.Fatalf("restored %s, want %s", got, target)
		}
	}
}

func TestNestedRepositoriesAreLeftAlone(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a"})
	sub := gittest.New(t, map[string]string{"s": "s"})
	r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.Dir, "mod")
	r.Commit("with submodule")
	repo := open(t, r, "", true)
	if got, want := snapshot(t, repo), r.Git("rev-parse", "HEAD^{tree}"); got != want {
		t.Fatalf("snapshot %s, commit's tree %s", got, want)
	}
	first := snapshot(t, repo)
	r.Write(map[string]string{"nest/x": "x", "unborn/x": "x", "a": "changed", "mod/s": "changed inside"})
	for _, dir := range []string{"nest", "unborn"} {
		n := &gittest.Repo{Dir: r.Path(dir)}
		if _, err := n.Try("init", "-q"); err != nil {
			t.Fatal(err)
		}
		if dir == "nest" {
			if out, err := n.Try("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m",
				"x"); err != nil {
				t.Fatal(out)
			}
		}
	}
	second := snapshot(t, repo)
	changes, err := repo.Objects.Diff(context.Background(), first, second)
	if err != nil || len(changes) != 1 || changes[0].Path != "a" {
		t.Fatalf("%+v %v", changes, err)
	}
	if _, err := repo.Restore(context.Background(), git.Restoration{Target: first}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"nest/x": "x", "unborn/x": "x", "a": "a", "mod/s": "changed inside"} {
		if raw, err := os.ReadFile(r.Path(name)); err != nil || string(raw) != want {
			t.Errorf("%s is %q, %v", name, raw, err)
		}
	}
}

func TestSnapshotSurvivesItsCache(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a"})
	repo := open(t, r, "", true)
	want := snapshot(t, repo)
	index := r.Path(".pawl/git/index/")
	entries, err := os.ReadDir(index)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if len(e.Name()) == 16 {
			if err := os.WriteFile(index+"/"+e.Name(), []byte("garbage"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(index+"/"+e.Name()+".lock", nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := snapshot(t, repo); got != want {
		t.Fatal("a damaged cache changed the snapshot")
	}
	// Objects that are gone are made again, too.
	r.Write(map[string]string{"b": "only here"})
	want = snapshot(t, repo)
	for _, ref := range strings.Fields(r.Own("for-each-ref", "--format=%(refname)", "refs/pawl")) {
		r.Own("update-ref", "-d", ref)
	}
	r.Own("gc", "-q", "--prune=now")
	if got := snapshot(t, repo); got != want {
		t.Fatal("another snapshot after garbage collection")
	}
	if got := r.Own("cat-file", "-p", want+":b"); got != "only here" {
		t.Fatal("the snapshot's objects are gone")
	}
}

func TestSnapshotWithoutGit(t *testing.T) {
	t.Parallel()
	r := &gittest.Repo{Dir: t.TempDir()}
	gittest.Write(t, r.Dir, map[string]string{"a": "a", "b/c": "c", ".gitignore": "*.log\n", "x.log": "log"})
	repo := open(t, r, "", false)
	one := snapshot(t, repo)
	want := gittest.Tree(t, r.Dir)
	gittest.Write(t, r.Dir, map[string]string{"a": "changed", "n/m": "new"})
	os.RemoveAll(r.Path("b"))
	snapshot(t, repo)
	if _, err := repo.Restore(context.Background(), git.Restoration{Target: one}); err != nil {
		t.Fatal(err)
	}
	if got := gittest.Tree(t, r.Dir); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := os.Stat(r.Path(".git")); err == nil {
		t.Fatal("a repository was made")
	}
}

func TestOpenRefuses(t *testing.T) {
	r := gittest.New(t, map[string]string{"a": "a", "sub/b": "b"})
	ctx := context.Background()
	bare := t.TempDir()
	r.Git("clone", "-q", "--bare", r.Dir, bare)
	for name, p := range map[string]layout.Place{
		"sub folder": {Workspace: r.Path("sub"), Tree: r.Path("sub"), Git: true},
		"no git":     {Workspace: t.TempDir(), Git: true},
		"bare":       {Workspace: bare, Tree: bare, Git: true},
	} {
		if p.Tree == "" {
			p.Tree = p.Workspace
		}
		if _, err := git.Open(ctx, p); pawl.CodeOf(err) != pawl.CodeRepository {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, tree := range []string{t.TempDir(), r.Path("sub"), r.Path(".pawl/git/x"), r.Path(".pawl/../.."),
		r.Path(".git")} {
		if _, err := git.Open(ctx, layout.Place{Workspace: r.Dir, Tree: tree,
			Git: true}); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%s: %v", tree, err)
		}
	}
	if top, ok := layout.Top(r.Path("sub")); !ok || top != r.Dir {
		t.Errorf("top of sub is %q %v", top, ok)
	}
	if _, ok := layout.Top("/"); ok {
		t.Error("the root is a repository")
	}
	t.Setenv("PATH", t.TempDir())
	_, err := git.Open(ctx, layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
	wantCode(t, err, pawl.CodeEnvironment)
}

func TestStatus(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a", "b": "b", "c": "c", "touched": "t", ".gitignore": "*.log\n"})
	repo := open(t, r, "", true)
	ctx := context.Background()
	s, err := repo.Status(ctx)
	if err != nil || s.Branch != "main" || s.Head != r.Head() || s.Detached || s.Unborn || s.Operation != "" ||
		len(s.Dirty)+len(s.Untracked) > 0 {
		t.Fatalf("%+v %v", s, err)
	}
	later := time.Now().Add(3 * time.Second)
	if err := os.Chtimes(r.Path("touched"), later, later); err != nil {
		t.Fatal(err)
	}
	r.Write(map[string]string{"a": "changed", "new 文": "n", "x.log": "l"})
	r.Git("rm", "-q", "--cached", "b")
	os.Remove(r.Path("c"))
	raw, _ := os.ReadFile(r.Path(".git/index"))
	s, err = repo.Status(ctx)
	if err != nil || strings.Join(s.Dirty, ",") != "a,b,c" || strings.Join(s.Untracked, ",") != "b,new 文" {
		t.Fatalf("%+v %v", s, err)
	}
	if after, _ := os.ReadFile(r.Path(".git/index")); string(after) != string(raw) {
		t.Fatal("looking changed the user's index")
	}
	r.Git("checkout", "-q", "--detach")
	if s, err = repo.Status(ctx); err != nil || !s.Detached || s.Branch != "" {
		t.Fatalf("%+v %v", s, err)
	}
	for file, want := range map[string]string{"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick",
		"REVERT_HEAD": "revert", "BISECT_LOG": "bisect"} {
		os.WriteFile(r.Path(".git/"+file), []byte(s.Head+"\n"), 0o600)
		if s, err := repo.Status(ctx); err != nil || s.Operation != want {
			t.Errorf("%s: %+v %v", file, s, err)
		}
		wantCode(t, repo.Ready(ctx), pawl.CodeRepository)
		os.Remove(r.Path(".git/" + file))
	}
	if err := repo.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	r.Git("checkout", "-q", "--orphan", "fresh")
	if s, err = repo.Status(ctx); err != nil || !s.Unborn || s.Branch != "fresh" {
		t.Fatalf("%+v %v", s, err)
	}
	wantCode(t, repo.Ready(ctx), pawl.CodeRepository)
}

func TestFilesAndPatch(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "one\ntwo\n", "b": "b", ".gitignore": "*.log\n"})
	repo := open(t, r, "", true)
	from := snapshot(t, repo)
	os.Remove(r.Path("b"))
	r.Write(map[string]string{"a": "one\nthree\n", "中文": "x\n", "bin": "\x00\x01", "l.log": ""})
	files, err := repo.Files(context.Background())
	if err != nil || strings.Join(files, ",") != ".gitignore,a,bin,中文" {
		t.Fatalf("%q %v", files, err)
	}
	patch, cut, err := repo.Objects.Patch(context.Background(), from, snapshot(t, repo), 1<<20)
	if err != nil || cut || !strings.Contains(patch, "-two\n+three\n") || !strings.Contains(patch, "+++ b/中文") {
		t.Fatalf("%s %v", patch, err)
	}
	if short, cut, err := repo.Objects.Patch(context.Background(), from, snapshot(t, repo), 10); err != nil || !cut ||
		len(short) != 10 {
		t.Fatalf("%q %v %v", short, cut, err)
	}
	changes, err := repo.Objects.Diff(context.Background(), from, snapshot(t, repo))
	if err != nil || len(changes) != 4 || changes[0].Path != "a" || changes[0].Status != "M" || changes[0].Added != 1 ||
		changes[0].Removed != 1 || changes[0].Old.ID == changes[0].New.ID || !changes[2].Binary {
		t.Fatalf("%+v %v", changes, err)
	}
}

// TestRecorded: what was recorded is read without a look at the user's configuration and without a write, and a
// directory that came in the place of pawl's own has no say.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := gittest.At(t, dir)
			r.Git("init", "-q", "--object-format="+format, "-b", "main")
			r.Write(map[string]string{"a": "one\n"})
			repo := open(t, r, "", true)
			from := snapshot(t, repo)
			r.Write(map[string]string{"a": "two\n"})
			to := snapshot(t, repo)
			var calls []string
			ctx := gittest.Trace(t.Context(), func(name string) { calls = append(calls, name) })
			read := func() {
				t.Helper()
				calls = nil
				o, err := git.Recorded(ctx, layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
				if err != nil {
					t.Fatal(err)
				}
				if patch, cut, err := o.Patch(ctx, from, to, 1<<20); err != nil || cut ||
					!strings.Contains(patch, "-one\n+two\n") {
					t.Fatalf("%q %v %v", patch, cut, err)
				}
			}
			read()
			if got := strings.Join(calls, ", "); got != "git diff-tree" {
				t.Errorf("it took %s", got)
			}
			for name, content := range map[string]string{
				"config": "[diff \"x\"]\n\tbinary = true\n", "info/attributes": "a diff=x\n", "HEAD": "",
			} {
				path := filepath.Join(repo.State("."), name)
				good, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				gittest.Write(t, repo.State("."), map[string]string{name: content})
				read()
				if again, err := os.ReadFile(path); err != nil || string(again) != string(good) {
					t.Errorf("%s stays as it came: %q %v", name, again, err)
				}
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				read()
			}
		})
	}
	if _, err := git.Recorded(t.Context(), layout.Place{Workspace: t.TempDir(), Git: true}); err == nil {
		t.Error("there is something where nothing is")
	}
}
