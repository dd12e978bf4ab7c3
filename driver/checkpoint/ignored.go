package checkpoint

import (
	"context"

	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/keep"
)

// Ignored keeps what git does not record of a person's own folder beside the checkpoints of runs in it, and brings it
// back. The zero value copies nothing. It is safe for concurrent use.
type Ignored struct {
	memory *git.Memory
	limit  int64
}

// NewIgnored returns what keeps at most limit bytes with a checkpoint, beside what the file system shares. It shares
// what m remembers; m may be nil.
func NewIgnored(m *git.Memory, limit int64) Ignored { return Ignored{m, limit} }

func (i Ignored) folder(p effect.Place) keep.Folder {
	return keep.Folder{Dir: p.Workspace, State: p.Own(), Limit: i.limit}
}

// recorded are the paths that a tree holds.
func recorded(ctx context.Context, repo *git.Repo, tree string) (map[string]bool, error) {
	empty, err := repo.Objects.EmptyTree(ctx)
	if err != nil {
		return nil, err
	}
	all, err := repo.Objects.Diff(ctx, empty, tree)
	out := make(map[string]bool, len(all))
	for _, c := range all {
		out[c.Path] = true
	}
	return out, err
}

// Foresee says what a checkpoint of a place would neither record nor keep.
func (i Ignored) Foresee(ctx context.Context, p effect.Place) ([]effect.Unkept, error) {
	repo, err := open(ctx, i.memory, p)
	if err != nil {
		return nil, err
	}
	tree, err := repo.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	have, err := recorded(ctx, repo, tree)
	if err != nil {
		return nil, err
	}
	return i.folder(p).Foresee(have)
}

// keep keeps the folder as it is beside the checkpoint name, whose tree is given. Like is as in keep.Folder.
func (i Ignored) keep(ctx context.Context, repo *git.Repo, p effect.Place, name, tree,
	like string) ([]effect.Unkept, error) {
	have, err := recorded(ctx, repo, tree)
	if err != nil {
		return nil, err
	}
	return i.folder(p).Make(ctx, name, have, like)
}

// Around has git bring back what is recorded, and brings back what is not from the keep of the name kept. Safety is the
// name under which the folder is kept before. It may be repeated after a crash.
func (i Ignored) Around(ctx context.Context, p effect.Place, kept, safety string,
	restore func() error) (*effect.IgnoredBack, error) {
	f := i.folder(p)
	if !f.Has(kept) {
		return &effect.IgnoredBack{Lost: []effect.Unkept{{Path: ".", Why: effect.UnkeptGone}}}, restore()
	}
	if f.Has(safety) { // an earlier attempt was cut short
		if err := sweep(ctx, p.Tree); err != nil {
			return nil, err
		}
	} else {
		repo, err := open(ctx, i.memory, p)
		if err != nil {
			return nil, err
		}
		tree, err := repo.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		if _, err := i.keep(ctx, repo, p, safety, tree, kept); err != nil {
			return nil, err
		}
	}
	back, err := f.Bring(ctx, kept, safety, restore)
	return &back, err
}

// Finished is what Around said once it was done, nil where it was not.
func (i Ignored) Finished(p effect.Place, kept, safety string) (back *effect.IgnoredBack, ok bool) {
	f := i.folder(p)
	if !f.Has(kept) {
		return &effect.IgnoredBack{Lost: []effect.Unkept{{Path: ".", Why: effect.UnkeptGone}}}, true
	}
	back = f.Finished(safety)
	return back, back != nil
}

// note keeps how a run left the folder of a place, where it has a keep.
func note(ctx context.Context, p effect.Place) error {
	f := keep.Folder{Dir: p.Workspace, State: p.Own()}
	if !f.Has(p.Kept) {
		return nil
	}
	return f.Note(ctx, p.Kept)
}
