package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"pawl"
	"pawl/sandbox/git/layout"
	"pawl/sandbox/git/program"
)

// Status is how the user's working tree stands.
type Status struct {
	Head      string // commit, "" when there is none yet
	Branch    string // short name, "" when detached
	Detached  bool
	Unborn    bool   // the branch has no commit yet
	Operation string // "merge", "rebase", … while one is in progress, "" otherwise
	Locked    bool   // somebody holds the lock of the index, or has left it behind
	// Dirty are the tracked files that differ from the commit, in the index or on disk, and Untracked those that no
	// commit holds and nothing ignores. Unstaged are those of the tracked files that differ on disk from what the index
	// holds, so that a commit of the index would lack that. All are in the order of paths.
	Dirty     []string
	Untracked []string
	Unstaged  []string
}

// Describe names where the tree stands, for people: the branch, if any, and the first digits of the commit.
func (s Status) Describe() string {
	return strings.TrimSpace(s.Branch + " " + s.Head[:min(len(s.Head), 12)])
}

// operations maps the files that mark an unfinished operation to its name, in the order in which they are looked for.
var operations = [][2]string{
	{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"}, {"CHERRY_PICK_HEAD",
		"cherry-pick"},
	{"REVERT_HEAD", "revert"}, {"BISECT_LOG", "bisect"}, {"sequencer", "cherry-pick"},
}

// Operation names the git operation that is unfinished in the workspace, "" when there is none.
func (r *Repo) Operation() string {
	if !r.paths.Git {
		return ""
	}
	for _, o := range operations {
		if layout.Exists(filepath.Join(r.paths.GitDir, o[0])) {
			return o[1]
		}
	}
	return ""
}

// Head returns the commit and the branch that the workspace is at. The commit is "" before the first one, the branch ""
// where the head is detached, and both without git.
func (r Refs) Head(ctx context.Context) (commit, branch string, err error) {
	if !r.paths.Git {
		return "", "", nil
	}
	branch, ok := r.plainBranch()
	if ok {
		if id, ok := r.loose(BranchRef(branch)); ok {
			return id, branch, nil
		}
	} else {
		out, _, err := r.paths.Plumbing("", "symbolic-ref", "--quiet", "HEAD").Answering(1).Run(ctx)
		if err != nil {
			return "", "", err
		}
		branch = strings.TrimPrefix(strings.TrimSpace(string(out)), "refs/heads/")
	}
	out, _, err := r.paths.Plumbing("", "rev-parse", "--verify", "--quiet", "HEAD^{commit}").Answering(1, 128).Run(ctx)
	return strings.TrimSpace(string(out)), branch, err
}

// plainBranch reads the branch from where references are kept as files. Whatever is not plain in it is git's to judge.
func (r Refs) plainBranch() (branch string, ok bool) {
	if r.paths.Config.Refs != "" {
		return "", false
	}
	branch, ok = layout.ReadLine(filepath.Join(r.paths.GitDir, "HEAD"), "ref: refs/heads/")
	plain := func(c rune) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '/'
	}
	ok = ok && branch != "" && strings.Trim(branch, "-/") == branch && !strings.Contains(branch, "//") &&
		!strings.ContainsFunc(branch, func(c rune) bool { return !plain(c) })
	return branch, ok
}

// Ready fails with CodeRepository where work cannot start from the user's repository: before its first commit, and
// while a merge or the like is unfinished. A detached head is no hindrance; what is done then stays on a branch of
// pawl's.
func (r *Repo) Ready(ctx context.Context) error {
	if !r.paths.Git {
		return nil
	}
	if o := r.Operation(); o != "" {
		return pawl.Fail(pawl.CodeRepository, "git.operation", o)
	}
	head, branch, err := r.Refs.Head(ctx)
	if err != nil {
		return err
	}
	return Status{Branch: branch, Unborn: head == ""}.Ready()
}

// Ready is what Repo.Ready says of a repository that stands like this.
func (s Status) Ready() error {
	switch {
	case s.Operation != "":
		return pawl.Fail(pawl.CodeRepository, "git.operation", s.Operation)
	case s.Unborn:
		return pawl.Fail(pawl.CodeRepository, "git.unborn", s.Branch)
	}
	return nil
}

// Status looks at the user's working tree, whatever the tree of r is. It changes nothing, not even the index's memory
// of unchanged files. Without git it is the zero Status.
func (r *Repo) Status(ctx context.Context) (Status, error) {
	if !r.paths.Git {
		return Status{}, nil
	}
	w := r.Workspace()
	head, branch, err := w.Refs.Head(ctx)
	if err != nil {
		return Status{}, err
	}
	s := Status{Head: head, Branch: branch, Detached: branch == "", Unborn: head == "", Operation: w.Operation()}
	s.Locked = layout.Exists(filepath.Join(w.paths.GitDir, "index.lock"))
	s.Dirty, s.Unstaged, s.Untracked, err = w.index.dirt(ctx, head, "--untracked-files=all")
	return s, err
}

