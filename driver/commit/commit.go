// Package commit makes the commits that a person asks pawl for: of the user's own changes, and the way back to an older
// state. What is committed was decided before, down to the id of the commit, so that after a crash it is known whether
// it was made. Nothing is ever taken out of the history, and no change of the user's is written over.
package commit

import (
	"context"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/document"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// Driver is the driver of effect.KindCommit. It is safe for concurrent use on different workspaces.
type Driver struct{ memory *git.Memory }

// New returns the driver of effect.KindCommit. It shares what m remembers; m may be nil.
func New(m *git.Memory) Driver { return Driver{m} }

// Do makes the commit, or shares the branch. It fails with CodeConflict, and nothing has changed, where the branch or
// the files are not what they were when it was decided. It may be repeated.
func (d Driver) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	return effect.Outcome(d.do(ctx, e))
}

// Done says yes when the branch holds the commit, and completes what a crash cut off behind it. Whether a branch was
// shared is not asked: sharing it again does nothing.
func (d Driver) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, repo, err := open[effect.CommitSpec](ctx, d.memory, e)
	if err != nil || spec.Push != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	s := d.step(repo, e.ID, spec)
	made, err := s.made(ctx)
	if err != nil || !made {
		return effect.DoneNo, effect.Receipt{}
	}
	result, err := s.complete(ctx, spec)
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	return effect.DoneYes, effect.Succeeded(result)
}

func open[T any](ctx context.Context, m *git.Memory, e effect.Effect) (spec T, repo *git.Repo, err error) {
	if spec, err = effect.Decode[T](e.Spec); err == nil {
		repo, err = openPlace(ctx, m, e.Place)
	}
	return spec, repo, err
}

func (d Driver) step(repo *git.Repo, id string, spec effect.CommitSpec) *step {
	return &step{repo: repo, id: id, branch: spec.Branch, parent: spec.Parent, from: spec.From, to: spec.Tree,
		message: spec.Message, by: spec.By, at: spec.At}
}

func (d Driver) do(ctx context.Context, e effect.Effect) (effect.CommitResult, error) {
	spec, repo, err := open[effect.CommitSpec](ctx, d.memory, e)
	if err != nil {
		return effect.CommitResult{}, err
	}
	if spec.Push != nil {
		return share(ctx, repo, e.ID, spec)
	}
	s := d.step(repo, e.ID, spec)
	made, err := s.made(ctx)
	if err != nil || made {
		result := effect.CommitResult{}
		if err == nil {
			result, err = s.complete(ctx, spec)
		}
		return result, err
	}
	lock, err := s.hold(ctx)
	if err != nil {
		return effect.CommitResult{}, err
	}
	defer lock.Close()
	if err := unchanged(ctx, repo, lock, spec); err != nil {
		return effect.CommitResult{}, err
	}
	if err := repo.Refs.Set(ctx, git.BranchRef(spec.Branch), s.commit, spec.Parent, "pawl: commit"); err != nil {
		return effect.CommitResult{}, err
	}
	return s.complete(context.WithoutCancel(ctx), spec)
}

// unchanged checks under the lock that what is to be committed is still what stands there.
func unchanged(ctx context.Context, repo *git.Repo, lock *git.Checkout, spec effect.CommitSpec) error {
	if spec.All {
		o, err := lock.Obstacles(ctx, spec.From, spec.Tree)
		if err != nil {
			return err
		}
		if err := Plain(o); err != nil {
			return err
		}
		found, err := repo.Snapshot(ctx)
		if err == nil && found != spec.Tree {
			err = pawl.Fail(pawl.CodeConflict, "orders.commit_moved")
		}
		return err
	}
	now, err := git.StagedIn(ctx, repo, spec.Parent)
	if err == nil && now.Tree != spec.Tree {
		err = pawl.Fail(pawl.CodeConflict, "orders.commit_moved")
	}
	return err
}

// Plain fails where the user's own git would write files otherwise than pawl does, or was told to leave them alone.
func Plain(o git.Obstacles) error {
	switch {
	case len(o.Converted) > 0:
		return pawl.Fail(pawl.CodeRepository, "orders.commit_converted", git.Listing(o.Converted))
	case len(o.Sparse) > 0:
		return pawl.Fail(pawl.CodeRepository, "orders.commit_sparse", git.Listing(o.Sparse))
	}
	return nil
}

// step is one commit on its way to the branch that is checked out.
type step struct {
	repo     *git.Repo
	id       string // of the effect
	branch   string
	parent   string
	from, to string
	message  string
	by       effect.CommitBy
	at       time.Time
	commit   string
}

