package commit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/driver/commit"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
)

func TestMain(m *testing.M) {
	os.Exit(gittest.Isolate(m, map[string]gittest.Scene{"effect": scene,
		"refused": func(ctx context.Context, dir string) error {
			if err := scene(ctx, dir); pawl.CodeOf(err) != pawl.CodeIO {
				return fmt.Errorf("it was not refused: %w", err)
			}
			return nil
		}}))
}

const effectFile = ".pawl/test-effect.json"

var when = time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC)

type driver interface {
	Do(context.Context, effect.Effect, effect.Progress) effect.Receipt
	Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt)
}

func driverOf(k effect.Kind) driver {
	if k == effect.KindRewind {
		return commit.NewRewind(nil)
	}
	return commit.New(nil)
}

// scene does the effect that stands in the folder.
func scene(ctx context.Context, dir string) error {
	e, err := standing(dir)
	if err != nil {
		return err
	}
	return driverOf(e.Kind).Do(ctx, e, nil).Err()
}

// standing reads the effect that stands in a folder, which may be a copy of another.
func standing(dir string) (effect.Effect, error) {
	var e effect.Effect
	raw, err := os.ReadFile(filepath.Join(dir, effectFile))
	if err == nil {
		err = json.Unmarshal(raw, &e)
	}
	e.Place = effect.Place{Workspace: dir, Tree: dir, Git: true}
	return e, err
}

func put(t *testing.T, r *gittest.Repo, e effect.Effect) effect.Effect {
	t.Helper()
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, r.Dir, map[string]string{effectFile: string(raw)})
	e.Place = place(r)
	return e
}

func place(r *gittest.Repo) effect.Place {
	return effect.Place{Workspace: r.Dir, Tree: r.Dir, Git: true}
}

var files = map[string]string{"a": "a\n", "b": "b\n", "gone": "g\n", ".gitignore": "*.log\n/.pawl\n"}

// committing is the effect that commits what stands in a repository.
func committing(t *testing.T, r *gittest.Repo, all bool) effect.Effect {
	t.Helper()
	s, err := commit.Look(t.Context(), nil, place(r), all)
	if err != nil {
		t.Fatal(err)
	}
	return put(t, r, effect.Effect{ID: "01E", Kind: effect.KindCommit, Spec: effect.Encode(effect.CommitSpec{
		Branch: s.Branch, Parent: s.Head, From: s.From, Tree: s.Tree, All: !s.Staged, Message: "feat: x\n",
		By: effect.CommitBy{Name: "Ada", Email: "ada@example.org"}, At: when,
	})})
}

// changed is a repository with changes of every kind.
func changed(t *testing.T) *gittest.Repo {
	r := gittest.New(t, files)
	r.Write(map[string]string{"a": "changed\n", "new/文": "n\n", "x.log": "ignored\n"})
	if err := os.Remove(r.Path("gone")); err != nil {
		t.Fatal(err)
	}
	return r
}

