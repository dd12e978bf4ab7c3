package archive

import (
	"context"
	"path"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/document"
	"pawl/text/solution"
)

// move moves the package of a person into the archive as it lies in plan/, with all that is in its folder, and has the
// files that are still to be written speak of where it went. Its tasks.md says then what became of its tasks, unless it
// was changed since that was decided; changed tells of that. A package that is gone leaves what the files hold instead.
// It may be repeated. With only, nothing is done any more: a package that still lies in plan/ is an error.
func move(ctx context.Context, workspace string, spec *effect.ArchiveSpec, only bool) (
	moved *effect.Retired, changed, err error,
) {
	if spec.Package == nil {
		return nil, nil, nil
	}
	f, err := document.Open(workspace)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	p := *spec.Package
	switch there := f.Exists(p.From); {
	case there && only:
		return nil, nil, pawl.Fail(pawl.CodeNotFound, "orders.package_gone", p.To)
	case there:
		p.To = free(f, p.To)
		if _, err := f.Write(ctx, []effect.Document{p.Tasks}); pawl.CodeOf(err) == pawl.CodeConflict {
			changed = pawl.Fail(pawl.CodeConflict, "archive.package_changed", p.To)
			p.Tasks = effect.Document{}
		} else if err != nil {
			return nil, nil, err
		}
		if err := f.Move(p.From, p.To); err != nil {
			return nil, nil, err
		}
	default:
		if p.To, err = standsAt(f, p); p.To == "" {
			return nil, nil, err
		}
	}
	spec.Files = follow(spec.Files, spec.Package.To, p.To)
	return &p, changed, nil
}

// free is the first version of a name that is not taken.
func free(f *document.Folder, name string) string {
	for n := 1; ; n++ {
		if v := version(name, n); !f.Exists(v) {
			return v
		}
	}
}

// standsAt finds where a package went that is no longer in plan/: the version of its name whose tasks.md says what it
// is to say. "" is the answer where there is none.
func standsAt(f *document.Folder, p effect.Retired) (at string, err error) {
	for n := 1; f.Exists(version(p.To, n)); n++ {
		data, ok, err := f.Read(version(p.To, n) + "/" + solution.TasksName)
		if err != nil {
			return "", err
		}
		if ok && string(data) == p.Tasks.Content {
			at = version(p.To, n)
		}
	}
	return at, nil
}

// follow takes out of files what would stand for a package that was moved, and has the others name where it went.
func follow(files []pawl.ProjectedFile, meant, went string) []pawl.ProjectedFile {
	files = slices.DeleteFunc(slices.Clone(files), func(f pawl.ProjectedFile) bool {
		return f.Unique && path.Dir(f.Path) == meant
	})
	for i := range files {
		files[i].Content = strings.ReplaceAll(files[i].Content, path.Base(meant)+"/", path.Base(went)+"/")
	}
	return files
}