// dirt compares the user's files and index with a commit and with each other, on a copy of the index.
func (r treeIndex) dirt(ctx context.Context, head string,
	how ...string) (dirty, unstaged, untracked []string, err error) {
	source := filepath.Join(r.paths.GitDir, "index")
	if !layout.Exists(source) {
		// Nothing is tracked: every file of the commit counts as removed from the index.
		dirty, err = r.objects.removedFrom(ctx, head)
		return dirty, nil, nil, err
	}
	copied, err := r.copyIndex(source)
	if err != nil {
		return nil, nil, nil, err
	}
	defer os.Remove(copied)
	// Both only read the files and the objects; a scan replaces the copied index as a whole, with what says the same.
	var staged []string
	var failed error
	var beside sync.WaitGroup
	beside.Go(func() { staged, failed = r.staged(ctx, copied, head) })
	s, err := r.scan(ctx, copied, how...)
	beside.Wait()
	if err = errors.Join(err, failed); err != nil {
		return nil, nil, nil, err
	}
	set := map[string]bool{}
	for _, list := range [][]string{s.changed, s.gone, staged} {
		for _, p := range list {
			set[p] = true
		}
	}
	for p := range set {
		dirty = append(dirty, p)
	}
	unstaged = append(s.changed, s.gone...)
	sort.Strings(dirty)
	sort.Strings(unstaged)
	sort.Strings(s.untracked)
	return dirty, unstaged, s.untracked, nil
}

// staged lists the paths at which an index differs from a commit.
func (r treeIndex) staged(ctx context.Context, index, head string) ([]string, error) {
	tree := head
	if head == "" {
		empty, err := r.objects.EmptyTree(ctx)
		if err != nil {
			return nil, err
		}
		tree = empty
	}
	if !validID(tree) {
		return nil, pawl.Fail(pawl.CodeInvalid, "git.bad_id", tree)
	}
	// With --cached no file is looked at, so no submodule is entered either; a moved submodule counts.
	out, _, err := r.paths.On(index, "", "diff-index", "--cached", "--name-only", "-z", "--no-renames",
		"--ignore-submodules=none", tree).Run(ctx)
	if err != nil {
		return nil, r.objects.missing(ctx, err, tree)
	}
	return program.Fields(string(out)), nil
}

func (r Objects) removedFrom(ctx context.Context, head string) ([]string, error) {
	if head == "" {
		return nil, nil
	}
	out, _, err := r.paths.WithoutTree("", "ls-tree", "-r", "-z", "--name-only", "--end-of-options", head).Run(ctx)
	return program.Fields(string(out)), err
}

// CheckedOutAt lists the working trees, other than the workspace, in which a branch is checked out or being rebased.
func (r Refs) CheckedOutAt(ctx context.Context, branch string) ([]string, error) {
	out, _, err := r.paths.Plumbing("", "worktree", "list", "--porcelain", "-z").Run(ctx)
	if err != nil {
		return nil, err
	}
	var where []string
	for block := range strings.SplitSeq(string(out), "\x00\x00") {
		var dir string
		for _, line := range program.Fields(block) {
			if path, ok := strings.CutPrefix(line, "worktree "); ok {
				dir = path
			}
			if line == "branch "+BranchRef(branch) && !sameDir(dir, r.paths.Workspace) {
				where = append(where, dir)
			}
		}
	}
	dirs, _ := filepath.Glob(filepath.Join(layout.EscapeGlob(r.paths.CommonDir), "worktrees", "*"))
	for _, dir := range append(dirs, r.paths.CommonDir) {
		for _, name := range []string{"rebase-merge", "rebase-apply"} {
			if ref, ok := layout.ReadLine(filepath.Join(dir, name, "head-name"), ""); ok && ref == BranchRef(branch) &&
				dir != r.paths.GitDir {
				where = append(where, dir)
			}
		}
	}
	return where, nil
}

func sameDir(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Tracked returns those of the paths, relative to the workspace, at which its newest commit holds something or, without
// git, at which something was recorded of its files. Such paths are in every worktree as they are.
func Tracked(ctx context.Context, r *Repo, paths []string) (map[string]bool, error) {
	out := map[string]bool{}
	if len(paths) == 0 {
		return out, nil
	}
	if !r.paths.Git {
		w := r.Workspace()
		for _, p := range paths {
			listed, err := w.paths.ShadowRun(ctx, "", "ls-files", "-z", "--", p)
			if err != nil {
				return nil, err
			}
			out[p] = listed != ""
		}
		return out, nil
	}
	args := append([]string{"ls-tree", "--full-tree", "-z", "--name-only", "HEAD", "--"}, paths...)
	listed, status, err := r.paths.Plumbing("", args...).Answering(128).Run(ctx) // 128 where there is no commit
	if err != nil || status != 0 {
		return out, err
	}
	for _, p := range program.Fields(string(listed)) {
		out[p] = true
	}
	return out, nil
}
