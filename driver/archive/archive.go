// Package archive writes projections: the files below .pawl that the seeds name and that show people what the store
// holds (the task archive, plan packages, active_context.md, state.json). Projections are written whole and atomically,
// they can be written again at any time, and nothing here ever reads one as truth.
package archive

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/knowledge"
	"pawl/text/solution"
)

// Archive is the driver for effect.KindArchive. It is safe for concurrent use on different workspaces.
type Archive struct{}

// New returns the driver.
func New() Archive { return Archive{} }

// Do writes the files of an ArchiveSpec below .pawl of the place's workspace, as Write does, and answers with their
// names relative to .pawl. A CHANGELOG that cannot take its entries does not keep the rest from being written: it stays
// byte for byte as it is, and the receipt says why as its cause.
func (Archive) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	spec, dir, err := target(e)
	if err != nil {
		return effect.Failed(err)
	}
	moved, changed, err := move(ctx, e.Place.Workspace, &spec, false)
	if err != nil {
		return effect.Failed(err)
	}
	files, flaw, err := withLog(dir, spec)
	if err != nil {
		return effect.Failed(err)
	}
	written, err := Write(ctx, dir, files)
	if err != nil {
		return effect.Failed(err)
	}
	return receipt(written, moved, cmp.Or(flaw, changed))
}

// Done says yes when every file is written as Write would leave it, and no otherwise: to write again is harmless.
func (Archive) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, dir, err := target(e)
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	moved, changed, err := move(ctx, e.Place.Workspace, &spec, true)
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	files, flaw, err := withLog(dir, spec)
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	written, ok := Written(dir, files)
	if !ok {
		return effect.DoneNo, effect.Receipt{}
	}
	return effect.DoneYes, receipt(written, moved, cmp.Or(flaw, changed))
}

// receipt is that of files that stand, with what was amiss beside them, nil for nothing.
func receipt(written []string, moved *effect.Retired, flaw error) effect.Receipt {
	r := effect.Succeeded(effect.ArchiveResult{Written: written, Package: moved})
	if flaw != nil {
		r.Detail, r.Cause = flaw.Error(), effect.CauseOf(flaw)
	}
	return r
}

// target decodes the spec and returns the folder that it is about.
func target(e effect.Effect) (effect.ArchiveSpec, string, error) {
	spec, err := effect.Decode[effect.ArchiveSpec](e.Spec)
	if err != nil {
		return spec, "", err
	}
	if !filepath.IsAbs(e.Place.Workspace) {
		return spec, "", pawl.Fail(pawl.CodeInvalid, "archive.no_place").In("archive.Do")
	}
	return spec, filepath.Join(e.Place.Workspace, ".pawl"), nil
}

// withLog adds the CHANGELOG to the files, as it is with the entries, and before it the shards that its older entries
// move to. What people wrote in it stays. A CHANGELOG that is no text, no plain file or too large, or in which nothing
// can be added, is not among the files, because a task that is finished is archived whatever a person made of that one
// file; flaw says so, and says where one could not be split.
func withLog(dir string, spec effect.ArchiveSpec) (files []pawl.ProjectedFile, flaw, err error) {
	if len(spec.Log) == 0 {
		return spec.Files, nil, nil
	}
	root, err := openDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, failed(knowledge.ChangelogName, err)
	}
	// neither the files nor the folder need be there: Write makes them
	read := func(string) ([]byte, error) { return nil, nil }
	if err == nil {
		defer root.Close()
		read = func(name string) ([]byte, error) { return logged(root, name) }
	}
	grown, err := grow(read, spec.Log)
	switch code := pawl.CodeOf(err); {
	case err == nil:
	case code == pawl.CodeIO || code == pawl.CodeDiskFull:
		return nil, nil, err // the next attempt may read it
	default:
		return spec.Files, pawl.Fail(code, "knowledge.not_logged",
			knowledge.ChangelogName).Because(err).In("archive.Do"), nil
	}
	if grown.Unsplit != nil {
		flaw = pawl.Fail(pawl.CodeOf(grown.Unsplit), "knowledge.not_split", knowledge.ChangelogName,
			knowledge.MaxEntries).Because(grown.Unsplit).In("archive.Do")
	}
	files = slices.Clip(spec.Files)
	for _, name := range slices.Sorted(maps.Keys(grown.Years)) {
		files = append(files, pawl.ProjectedFile{Path: name, Content: grown.Years[name]})
	}
	return append(files, pawl.ProjectedFile{Path: knowledge.ChangelogName, Content: grown.Main}), flaw, nil
}

func grow(read func(name string) ([]byte, error), log []effect.LogEntry) (knowledge.Grown, error) {
	text, err := read(knowledge.ChangelogName)
	if err != nil {
		return knowledge.Grown{}, err
	}
	all := make([]knowledge.Entry, 0, len(log))
	for _, e := range log {
		all = append(all, knowledge.Entry{
			At: e.At, Kind: knowledge.Kind(e.Kind), Modules: e.Modules, Text: e.Text, Package: e.Package,
			Folder: e.Folder, Commit: e.Commit, Files: e.Files, ID: e.ID,
		})
	}
	return knowledge.Grow(text, all, read, solution.ParseLanguage(log[0].Language))
}

// logged reads a CHANGELOG or a shard, nil where there is none.
func logged(root *os.Root, name string) ([]byte, error) {
	data, err := writer{root: root}.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, failedUnlessNil(name, err)
}
