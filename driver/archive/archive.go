// Package archive writes projections: the files below .pawl that the seeds name and that show people what the store holds
// (the task archive, plan packages, active_context.md, state.json). Projections are written whole and atomically, they can
// be written again at any time, and nothing here ever reads one as truth.
package archive

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"pawl"
	"pawl/effect"
	"pawl/knowledge"
	"pawl/solution"
)

// Archive is the driver for effect.KindArchive. It is safe for concurrent use on different workspaces.
type Archive struct{}

// New returns the driver.
func New() Archive { return Archive{} }

// Do writes the files of an ArchiveSpec below .pawl of the place's workspace, as Write does, and answers with their names
// relative to .pawl.
func (Archive) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	spec, dir, err := target(e)
	if err != nil {
		return effect.Failed(err)
	}
	files, err := withLog(dir, spec)
	if err != nil {
		return effect.Failed(err)
	}
	written, err := Write(ctx, dir, files)
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(effect.ArchiveResult{Written: written})
}

// Done says yes when every file is written as Write would leave it, and no otherwise: to write again is harmless.
func (Archive) Done(_ context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, dir, err := target(e)
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	files, err := withLog(dir, spec)
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	written, ok := Written(dir, files)
	if !ok {
		return effect.DoneNo, effect.Receipt{}
	}
	return effect.DoneYes, effect.Succeeded(effect.ArchiveResult{Written: written})
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

// withLog adds the CHANGELOG to the files, as it is with the entries. What people wrote in it stays; a file that is no text is
// refused.
func withLog(dir string, spec effect.ArchiveSpec) ([]effect.ProjectedFile, error) {
	if len(spec.Log) == 0 {
		return spec.Files, nil
	}
	text, err := changelog(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed(knowledge.ChangelogName, err)
	}
	for _, e := range spec.Log {
		added, err := knowledge.Log(text, knowledge.Entry{
			At: e.At, Kind: knowledge.Kind(e.Kind), Modules: e.Modules, Text: e.Text, Package: e.Package, Folder: e.Folder, Commit: e.Commit, Files: e.Files, ID: e.ID,
		}, solution.ParseLanguage(e.Language))
		if err != nil {
			return nil, err
		}
		text = []byte(added)
	}
	return append(slices.Clip(spec.Files), effect.ProjectedFile{Path: knowledge.ChangelogName, Content: string(text)}), nil
}

// changelog reads the CHANGELOG. Neither it nor the folder need be there: Write makes both.
func changelog(dir string) ([]byte, error) {
	root, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return writer{root: root}.read(knowledge.ChangelogName)
}
