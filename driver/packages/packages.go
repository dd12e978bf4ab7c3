// Package packages makes solution packages and moves them into the archive. What their documents say and where they go
// was decided before, by the pure package pawl/solution; a package appears whole or not at all, and none is ever
// deleted or written over.
package packages

import (
	"context"
	"maps"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/document"
	"pawl/text/solution"
)

// Make is the driver of effect.KindPackage. It is safe for concurrent use on different workspaces.
type Make struct{}

// NewMake returns the driver of effect.KindPackage.
func NewMake() Make { return Make{} }

// Do makes the folder of the package with its files. A name that is taken by another package is CodeConflict. It may be
// repeated.
func (Make) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	return effect.Outcome(makePackage(ctx, e))
}

// Done says yes when the package stands with exactly these files.
func (Make) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, f, err := open[effect.PackageSpec](e)
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	defer f.Close()
	if same, err := stands(ctx, f, spec); err != nil || !same {
		return effect.DoneNo, effect.Receipt{}
	}
	return effect.DoneYes, effect.Succeeded(effect.PackageResult{Dir: solution.LiveDir(spec.Name)})
}

func open[T any](e effect.Effect) (spec T, f *document.Folder, err error) {
	if spec, err = effect.Decode[T](e.Spec); err == nil {
		f, err = document.Open(e.Place.Workspace)
	}
	return spec, f, err
}

func makePackage(ctx context.Context, e effect.Effect) (effect.PackageResult, error) {
	result := effect.PackageResult{}
	spec, f, err := open[effect.PackageSpec](e)
	if err != nil {
		return result, err
	}
	defer f.Close()
	if _, err := solution.ParseName(spec.Name); err != nil {
		return result, err
	}
	result.Dir = solution.LiveDir(spec.Name)
	same, err := stands(ctx, f, spec)
	if err != nil || same {
		return result, err
	}
	if f.Exists(result.Dir) {
		return result, pawl.Fail(pawl.CodeConflict, "orders.taken", document.Dir+"/"+result.Dir)
	}
	// Names that begin with a dot are no packages, so nobody takes a half of one for the whole.
	temp := solution.PlanDir + "/.making-" + e.ID
	if err := f.Discard(ctx, temp); err != nil {
		return result, err
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Files)) {
		if strings.ContainsAny(name, "/\\") {
			return result, pawl.Fail(pawl.CodeDenied, "orders.bad_path", name)
		}
		if err := f.Put(temp+"/"+name, []byte(spec.Files[name])); err != nil {
			return result, err
		}
	}
	return result, f.Move(temp, result.Dir)
}

// stands reports whether a package is there and holds exactly its files.
func stands(ctx context.Context, f *document.Folder, spec effect.PackageSpec) (bool, error) {
	dir := solution.LiveDir(spec.Name)
	if !f.Exists(dir) {
		return false, nil
	}
	have, err := f.Files(ctx, dir)
	if err != nil || len(have) != len(spec.Files) {
		return false, err
	}
	for name, want := range spec.Files {
		if string(have[name]) != want {
			return false, nil
		}
	}
	return true, nil
}

// Retire is the driver of effect.KindRetire. It is safe for concurrent use on different workspaces.
type Retire struct{}

// NewRetire returns the driver of effect.KindRetire.
func NewRetire() Retire { return Retire{} }

// Do moves the packages into the archive, or back from there, and writes its index where that is to change. Nothing is
// moved unless all can be: a package that is gone, a place that is taken, or a document that changed since is
// CodeConflict or CodeNotFound. It may be repeated.
func (Retire) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	return effect.Outcome(retire(ctx, e, progress))
}

// Done says yes when every package lies where it goes and the index says so.
func (Retire) Done(_ context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, f, err := open[effect.RetireSpec](e)
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	defer f.Close()
	for _, p := range spec.Packages {
		if !moved(f, p) {
			return effect.DoneNo, effect.Receipt{}
		}
	}
	todo, err := f.Ready(index(spec))
	if err != nil || len(todo) > 0 {
		return effect.DoneNo, effect.Receipt{}
	}
	return effect.DoneYes, effect.Succeeded(archived(spec))
}

// index is the archive's index as it is to be, if it is to change.
func index(spec effect.RetireSpec) []effect.Document {
	if spec.Index.Path == "" {
		return nil
	}
	return []effect.Document{spec.Index}
}