// made makes the commit object and reports whether the branch holds it already.
func (s *step) made(ctx context.Context) (bool, error) {
	c := git.Commit{Tree: s.to, Message: s.message, By: layout.Identity{Name: s.by.Name, Email: s.by.Email}, At: s.at}
	if s.parent != "" {
		c.Parents = []string{s.parent}
	}
	var err error
	if s.commit, err = s.repo.Objects.WriteCommit(ctx, c); err != nil {
		return false, err
	}
	tip, err := s.repo.Refs.Lookup(ctx, git.BranchRef(s.branch))
	if err != nil {
		return false, err
	}
	if tip == "" || tip == s.parent {
		return false, nil
	}
	in, err := s.repo.Objects.Contains(ctx, tip, s.commit)
	if err == nil && !in {
		err = pawl.Fail(pawl.CodeConflict, "orders.branch_moved", s.branch)
	}
	return in, err
}

// hold takes the lock of the user's index and checks that the branch is checked out and where it was.
func (s *step) hold(ctx context.Context) (*git.Checkout, error) {
	if o := s.repo.Operation(); o != "" {
		return nil, pawl.Fail(pawl.CodeRepository, "git.operation", o)
	}
	lock, err := s.repo.Checkout(ctx, s.id)
	if err != nil {
		return nil, err
	}
	head, branch, err := s.repo.Refs.Head(ctx)
	if err == nil && (branch != s.branch || head != s.parent) {
		err = pawl.Fail(pawl.CodeConflict, "orders.branch_moved", s.branch)
	}
	if err == nil {
		err = lock.Begin(ctx)
	}
	if err != nil {
		_ = lock.Close() // a lock that cannot be removed is found by the next attempt
		return nil, err
	}
	return lock, nil
}

// complete lets the index follow a commit that is on the branch, and tells what was committed.
func (s *step) complete(ctx context.Context, spec effect.CommitSpec) (effect.CommitResult, error) {
	result := effect.CommitResult{Commit: s.commit, Branch: s.branch}
	tip, err := s.repo.Refs.Lookup(ctx, git.BranchRef(s.branch))
	if err != nil {
		return result, err
	}
	lock, err := s.repo.Checkout(ctx, s.id)
	if err != nil {
		return result, err
	}
	defer lock.Close()
	if spec.All && tip == s.commit {
		if _, err := lock.Advance(ctx, s.from, s.to); err != nil {
			return result, err
		}
	}
	result.Files, err = git.Stats(ctx, s.repo, s.from, s.to)
	return result, err
}

// share puts the branch on top of what others pushed and pushes it. Where it was not pushed, nothing has changed.
func share(ctx context.Context, repo *git.Repo, id string, spec effect.CommitSpec) (effect.CommitResult, error) {
	s := &step{repo: repo, id: id, branch: spec.Branch, parent: spec.Parent}
	note := git.PrivateRef("push/" + id)
	result, err := s.share(ctx, note, spec)
	if err != nil && !result.Pushed {
		// What cannot be taken back, because somebody changed a file meanwhile, keeps its note: the next attempt goes
		// on from it.
		_ = s.back(context.WithoutCancel(ctx), note, spec.Parent)
	}
	return result, err
}

func (s *step) share(ctx context.Context, note string, spec effect.CommitSpec) (effect.CommitResult, error) {
	repo, result := s.repo, effect.CommitResult{Branch: spec.Branch}
	u := git.Upstream{Remote: spec.Push.Remote, Ref: spec.Push.Ref}
	// What a run that was cut off had begun: the branch may have moved already, and the files not.
	tip, err := s.resume(ctx, note)
	if err != nil {
		return result, err
	}
	theirs, err := git.NewRemotes(repo).Fetch(ctx, u)
	if err != nil {
		return result, err
	}
	if tip != spec.Parent && tip == theirs {
		result.Commit, result.Pushed = tip, true
		return result, s.forget(ctx, note)
	}
	if begun, err := repo.Refs.Lookup(ctx, note); err != nil || tip != spec.Parent && begun != tip {
		if err == nil {
			err = pawl.Fail(pawl.CodeConflict, "orders.branch_moved", spec.Branch)
		}
		return result, err
	}
	behind := false
	if theirs != "" {
		in, err := repo.Objects.Contains(ctx, tip, theirs)
		if err != nil {
			return result, err
		}
		behind = !in
	}
	if behind {
		onto, made, err := git.NewRemotes(repo).Replay(ctx, theirs, tip, spec.Push.Remote+"/"+spec.Branch, spec.At)
		if err != nil {
			return result, err
		}
		if tip, err = s.move(ctx, note, tip, onto); err != nil {
			return result, err
		}
		result.Rebased = made
	}
	result.Commit = tip
	if tip != theirs {
		if err := git.NewRemotes(repo).Push(ctx, u, tip); err != nil {
			return result, err
		}
	}
	result.Pushed = true
	return result, s.forget(ctx, note)
}

