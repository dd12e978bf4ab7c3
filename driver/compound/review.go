package compound

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"

	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// Bounds of what a reviewer is shown: the bytes of a change, and those of a file whose lines are counted.
const (
	maxShownPatch = 30 << 10
	maxCounted    = 8 << 20
)

// review shows a reviewer the change that it is about.
func (b Briefed) review(ctx context.Context, e effect.Effect, host effect.Host,
	progress effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.ReviewSpec](e.Spec)
	if err == nil {
		spec, err = b.shown(ctx, e.Place, spec)
	}
	if err != nil {
		return effect.Failed(err)
	}
	e.Spec = effect.Encode(spec)
	return b.Set.Work(ctx, e, host, progress)
}

// shown adds to a spec what the work changed.
func (b Briefed) shown(ctx context.Context, at effect.Place, spec effect.ReviewSpec) (effect.ReviewSpec, error) {
	repo, err := b.memory.Open(ctx, layout.Of(at))
	if err != nil {
		return spec, err
	}
	changed, err := git.Stats(ctx, repo, spec.Base, spec.Tree)
	if err != nil {
		return spec, err
	}
	cut := false
	if spec.Patch, cut, err = repo.Objects.Patch(ctx, spec.Base, spec.Tree, maxShownPatch); err != nil {
		return spec, err
	}
	root, err := os.OpenRoot(at.Tree)
	if err != nil {
		return spec, err
	}
	defer root.Close()
	whole := len(changed)
	if cut { // the patch is in the order of the files, and ends within the last that it speaks of
		whole = max(strings.Count("\n"+spec.Patch, "\ndiff --git ")-1, 0)
	}
	for i, f := range changed {
		lines := f.Removed
		if f.Status != "D" {
			lines = countLines(root, f.Path)
		}
		spec.Files = append(spec.Files, effect.ReviewedFile{FileStat: f, Lines: lines})
		if i >= whole {
			spec.Cut = append(spec.Cut, f.Path)
		}
	}
	return spec, nil
}

// countLines counts the lines of a file, 0 where they cannot be counted.
func countLines(root *os.Root, name string) int {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCounted {
		return 0
	}
	text, err := fs.ReadFile(root.FS(), name)
	if err != nil || len(text) == 0 || slices.Contains(text, 0) {
		return 0
	}
	n := bytes.Count(text, []byte("\n"))
	if text[len(text)-1] != '\n' {
		n++
	}
	return n
}