// between reports whether a folder goes from below one folder to below another.
func between(from, to, here, there string) bool {
	return strings.HasPrefix(from, here+"/") && strings.HasPrefix(to, there+"/")
}

func archived(spec effect.RetireSpec) effect.RetireResult {
	var out effect.RetireResult
	for _, p := range spec.Packages {
		out.Archived = append(out.Archived, p.To)
	}
	return out
}

// moved reports whether a package lies where it is to go, as a run that was cut off left it: the tasks were written
// before the folder was moved.
func moved(f *document.Folder, p effect.Retired) bool {
	if f.Exists(p.From) || !f.Exists(p.To) {
		return false
	}
	if p.Tasks.Path == "" {
		return true
	}
	data, ok, err := f.Read(p.To + "/" + solution.TasksName)
	return err == nil && ok && string(data) == p.Tasks.Content
}

func retire(ctx context.Context, e effect.Effect, progress effect.Progress) (effect.RetireResult, error) {
	result := effect.RetireResult{}
	spec, f, err := open[effect.RetireSpec](e)
	if err != nil {
		return result, err
	}
	defer f.Close()
	var left []effect.Retired
	docs := index(spec)
	for _, p := range spec.Packages {
		if !between(p.From, p.To, solution.PlanDir, solution.ArchiveTop) &&
			!between(p.From, p.To, solution.ArchiveTop, solution.PlanDir) {
			return result, pawl.Fail(pawl.CodeDenied, "orders.bad_path", p.From+" "+p.To)
		}
		switch {
		case moved(f, p):
			continue
		case !f.Exists(p.From):
			return result, pawl.Fail(pawl.CodeNotFound, "orders.package_gone", p.From)
		case f.Exists(p.To):
			return result, pawl.Fail(pawl.CodeConflict, "orders.taken", document.Dir+"/"+p.To)
		}
		if p.Tasks.Path != "" {
			docs = append(docs, p.Tasks)
		}
		left = append(left, p)
	}
	if _, err := f.Ready(docs); err != nil {
		return result, err
	}
	for _, p := range left {
		if err := ctx.Err(); err != nil {
			return result, pawl.Fail(pawl.CodeCanceled, "orders.canceled").Because(err)
		}
		if p.Tasks.Path != "" {
			if _, err := f.Write(ctx, []effect.Document{p.Tasks}); err != nil {
				return result, err
			}
		}
		if err := f.Move(p.From, p.To); err != nil {
			return result, err
		}
		if progress != nil {
			progress(p.To)
		}
	}
	if _, err := f.Write(ctx, index(spec)); err != nil {
		return result, err
	}
	return archived(spec), nil
}

// Look reads what lies in the folder of packages that are not archived: the names of its folders, and the documents of
// each by name.
func Look(ctx context.Context, workspace string) (names []string, files map[string]map[string][]byte, err error) {
	f, err := document.Open(workspace)
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	list, err := f.List(solution.PlanDir)
	if err != nil {
		return nil, nil, err
	}
	files = map[string]map[string][]byte{}
	for _, name := range list {
		name, isFolder := strings.CutSuffix(name, "/")
		if !isFolder {
			continue
		}
		names = append(names, name)
		if files[name], err = f.Files(ctx, solution.LiveDir(name)); err != nil {
			return nil, nil, err
		}
	}
	return names, files, nil
}

// Archive reads the archive's index, "" where there is none, and says which folders there are below .pawl.
func Archive(workspace string) (index []byte, had bool, exists func(dir string) bool, err error) {
	f, err := document.Open(workspace)
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		return nil, false, func(string) bool { return false }, nil
	}
	if err != nil {
		return nil, false, nil, err
	}
	defer f.Close()
	if index, had, err = f.Read(solution.IndexName); err != nil {
		return nil, false, nil, err
	}
	months, err := f.List(solution.ArchiveTop)
	if err != nil {
		return nil, false, nil, err
	}
	parents := []string{solution.PlanDir}
	for _, m := range months {
		if month, isFolder := strings.CutSuffix(m, "/"); isFolder {
			parents = append(parents, solution.ArchiveTop+"/"+month)
		}
	}
	taken := map[string]bool{}
	for _, parent := range parents {
		names, err := f.List(parent)
		if err != nil {
			return nil, false, nil, err
		}
		for _, n := range names {
			taken[parent+"/"+strings.TrimSuffix(n, "/")] = true
		}
	}
	return index, had, func(dir string) bool { return taken[dir] }, nil
}