// move brings the branch and the checked-out files from one commit to another. Files that were changed and not
// committed are a conflict, and nothing is moved.
func (s *step) move(ctx context.Context, note, from, to string) (string, error) {
	s.parent = from
	lock, err := s.hold(ctx)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := s.committed(ctx, lock, from, to); err != nil {
		return "", err
	}
	old, err := s.repo.Refs.Lookup(ctx, note)
	if err == nil {
		err = s.repo.Refs.Set(ctx, note, to, old, "pawl: push")
	}
	if err != nil {
		return "", err
	}
	if err := s.repo.Refs.Set(ctx, git.BranchRef(s.branch), to, from, "pawl: rebase"); err != nil {
		return "", err
	}
	return to, s.advance(context.WithoutCancel(ctx), lock, from, to)
}

// back takes a move back that was noted and is of no use. The files go first and the note last, so that whatever cuts
// it off, the next attempt finds either the whole move or one that never was.
func (s *step) back(ctx context.Context, note, to string) error {
	begun, err := s.repo.Refs.Lookup(ctx, note)
	if err != nil || begun == "" {
		return err
	}
	tip, err := s.repo.Refs.Lookup(ctx, git.BranchRef(s.branch))
	if err != nil {
		return err
	}
	if tip == begun && tip != to {
		if err := s.retreat(ctx, begun, to); err != nil {
			return err
		}
	}
	return s.repo.Refs.Delete(ctx, note, begun)
}

// retreat brings the checked-out files and then the branch from one commit to another, unless that would touch what is
// not committed.
func (s *step) retreat(ctx context.Context, from, to string) error {
	s.parent = from
	lock, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := s.committed(ctx, lock, from, to); err != nil {
		return err
	}
	if err := s.advance(ctx, lock, from, to); err != nil {
		return err
	}
	return s.repo.Refs.Set(ctx, git.BranchRef(s.branch), to, from, "pawl: not pushed")
}

// committed fails where going from one commit to another would touch what is not committed.
func (s *step) committed(ctx context.Context, lock *git.Checkout, from, to string) error {
	dirty, err := lock.Dirty(ctx, from, to)
	if err != nil {
		return err
	}
	if len(dirty) > 0 {
		return pawl.Fail(pawl.CodeRepository, "orders.dirty", git.Listing(dirty))
	}
	return s.clear(ctx, lock, from, to)
}

// clear fails where bringing the files from one commit to another would write over something.
func (s *step) clear(ctx context.Context, lock *git.Checkout, from, to string) error {
	a, err := s.repo.Objects.ResolveTree(ctx, from)
	if err != nil {
		return err
	}
	b, err := s.repo.Objects.ResolveTree(ctx, to)
	if err != nil {
		return err
	}
	o, err := lock.Obstacles(ctx, a, b)
	if err != nil {
		return err
	}
	if len(o.Untracked) > 0 {
		return pawl.Fail(pawl.CodeConflict, "orders.untracked", git.Listing(o.Untracked))
	}
	return Plain(o)
}

// advance brings the files from one commit to another.
func (s *step) advance(ctx context.Context, lock *git.Checkout, from, to string) error {
	a, err := s.repo.Objects.ResolveTree(ctx, from)
	if err != nil {
		return err
	}
	b, err := s.repo.Objects.ResolveTree(ctx, to)
	if err != nil {
		return err
	}
	_, err = lock.Advance(ctx, a, b)
	return err
}

// resume returns where the branch is. Where a move was cut off behind that of the branch, the files follow first.
func (s *step) resume(ctx context.Context, note string) (string, error) {
	begun, err := s.repo.Refs.Lookup(ctx, note)
	if err != nil {
		return "", err
	}
	tip, err := s.repo.Refs.Lookup(ctx, git.BranchRef(s.branch))
	if err != nil || begun == "" || tip != begun {
		return tip, err
	}
	lock, err := s.repo.Checkout(ctx, s.id)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	return tip, s.advance(ctx, lock, s.parent, tip)
}