// again does what the runner does after a crash, and returns the result.
func again[T any](t *testing.T, dir string) T {
	t.Helper()
	e, err := standing(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := driverOf(e.Kind)
	answer, r := d.Done(t.Context(), e)
	if answer != effect.DoneYes {
		r = d.Do(t.Context(), e, nil)
	}
	if err := r.Err(); err != nil {
		t.Fatalf("answer %s: %v", answer, err)
	}
	out, err := effect.Decode[T](r.Result)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func clean(t *testing.T, r *gittest.Repo) {
	t.Helper()
	if s := r.Git("status", "--porcelain"); s != "" {
		t.Errorf("git finds changes:\n%s", s)
	}
	for _, lock := range []string{"index.lock", "index.pawl"} {
		if _, err := os.Stat(r.Path(".git/" + lock)); err == nil {
			t.Errorf("%s is left", lock)
		}
	}
	r.Git("fsck", "--strict")
}

func TestCommitsEverything(t *testing.T) {
	r := changed(t)
	e := committing(t, r, false)
	d := commit.New(nil)
	if a, _ := d.Done(t.Context(), e); a != effect.DoneNo {
		t.Errorf("before: %s", a)
	}
	first := again[effect.CommitResult](t, r.Dir)
	if first.Commit != r.Head() || len(first.Files) != 3 || r.Git("log", "-1", "--format=%an %s") != "Ada feat: x" {
		t.Errorf("%+v", first)
	}
	clean(t, r)
	if a, _ := d.Done(t.Context(), e); a != effect.DoneYes {
		t.Errorf("after: %s", a)
	}
	if second := again[effect.CommitResult](t, r.Dir); second.Commit != first.Commit ||
		r.Git("rev-list", "--count", "HEAD") != "2" {
		t.Errorf("done twice: %+v", second)
	}
}

func TestCommitsWhatIsStagedAlone(t *testing.T) {
	r := changed(t)
	r.Write(map[string]string{"b": "changed\n"})
	r.Git("add", "a", "b")
	r.Write(map[string]string{"a": "changed again\n"})
	s, err := commit.Look(t.Context(), nil, place(r), false)
	if want := []string{"a", "gone", "new/文"}; err != nil || !s.Staged || len(s.Files) != 2 ||
		!slices.Equal(s.Beside, want) {
		t.Fatalf("%+v %v", s, err)
	}
	committing(t, r, false)
	again[effect.CommitResult](t, r.Dir)
	if got := r.Git("show", "HEAD:a"); got != "changed" {
		t.Errorf("committed %q", got)
	}
	if got := r.Git("status", "--porcelain"); got != " M a\n D gone\n?? new/" {
		t.Errorf("what is left:\n%s", got)
	}
}

func TestCommitsFirst(t *testing.T) {
	r := gittest.At(t, t.TempDir())
	r.Git("init", "-q", "-b", "main")
	gittest.Configure(t, r.Dir)
	r.Write(files)
	committing(t, r, false)
	again[effect.CommitResult](t, r.Dir)
	if n := r.Git("rev-list", "--count", "main"); n != "1" {
		t.Errorf("%s commits", n)
	}
	clean(t, r)
}

func TestCommitRefuses(t *testing.T) {
	for what, c := range map[string]struct {
		meanwhile func(r *gittest.Repo)
		code      pawl.Code
	}{
		"files that changed": {func(r *gittest.Repo) { r.Write(map[string]string{"b": "later\n"}) },
			pawl.CodeConflict},
		"a branch that moved": {func(r *gittest.Repo) { r.Git("commit", "-q", "--allow-empty", "-m", "other") },
			pawl.CodeConflict},
		"another branch": {func(r *gittest.Repo) { r.Git("checkout", "-q", "-b", "other") }, pawl.CodeConflict},
		"a lock": {func(r *gittest.Repo) { r.Write(map[string]string{".git/index.lock": ""}) },
			pawl.CodeBusy},
		"a merge": {func(r *gittest.Repo) {
			r.Write(map[string]string{".git/MERGE_HEAD": r.Head() +
				"\n"})
		}, pawl.CodeRepository},
		"line ends": {func(r *gittest.Repo) { r.Git("config", "core.autocrlf", "true") },
			pawl.CodeRepository},
		"a hidden file": {func(r *gittest.Repo) { r.Git("update-index", "--assume-unchanged", "a") },
			pawl.CodeRepository},
	} {
		t.Run(what, func(t *testing.T) {
			r := changed(t)
			e := committing(t, r, false)
			c.meanwhile(r)
			before, index := gittest.Tree(t, r.Dir), r.Git("rev-parse", "HEAD")
			got := commit.New(nil).Do(t.Context(), e, nil)
			if got.Code != c.code {
				t.Fatalf("%v", got.Err())
			}
			if gittest.Tree(t, r.Dir) != before || r.Git("rev-parse", "HEAD") != index {
				t.Error("something changed")
			}
		})
	}
}

// A repository is hostile input: neither its hooks nor its programs run.
func TestRunsNothingOfTheRepository(t *testing.T) {
	r := shared(t)
	mark := r.Path(".pawl/ran")
	hook := "#!/bin/sh\necho ran >> " + mark + "\n"
	for _, name := range []string{"pre-commit", "commit-msg", "post-commit", "prepare-commit-msg", "pre-push",
		"reference-transaction", "post-checkout", "pre-rebase", "post-rewrite"} {
		gittest.Write(t, r.Dir, map[string]string{".git/hooks/" + name: hook})
		if err := os.Chmod(r.Path(".git/hooks/"+name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The remote is a folder that came with the repository, with hooks of its own.
	for _, name := range []string{"pre-receive", "update", "post-receive", "post-update", "reference-transaction"} {
		gittest.Write(t, r.Dir, map[string]string{".pawl/remote.git/hooks/" + name: hook})
		if err := os.Chmod(r.Path(".pawl/remote.git/hooks/"+name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	gittest.Write(t, r.Dir, map[string]string{".pawl/evil": hook})
	if err := os.Chmod(r.Path(".pawl/evil"), 0o755); err != nil {
		t.Fatal(err)
	}
	evil := r.Path(".pawl/evil")
	for _, key := range []string{"core.fsmonitor", "core.sshCommand", "core.askPass", "core.editor", "core.pager",
		"gpg.program", "remote.origin.receivepack", "remote.origin.uploadpack", "core.gitProxy"} {
		r.Git("config", key, evil)
	}
	r.Git("config", "credential.helper", "!"+evil)
	r.Git("config", "commit.gpgSign", "true")
	r.Git("config", "push.gpgSign", "if-asked")
	_ = os.Remove(mark) // what the user's own git ran just now
	r.Write(map[string]string{"a": "mine\n"})
	committing(t, r, false)
	done := again[effect.CommitResult](t, r.Dir)
	pushing(t, r, done.Commit)
	if again[effect.CommitResult](t, r.Dir); !strings.HasPrefix(remoteHead(t, r), done.Commit) {
		t.Error("not pushed")
	}
	if raw, err := os.ReadFile(mark); err == nil {
		t.Errorf("something of the repository ran: %q", raw)
	}
	// A remote that is a command is refused.
	r.Git("config", "remote.origin.url", "ext::"+evil)
	r.Git("config", "protocol.ext.allow", "always")
	pushing(t, r, done.Commit)
	e, _ := standing(r.Dir)
	if got := commit.New(nil).Do(t.Context(), e, nil); got.OK {
		t.Error("a command for a remote was taken")
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the remote's command ran")
	}
}

func TestKilledWhileCommitting(t *testing.T) {
	t.Parallel()
	r := changed(t)
	committing(t, r, false)
	gittest.KillEverywhere(t, "effect", r.Dir, func(t *testing.T, dir string) {
		r := gittest.At(t, dir)
		if done := again[effect.CommitResult](t, dir); done.Commit != r.Head() ||
			r.Git("rev-list", "--count", "HEAD") != "2" {
			t.Errorf("%+v", done)
		}
		clean(t, r)
	})
}

// shared is a repository with a remote, which lies in it so that it is copied with it.
func shared(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t, files)
	if out, err := gittest.At(t, r.Dir).Try("clone", "-q", "--bare", ".", ".pawl/remote.git"); err != nil {
		t.Fatal(out)
	}
	r.Git("remote", "add", "origin", ".pawl/remote.git")
	return r
}

// theirs pushes a commit of somebody else's.
func theirs(t *testing.T, r *gittest.Repo, files map[string]string) {
	t.Helper()
	other := gittest.At(t, t.TempDir())
	other.Git("clone", "-q", "-b", "main", r.Path(".pawl/remote.git"), ".")
	other.Git("config", "user.name", "Bob")
	other.Git("config", "user.email", "bob@example.org")
	other.Write(files)
	other.Commit("theirs")
	other.Git("push", "-q", "origin", "main")
}

func remoteHead(t *testing.T, r *gittest.Repo) string {
	t.Helper()
	return r.Git("--git-dir="+r.Path(".pawl/remote.git"), "rev-parse", "main")
}

func pushing(t *testing.T, r *gittest.Repo, head string) effect.Effect {
	t.Helper()
	return put(t, r, effect.Effect{ID: "02E", Kind: effect.KindCommit, Spec: effect.Encode(effect.CommitSpec{
		Branch: "main", Parent: head, At: when, Push: &effect.Push{Remote: "origin", Ref: "refs/heads/main"},
	})})
}

// mine is a shared repository in which somebody else pushed, with a commit of the user's own.
func mine(t *testing.T, others map[string]string) *gittest.Repo {
	r := shared(t)
	theirs(t, r, others)
	r.Write(map[string]string{"a": "mine\n"})
	r.Commit("mine")
	pushing(t, r, r.Head())
	return r
}

func TestPushOnTopOfOthers(t *testing.T) {
	r := mine(t, map[string]string{"c": "theirs\n"})
	r.Write(map[string]string{"untracked": "u\n"})
	done := again[effect.CommitResult](t, r.Dir)
	if !done.Pushed || done.Rebased != 1 || done.Commit != r.Head() || remoteHead(t, r) != r.Head() {
		t.Fatalf("%+v", done)
	}
	if log := r.Git("log", "--format=%an %s"); log != "Ada mine\nBob theirs\nAda first" {
		t.Errorf("history:\n%s", log)
	}
	if got := r.Git("status", "--porcelain"); got != "?? untracked" {
		t.Errorf("what is left:\n%s", got)
	}
	if again[effect.CommitResult](t, r.Dir); remoteHead(t, r) != r.Head() {
		t.Error("done twice")
	}
}

func TestPushStopsAtAConflict(t *testing.T) {
	for what, c := range map[string]struct {
		others    map[string]string
		meanwhile func(r *gittest.Repo)
		code      pawl.Code
	}{
		"the same lines": {map[string]string{"a": "theirs\n"}, nil, pawl.CodeConflict},
		"uncommitted files": {map[string]string{"c": "theirs\n"},
			func(r *gittest.Repo) { r.Write(map[string]string{"c": "dirty\n"}); r.Git("add", "c") },
			pawl.CodeRepository},
		"an untracked file": {map[string]string{"c": "theirs\n"},
			func(r *gittest.Repo) { r.Write(map[string]string{"c": "mine\n"}) }, pawl.CodeConflict},
		"no remote": {map[string]string{"c": "theirs\n"},
			func(r *gittest.Repo) { r.Git("remote", "set-url", "origin", "nowhere") }, pawl.CodeIO},
	} {
		t.Run(what, func(t *testing.T) {
			r := mine(t, c.others)
			if c.meanwhile != nil {
				c.meanwhile(r)
			}
			before, head, far := gittest.Tree(t, r.Dir), r.Head(), remoteHead(t, r)
			e, _ := standing(r.Dir)
			if got := commit.New(nil).Do(t.Context(), e, nil); got.Code != c.code {
				t.Fatalf("%v", got.Err())
			}
			if gittest.Tree(t, r.Dir) != before || r.Head() != head || remoteHead(t, r) != far {
				t.Error("something changed")
			}
		})
	}
}

// refusing lets the remote refuse every push, or take them again.
func refusing(t *testing.T, r *gittest.Repo, limit string) {
	t.Helper()
	r.Git("--git-dir="+r.Path(".pawl/remote.git"), "config", "receive.maxInputSize", limit)
}

func TestPushThatFailsChangesNothing(t *testing.T) {
	r := mine(t, map[string]string{"c": "theirs\n", "b": "theirs\n"})
	refusing(t, r, "1")
	r.Write(map[string]string{"untracked": "u\n"})
	before, head, far := gittest.Tree(t, r.Dir), r.Head(), remoteHead(t, r)
	e, _ := standing(r.Dir)
	for range 2 {
		if got := commit.New(nil).Do(t.Context(), e, nil); got.Code != pawl.CodeIO {
			t.Fatalf("%v", got.Err())
		}
		if gittest.Tree(t, r.Dir) != before || r.Head() != head || remoteHead(t, r) != far {
			t.Error("something changed")
		}
		if got := r.Git("status", "--porcelain"); got != "?? untracked" {
			t.Errorf("what is left:\n%s", got)
		}
		if refs := r.Own("for-each-ref", "refs/pawl/push"); refs != "" {
			t.Errorf("left behind: %s", refs)
		}
	}
	refusing(t, r, "0")
	if done := again[effect.CommitResult](t, r.Dir); !done.Pushed || done.Rebased != 1 || remoteHead(t, r) != r.Head() {
		t.Errorf("%+v", done)
	}
}

// A kill may fall on what takes a move back, too: whoever does it again must be able to.
func TestKilledWhilePushFails(t *testing.T) {
	t.Parallel()
	r := mine(t, map[string]string{"c": "theirs\n", "b": "theirs\n"})
	refusing(t, r, "1")
	head := r.Head()
	gittest.KillEverywhere(t, "refused", r.Dir, func(t *testing.T, dir string) {
		r := gittest.At(t, dir)
		e, _ := standing(dir)
		if got := commit.New(nil).Do(t.Context(), e, nil); got.Code != pawl.CodeIO || r.Head() != head {
			t.Fatalf("%v, at %s", got.Err(), r.Head())
		}
		clean(t, r)
		refusing(t, r, "0")
		if done := again[effect.CommitResult](t, dir); !done.Pushed || remoteHead(t, r) != r.Head() {
			t.Errorf("%+v", done)
		}
		clean(t, r)
	})
}

func TestKilledWhilePushing(t *testing.T) {
	t.Parallel()
	r := mine(t, map[string]string{"c": "theirs\n", "b": "theirs\n"})
	gittest.KillEverywhere(t, "effect", r.Dir, func(t *testing.T, dir string) {
		r := gittest.At(t, dir)
		if done := again[effect.CommitResult](t, dir); !done.Pushed || remoteHead(t, r) != r.Head() {
			t.Errorf("%+v", done)
		}
		if log := r.Git("log", "--format=%an %s"); log != "Ada mine\nBob theirs\nAda first" {
			t.Errorf("history:\n%s", log)
		}
		clean(t, r)
		if refs := r.Own("for-each-ref", "refs/pawl/push"); refs != "" {
			t.Errorf("left behind: %s", refs)
		}
	})
}

// past is a repository with three commits, and the effect that goes back to the first.
func past(t *testing.T) (*gittest.Repo, effect.RewindSpec) {
	t.Helper()
	r := gittest.New(t, files)
	first := r.Head()
	r.Write(map[string]string{"a": "second\n", "new/x": "x\n"})
	r.Commit("second")
	if err := os.Remove(r.Path("gone")); err != nil {
		t.Fatal(err)
	}
	r.Commit("third")
	p, err := commit.LookBack(t.Context(), nil, place(r))
	if err != nil {
		t.Fatal(err)
	}
	to, err := p.Find(t.Context(), first[:8])
	if err != nil || to.ID != first {
		t.Fatalf("%+v %v", to, err)
	}
	s := effect.RewindSpec{
		Branch: "main", Head: p.Head, From: p.From, Target: to.ID, Tree: to.Tree, Backup: "pawl/backup-1",
		Message: "revert: back\n",
		By:      effect.CommitBy{Name: "Ada", Email: "ada@example.org"}, At: when,
		Log: []effect.Document{effect.NewDocument("CHANGELOG.md", "log\n", nil, false)},
	}
	put(t, r, effect.Effect{ID: "03E", Kind: effect.KindRewind, Spec: effect.Encode(s)})
	return r, s
}

func rewound(t *testing.T, r *gittest.Repo, s effect.RewindSpec) {
	t.Helper()
	done := again[effect.RewindResult](t, r.Dir)
	if done.Commit != r.Head() || !done.Clean || len(done.Left) > 0 || len(done.Files) != 3 {
		t.Errorf("%+v", done)
	}
	if r.Git("rev-parse", "HEAD^{tree}") != s.Tree || r.Git("rev-parse", "HEAD^") != s.Head ||
		r.Git("rev-parse", "pawl/backup-1") != s.Head {
		t.Error("the branches are not as they should be")
	}
	if raw, _ := os.ReadFile(r.Path(".pawl/CHANGELOG.md")); string(raw) != "log\n" {
		t.Errorf("CHANGELOG: %q", raw)
	}
}

func TestRewind(t *testing.T) {
	r, s := past(t)
	r.Write(map[string]string{"untracked": "u\n"})
	rewound(t, r, s)
	rewound(t, r, s)
	if got := r.Git("status", "--porcelain"); got != "?? untracked" {
		t.Errorf("what is left:\n%s", got)
	}
	// What was given up is one step away, and so is the way forward again.
	r.Git("revert", "--no-edit", "HEAD")
	if r.Git("rev-parse", "HEAD^{tree}") != s.From {
		t.Error("the way forward is not the way back")
	}
}

func TestRewindNeverLosesWork(t *testing.T) {
	for what, c := range map[string]struct {
		meanwhile func(r *gittest.Repo)
		code      pawl.Code
	}{
		"a changed file": {func(r *gittest.Repo) { r.Write(map[string]string{"a": "dirty\n"}) },
			pawl.CodeRepository},
		"a staged file": {func(r *gittest.Repo) { r.Write(map[string]string{"gone": "z\n"}); r.Git("add", "gone") },
			pawl.CodeRepository},
		"an untracked file": {func(r *gittest.Repo) { r.Write(map[string]string{"gone": "mine\n"}) },
			pawl.CodeConflict},
		"a branch that moved": {func(r *gittest.Repo) { r.Git("commit", "-q", "--allow-empty", "-m", "other") },
			pawl.CodeConflict},
		"a changelog": {func(r *gittest.Repo) {
			gittest.Write(t, r.Dir,
				map[string]string{".pawl/CHANGELOG.md": "mine\n"})
		}, pawl.CodeConflict},
		"a backup that is taken": {func(r *gittest.Repo) { r.Git("branch", "pawl/backup-1", "HEAD~1") },
			pawl.CodeConflict},
	} {
		t.Run(what, func(t *testing.T) {
			r, _ := past(t)
			c.meanwhile(r)
			before, head := gittest.Tree(t, r.Dir), r.Head()
			e, _ := standing(r.Dir)
			if got := commit.NewRewind(nil).Do(t.Context(), e, nil); got.Code != c.code {
				t.Fatalf("%v", got.Err())
			}
			if gittest.Tree(t, r.Dir) != before || r.Head() != head {
				t.Error("something changed")
			}
		})
	}
}

func TestKilledWhileRewinding(t *testing.T) {
	t.Parallel()
	r, s := past(t)
	gittest.KillEverywhere(t, "effect", r.Dir, func(t *testing.T, dir string) {
		r := gittest.At(t, dir)
		rewound(t, r, s)
		clean(t, r)
	})
}

func TestFindsOnlyWhatIsOfTheBranch(t *testing.T) {
	r, _ := past(t)
	r.Git("checkout", "-q", "-b", "other", "HEAD~1")
	r.Write(map[string]string{"o": "o\n"})
	far := r.Commit("other")
	r.Git("checkout", "-q", "main")
	p, err := commit.LookBack(t.Context(), nil, place(r))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{far, "other", "nosuch", "", "--all", "HEAD; rm", "-n1"} {
		if _, err := p.Find(t.Context(), name); pawl.CodeOf(err) != pawl.CodeNotFound {
			t.Errorf("%q: %v", name, err)
		}
	}
	if list, err := p.Newest(t.Context(), 2); err != nil || len(list) != 2 || list[0].ID != p.Head ||
		!strings.HasPrefix(list[1].Message, "second") {
		t.Errorf("%+v %v", list, err)
	}
}
