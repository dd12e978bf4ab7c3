package checkpoint

import (
	"context"
	"errors"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// longestPatch bounds what Patch returns.
const longestPatch = 16 << 20

// Snapshotter records trees and compares what was recorded. What it remembers of trees only makes it quicker, so all
// state is in the trees and their repositories. It is safe for concurrent use; calls on one tree wait for each other.
// The zero value remembers nothing.
type Snapshotter struct{ memory *git.Memory }

// NewSnapshotter returns a Snapshotter. It shares what m remembers; m may be nil.
func NewSnapshotter(m *git.Memory) Snapshotter { return Snapshotter{m} }

// Snapshot records the tree of a place, tracked and untracked, and returns its id. What ignore files name is not
// recorded. In a place whose run keeps that beside its checkpoint, how it stands is noted.
//
// A git that fails, in whatever way, is tried again for some seconds.
func (s Snapshotter) Snapshot(ctx context.Context, p effect.Place) (tree string, err error) {
	for _, wait := range []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second} {
		var e *pawl.Error
		if tree, err = s.once(ctx, p); !errors.As(err, &e) || e.Key != "git.failed" && e.Key != "git.not_started" {
			return tree, err
		}
		select {
		case <-ctx.Done():
			return "", err
		case <-time.After(wait):
		}
	}
	return s.once(ctx, p)
}

func (s Snapshotter) once(ctx context.Context, p effect.Place) (string, error) {
	repo, err := open(ctx, s.memory, p)
	if err != nil {
		return "", err
	}
	tree, err := repo.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	return tree, note(ctx, p)
}

// Diff summarises the change from one recorded tree to another, in the order of paths. Renames are a deletion and an
// addition; binary files count no lines.
func (s Snapshotter) Diff(ctx context.Context, p effect.Place, from, to string) ([]effect.FileStat, error) {
	repo, err := open(ctx, s.memory, p)
	if err != nil {
		return nil, err
	}
	return git.Stats(ctx, repo, from, to)
}

// Was reads files of a recorded tree, the first MiB of each. What cannot be read is left out.
func (s Snapshotter) Was(ctx context.Context, p effect.Place, tree string, paths []string) map[string]string {
	repo, err := open(ctx, s.memory, p)
	if err != nil {
		return nil
	}
	return repo.Objects.Texts(ctx, tree, paths)
}

// Changed names the files that differ between two recorded trees, in the order of paths.
func (s Snapshotter) Changed(ctx context.Context, p effect.Place, from, to string) ([]string, error) {
	stats, err := s.Diff(ctx, p, from, to)
	var out []string
	for _, f := range stats {
		out = append(out, f.Path)
	}
	return out, err
}

// Patch returns the unified diff from one recorded tree to another, for people to read: at most 16 MiB of it, and cut
// says whether there was more. Binary files are only named.
func Patch(ctx context.Context, p effect.Place, from, to string) (patch string, cut bool, err error) {
	objects, err := git.Recorded(ctx, layout.Of(p))
	if err != nil {
		return "", false, err
	}
	return objects.Patch(ctx, from, to, longestPatch)
}

// ClearDangling removes references of pawl's that point to nothing, and reports whether there were any.
func (s Snapshotter) ClearDangling(ctx context.Context, p effect.Place) (bool, error) {
	repo, err := open(ctx, s.memory, p)
	if err != nil {
		return false, err
	}
	return repo.Refs.ClearDangling(ctx)
}