// forget removes the note of a move, when all that was to follow it is done.
func (s *step) forget(ctx context.Context, note string) error {
	begun, err := s.repo.Refs.Lookup(ctx, note)
	if err != nil || begun == "" {
		return err
	}
	return s.repo.Refs.Delete(ctx, note, begun)
}

// Rewind is the driver of effect.KindRewind. It is safe for concurrent use on different workspaces.
type Rewind struct{ memory *git.Memory }

// NewRewind returns the driver of effect.KindRewind. It shares what m remembers; m may be nil.
func NewRewind(m *git.Memory) Rewind { return Rewind{m} }

// Do makes a branch that keeps what is given up, then a commit with the old state on top of the branch, and brings the
// files to it. It fails, and nothing but the branch was made, where that would write over a change that is not
// committed or a file that no commit holds. It may be repeated.
func (d Rewind) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	return effect.Outcome(d.do(ctx, e))
}

// Done says yes when the branch holds the commit, and completes what a crash cut off behind it.
func (d Rewind) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, repo, err := open[effect.RewindSpec](ctx, d.memory, e)
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	s := rewinding(repo, e.ID, spec)
	made, err := s.made(ctx)
	if err != nil || !made {
		return effect.DoneNo, effect.Receipt{}
	}
	result, err := s.restored(ctx, e, spec)
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	return effect.DoneYes, effect.Succeeded(result)
}

func rewinding(repo *git.Repo, id string, spec effect.RewindSpec) *step {
	return &step{repo: repo, id: id, branch: spec.Branch, parent: spec.Head, from: spec.From, to: spec.Tree,
		message: spec.Message, by: spec.By, at: spec.At}
}

func (d Rewind) do(ctx context.Context, e effect.Effect) (effect.RewindResult, error) {
	spec, repo, err := open[effect.RewindSpec](ctx, d.memory, e)
	if err != nil {
		return effect.RewindResult{}, err
	}
	s := rewinding(repo, e.ID, spec)
	made, err := s.made(ctx)
	if err != nil {
		return effect.RewindResult{}, err
	}
	if made {
		return s.restored(ctx, e, spec)
	}
	if err := ready(e, spec); err != nil {
		return effect.RewindResult{}, err
	}
	lock, err := s.hold(ctx)
	if err != nil {
		return effect.RewindResult{}, err
	}
	defer lock.Close()
	if err := s.committed(ctx, lock, spec.Head, spec.Target); err != nil {
		return effect.RewindResult{}, err
	}
	backup := git.BranchRef(spec.Backup)
	kept, err := repo.Refs.Lookup(ctx, backup)
	if err == nil && kept != spec.Head {
		err = repo.Refs.Set(ctx, backup, spec.Head, "", "pawl: before a rollback")
	}
	if err != nil {
		return effect.RewindResult{}, err
	}
	if err := repo.Refs.Set(ctx, git.BranchRef(spec.Branch), s.commit, spec.Head, "pawl: rollback"); err != nil {
		return effect.RewindResult{}, err
	}
	return s.restored(context.WithoutCancel(ctx), e, spec)
}

// ready checks that the documents that are to tell of it can be written, before anything is done.
func ready(e effect.Effect, spec effect.RewindSpec) error {
	if len(spec.Log) == 0 {
		return nil
	}
	f, err := document.Open(e.Place.Workspace)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Ready(spec.Log)
	return err
}

// restored brings the files to a commit that is on the branch, writes what tells of it, and looks whether all is as it
// should be.
func (s *step) restored(ctx context.Context, e effect.Effect, spec effect.RewindSpec) (effect.RewindResult, error) {
	result := effect.RewindResult{Commit: s.commit, Backup: spec.Backup, Branch: s.branch}
	tip, err := s.repo.Refs.Lookup(ctx, git.BranchRef(s.branch))
	if err != nil {
		return result, err
	}
	lock, err := s.repo.Checkout(ctx, s.id)
	if err != nil {
		return result, err
	}
	if tip == s.commit {
		result.Left, err = lock.Advance(ctx, s.from, s.to)
	}
	if closed := lock.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return result, err
	}
	if result.Files, err = git.Stats(ctx, s.repo, s.from, s.to); err != nil {
		return result, err
	}
	if len(spec.Log) > 0 {
		f, err := document.Open(e.Place.Workspace)
		if err != nil {
			return result, err
		}
		_, err = f.Write(ctx, spec.Log)
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return result, err
		}
	}
	status, err := s.repo.Status(ctx)
	result.Clean = err == nil && len(status.Dirty) == 0 && (status.Head == s.commit || tip != s.commit)
	return result, err
}
