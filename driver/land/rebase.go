package land

import (
	"context"
	"errors"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// Rebase is the driver of effect.KindRebase: it merges the work in a task's worktree with what its branch has become
// since the work started, in memory, and brings the worktree to the result. The branch and the user's tree are only
// read. It is safe for concurrent use.
//
// The commit that the worktree stands at moves before its files, and so says after a crash what to finish: the merge of
// the same trees is the same. Nothing else is written down.
type Rebase struct{ memory *git.Memory }

// NewRebase returns the driver of effect.KindRebase. It shares what m remembers; m may be nil.
func NewRebase(m *git.Memory) Rebase { return Rebase{m} }

// Do brings the worktree onto the head of the branch. Where that is the base of the work, or where there is no branch
// or no worktree of the task's own, nothing is done. Conflicts are a result, and nothing has changed then. It fails
// with CodeConflict when the tree is no longer the one that was recorded, and with CodeEnvironment where git is too old
// to merge in memory. It may be repeated.
func (d Rebase) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	m, err := d.begin(ctx, e)
	if err != nil {
		return effect.Failed(err)
	}
	result, err := m.do(ctx)
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(result)
}

// Done reports whether the worktree stands at another commit than the work started from, and finishes what brought it
// there.
func (d Rebase) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	m, err := d.begin(ctx, e)
	switch {
	case err != nil:
		return effect.DoneNo, effect.Failed(err) // Do finds the same
	case m.at == m.spec.Base:
		return effect.DoneNo, effect.Receipt{}
	}
	result, err := m.onto(ctx, m.at)
	if err != nil {
		return effect.DoneNo, effect.Failed(err)
	}
	return effect.DoneYes, effect.Succeeded(result)
}

// Undo brings the worktree back to the work as it was, on the commit that it started from. It may be repeated.
func (d Rebase) Undo(ctx context.Context, e effect.Effect, r effect.Receipt) effect.Receipt {
	result, err := effect.Decode[effect.RebaseResult](r.Result)
	if err != nil {
		return effect.Failed(err)
	}
	m, err := d.begin(ctx, e)
	if err == nil && result.Base != m.spec.Base {
		err = m.back(ctx, result.Base, result.Tree)
	}
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(effect.RebaseResult{Base: m.spec.Base, Tree: m.spec.Tree})
}

// move is a worktree on its way to another commit.
type move struct {
	repo   *git.Repo
	linked git.Linked
	spec   effect.RebaseSpec
	at     string // commit that the worktree stands at; the spec's base where the tree is no worktree of the task's own
	own    bool   // there is a worktree of the task's own
}

func (d Rebase) begin(ctx context.Context, e effect.Effect) (*move, error) {
	spec, err := effect.Decode[effect.RebaseSpec](e.Spec)
	if err != nil {
		return nil, err
	}
	repo, err := open(ctx, d.memory, e.Place)
	if err != nil {
		return nil, err
	}
	m := &move{repo: repo, spec: spec, at: spec.Base, own: repo.Git() && !repo.InPlace() && spec.Base != ""}
	if !m.own {
		return m, nil
	}
	if m.linked, err = git.NewLinked(repo); err != nil {
		return nil, err
	}
	m.at, err = m.linked.Head(ctx)
	return m, err
}

func (m *move) do(ctx context.Context) (effect.RebaseResult, error) {
	if m.at != m.spec.Base {
		return m.onto(ctx, m.at)
	}
	still := effect.RebaseResult{Base: m.spec.Base, Tree: m.spec.Tree}
	if err := m.holds(ctx, m.spec.Tree); err != nil || !m.own || m.spec.Branch == "" {
		return still, err
	}
	tip, err := m.repo.Refs.Lookup(ctx, git.BranchRef(m.spec.Branch))
	if err != nil || tip == "" || tip == m.spec.Base {
		return still, err
	}
	return m.onto(ctx, tip)
}

// holds fails unless the worktree holds exactly a tree.
func (m *move) holds(ctx context.Context, tree string) error {
	found, err := m.repo.Snapshot(ctx)
	if err == nil && found != tree {
		err = pawl.Fail(pawl.CodeConflict, "land.tree_changed", tree, found)
	}
	return err
}

// onto brings the worktree to the merge of the work with a commit, or finishes that.
func (m *move) onto(ctx context.Context, tip string) (effect.RebaseResult, error) {
	result := effect.RebaseResult{Base: m.spec.Base, Tree: m.spec.Tree, Onto: tip, Moved: true}
	from, err := m.repo.Objects.ResolveTree(ctx, m.spec.Base)
	if err != nil {
		return result, err
	}
	head, err := m.repo.Objects.ResolveTree(ctx, tip)
	if err != nil {
		return result, err
	}
	begun := m.at == tip
	tree, conflicts, err := m.repo.Objects.Merge(ctx, from, head, m.spec.Tree, m.spec.Branch)
	switch {
	case err != nil:
		return result, err
	case len(conflicts) > 0 && begun:
		return result, pawl.Fail(pawl.CodeConflict, "land.base_changed", m.spec.Base, tip)
	}
	if result.Conflicts = conflicts; !begun && len(conflicts) == 0 {
		result.Conflicts, err = m.blocked(ctx, tree)
	}
	if err != nil || len(result.Conflicts) > 0 {
		return result, err
	}
	result.Base, result.Tree = tip, tree
	return result, m.carry(ctx, tip, tree, head, begun)
}

// blocked names as conflicts what stands in the way of new files and is in no record.
func (m *move) blocked(ctx context.Context, tree string) (conflicts []effect.Conflict, err error) {
	paths, err := m.linked.Blocked(ctx, m.spec.Tree, tree)
	for _, p := range paths {
		conflicts = append(conflicts, effect.Conflict{Path: p, Kind: effect.ConflictInTheWay})
	}
	return conflicts, err
}

// carry moves the worktree to a commit, its files to a tree, and the index of its tools to the commit's own tree.
func (m *move) carry(ctx context.Context, tip, tree, head string, begun bool) error {
	if !begun {
		if err := m.linked.MoveHead(ctx, tip, m.spec.Base); err != nil {
			return err
		}
	}
	// From here on stopping halfway would leave the worktree between two states.
	ctx = context.WithoutCancel(ctx)
	err := m.linked.Advance(ctx, m.spec.Tree, tree)
	if err == nil {
		err = m.linked.ResetIndex(ctx, head)
	}
	if err == nil {
		err = m.holds(ctx, tree)
	}
	var e *pawl.Error
	switch {
	case err == nil || begun:
	case errors.As(err, &e) && e.Key == "git.conflict": // somebody changed a file in this moment; nothing was written
		_ = m.linked.MoveHead(ctx, m.spec.Base, tip)
	default:
		_ = m.back(ctx, tip, tree) // what cannot be taken back either is finished by the next attempt
	}
	return err
}

// back takes the worktree from a commit and its tree to what the spec says. The commit moves last, so that this, too,
// can be told to be unfinished.
func (m *move) back(ctx context.Context, tip, tree string) error {
	at, err := m.linked.Head(ctx)
	if err != nil || at == m.spec.Base {
		return err
	}
	if err := m.linked.Advance(ctx, tree, m.spec.Tree); err != nil {
		return err
	}
	from, err := m.repo.Objects.ResolveTree(ctx, m.spec.Base)
	if err == nil {
		err = m.linked.ResetIndex(ctx, from)
	}
	if err != nil {
		return err
	}
	return m.linked.MoveHead(ctx, m.spec.Base, tip)
}
