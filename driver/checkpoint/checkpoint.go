// Package checkpoint holds the drivers that make and remove a task's worktree, record checkpoints of a tree and bring a
// tree back to one. All git work is done by package sandbox/git; here is what the effects mean, how they are found to
// be done after a crash, and how they are undone.
package checkpoint

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// open finds the repository of an effect's place. What m knows of trees only makes it quicker: all state is in the
// trees and their repositories. m may be nil.
func open(ctx context.Context, m *git.Memory, p effect.Place) (*git.Repo, error) {
	return m.Open(ctx, layout.Of(p))
}

// Point is the driver of effect.KindCheckpoint: it records the tree, tracked and untracked, under a private reference.
// It is safe for concurrent use.
type Point struct {
	memory  *git.Memory
	ignored Ignored
}

// NewPoint returns the driver of effect.KindCheckpoint. It shares what m remembers; m may be nil.
func NewPoint(m *git.Memory) Point { return Point{memory: m} }

// Keeping returns the driver that keeps, where a checkpoint asks for it, what git does not record, too.
func (d Point) Keeping(i Ignored) Point {
	d.ignored = i
	return d
}

// Do records the tree. When the name is taken by another checkpoint, as two in one minute are
// (docs/spec/session.md#a9), -2, -3 … is added and the result names what was taken.
func (d Point) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.CheckpointSpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	repo, err := open(ctx, d.memory, e.Place)
	if err != nil {
		return effect.Failed(err)
	}
	result, err := mark(ctx, repo, e, spec.Name)
	if err == nil && spec.Ignored {
		result.Unkept, err = d.ignored.keep(ctx, repo, e.Place, result.Name, result.Tree, "")
	}
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(result)
}

// Done looks for the reference that carries the effect's id, and for what is kept beside it.
func (d Point) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, err := effect.Decode[effect.CheckpointSpec](e.Spec)
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	repo, err := open(ctx, d.memory, e.Place)
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	result, _, err := find(ctx, repo, e, spec.Name)
	switch {
	case err != nil:
		return effect.DoneUnknown, effect.Failed(err)
	case result.Commit == "" || spec.Ignored && !d.ignored.folder(e.Place).Has(result.Name):
		return effect.DoneNo, effect.Receipt{}
	case spec.Ignored:
		if result.Unkept, err = d.ignored.keep(ctx, repo, e.Place, result.Name, result.Tree, ""); err != nil {
			return effect.DoneUnknown, effect.Failed(err)
		}
	}
	return effect.DoneYes, effect.Succeeded(result)
}

// Undo removes the reference of the checkpoint, and what is kept beside it.
func (d Point) Undo(ctx context.Context, e effect.Effect, r effect.Receipt) effect.Receipt {
	result, err := effect.Decode[effect.CheckpointResult](r.Result)
	if err != nil {
		return effect.Failed(err)
	}
	repo, err := open(ctx, d.memory, e.Place)
	if err == nil {
		err = errors.Join(repo.Refs.Delete(ctx, result.Ref, result.Commit), d.ignored.folder(e.Place).Drop(result.Name))
	}
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(result)
}

// names are what may stand behind refs/pawl/: chk-YYYYMMDDHHMM of the seed, checkpoint-… of older tools, safety names.
var names = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`) })

// mostAlike bounds the checkpoints of one name: those of one minute.
const mostAlike = 1000

// find looks for the checkpoint that an effect made. Without one, free is the first name that is not taken.
func find(ctx context.Context, repo *git.Repo, e effect.Effect,
	name string) (result effect.CheckpointResult, free string, err error) {
	if !names().MatchString(name) {
		return result, "", pawl.Fail(pawl.CodeInvalid, "point.bad_name", name)
	}
	for n := 1; n <= mostAlike; n++ {
		candidate := name
		if n > 1 {
			candidate += "-" + strconv.Itoa(n)
		}
		ref := git.PrivateRef(candidate)
		id, err := repo.Refs.Lookup(ctx, ref)
		if err != nil {
			return result, "", err
		}
		if id == "" {
			return result, candidate, nil
		}
		commit, err := repo.Objects.ReadCommit(ctx, id)
		if err == nil && strings.Contains(commit.Message, "\n"+trailer(e)) {
			return effect.CheckpointResult{Name: candidate, Commit: id, Tree: commit.Tree, Ref: ref}, "", nil
		}
	}
	return result, "", pawl.Fail(pawl.CodeConflict, "point.no_name", name)
}

// trailer is the line by which a checkpoint is known as an effect's own.
func trailer(e effect.Effect) string { return "Pawl-Effect: " + e.ID + "\n" }

// mark makes the checkpoint of an effect, or returns the one that it made before a crash.
func mark(ctx context.Context, repo *git.Repo, e effect.Effect, name string) (effect.CheckpointResult, error) {
	result, free, err := find(ctx, repo, e, name)
	if err != nil || result.Commit != "" {
		return result, err
	}
	tree, err := repo.Snapshot(ctx)
	if err != nil {
		return result, err
	}
	message := "pawl checkpoint " + free + "\n\n" + trailer(e) + "Pawl-Session: " + e.Session + "\n"
	if e.Task != "" {
		message += "Pawl-Task: " + e.Task + "\n"
	}
	commit, err := repo.Objects.WriteCommit(ctx, git.Commit{Tree: tree, Message: message, By: layout.Pawl,
		At: time.Now()})
	if err != nil {
		return result, err
	}
	result = effect.CheckpointResult{Name: free, Commit: commit, Tree: tree, Ref: git.PrivateRef(free)}
	return result, repo.Refs.Set(ctx, result.Ref, commit, "", "pawl: checkpoint")
}
