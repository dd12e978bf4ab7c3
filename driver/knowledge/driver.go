// Package knowledge keeps a project's knowledge base on disk: it looks at the code for what the documents are to say,
// writes documents that were decided before, and takes over the folders of older tools. What documents say, and what
// becomes of them, is decided in the pure package pawl/knowledge.
package knowledge

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/document"
	"pawl/sandbox/safeopen"
	"pawl/text/pattern"
)

// Driver is the driver of effect.KindKnowledge. It is safe for concurrent use on different workspaces.
type Driver struct{}

// New returns the driver.
func New() Driver { return Driver{} }

// Do copies an older knowledge base aside and into pawl's, where it is asked to, and writes the documents. It fails
// with CodeConflict, before it has written a document, where one changed since it was decided what it is to say. It may
// be repeated, and then does what is left.
func (d Driver) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	spec, f, err := open(e)
	if err != nil {
		return effect.Failed(err)
	}
	defer f.Close()
	if _, err := f.Ready(spec.Files); err != nil {
		return effect.Failed(err)
	}
	result := effect.KnowledgeResult{}
	if t := spec.Takeover; t != nil {
		if result.Written, err = take(ctx, f, *t, progress); err != nil {
			return effect.Failed(err)
		}
		result.Backup = t.Backup
	}
	written, err := f.Write(ctx, spec.Files)
	if err != nil {
		return effect.Failed(err)
	}
	result.Written = append(result.Written, written...)
	return effect.Succeeded(result)
}

// Done says yes when every document says what it is to say and every copy is there, and no otherwise: to do it again
// does what is left.
func (d Driver) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, f, err := open(e)
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	defer f.Close()
	result := effect.KnowledgeResult{}
	if t := spec.Takeover; t != nil {
		if _, err := f.Root().Lstat(t.Backup); err != nil {
			return effect.DoneNo, effect.Receipt{}
		}
		for _, c := range t.Copies {
			data, ok, err := f.Read(c.To)
			if err != nil || !ok || effect.Digest(data) != c.Digest {
				return effect.DoneNo, effect.Receipt{}
			}
			result.Written = append(result.Written, c.To)
		}
		result.Backup = t.Backup
	}
	todo, err := f.Ready(spec.Files)
	if err != nil || len(todo) > 0 || len(spec.Files) == 0 && spec.Takeover == nil {
		return effect.DoneNo, effect.Receipt{}
	}
	for _, doc := range spec.Files {
		result.Written = append(result.Written, doc.Path)
	}
	return effect.DoneYes, effect.Succeeded(result)
}

func open(e effect.Effect) (spec effect.KnowledgeSpec, f *document.Folder, err error) {
	if spec, err = effect.Decode[effect.KnowledgeSpec](e.Spec); err == nil {
		f, err = document.Open(e.Place.Workspace)
	}
	return spec, f, err
}

// making is what a backup is called while it is being made.
const making = ".making"

// take copies the old folder to its backup, which appears whole or not at all, and then the files into pawl's folder.
func take(ctx context.Context, f *document.Folder, t effect.Takeover, progress effect.Progress) ([]string, error) {
	if progress == nil {
		progress = func(string) {}
	}
	root := f.Root()
	if err := copyAside(ctx, root, t, progress); err != nil {
		return nil, err
	}
	var out []string
	for n, c := range t.Copies {
		if err := ctx.Err(); err != nil {
			return nil, pawl.Fail(pawl.CodeCanceled, "orders.canceled").Because(err)
		}
		data, err := root.ReadFile(path.Join(t.Folder, c.From), document.MaxFile)
		if err != nil {
			return nil, err
		}
		if effect.Digest(data) != c.Digest {
			return nil, pawl.Fail(pawl.CodeConflict, "orders.changed", path.Join(t.Folder, c.From))
		}
		if was, ok, err := f.Read(c.To); err != nil {
			return nil, err
		} else if ok && effect.Digest(was) != c.Digest {
			return nil, pawl.Fail(pawl.CodeConflict, "orders.taken", path.Join(document.Dir, c.To))
		} else if !ok {
			if err := f.Put(c.To, data); err != nil {
				return nil, err
			}
		}
		out = append(out, c.To)
		if n%20 == 19 || n == len(t.Copies)-1 {
			progress(c.To)
		}
	}
	return out, nil
}

func copyAside(ctx context.Context, root *safeopen.Root, t effect.Takeover, progress effect.Progress) error {
	if outside(t.Folder) || outside(t.Backup) || t.Folder == t.Backup {
		return pawl.Fail(pawl.CodeDenied, "orders.bad_path", t.Folder+" "+t.Backup)
	}
	if _, err := root.Lstat(t.Backup); err == nil {
		return nil // a run that was cut off made it: it is renamed into place when it is whole
	}
	temp := t.Backup + making
	if err := discardHalves(ctx, root, t.Backup); err != nil {
		return err
	}
	for _, rel := range t.All {
		if err := ctx.Err(); err != nil {
			return pawl.Fail(pawl.CodeCanceled, "orders.canceled").Because(err)
		}
		if outside(rel) {
			return pawl.Fail(pawl.CodeDenied, "orders.bad_path", rel)
		}
		data, err := root.ReadFile(path.Join(t.Folder, rel), 0)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(path.Dir(path.Join(temp, rel)), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(path.Join(temp, rel), data, 0); err != nil {
			return err
		}
	}
	progress(t.Backup)
	return root.Rename(temp, t.Backup)
}

// stamp is what stands behind the _backup_ in the name of a backup.
var stamp = pattern.New(`^\d{12}(?:_v\d+)?$`)

// discardHalves removes what a run that was killed left of a backup that it was making: of this one, and of others of
// the same folder, which had other names because they began at another time.
func discardHalves(ctx context.Context, root *safeopen.Root, backup string) error {
	if err := document.Discard(ctx, root, backup+making); err != nil {
		return err
	}
	dir, base := path.Split(backup)
	i := strings.LastIndex(base, "_backup_")
	if i < 0 {
		return nil
	}
	entries, err := root.ReadDir(path.Clean(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), base[:i]+"_backup_")
		rest, half := strings.CutSuffix(rest, making)
		if !ours || !half || !e.IsDir() || !stamp.Get().MatchString(rest) {
			continue
		}
		if err := document.Discard(ctx, root, path.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func outside(rel string) bool {
	return rel == "" || path.Clean(rel) != rel || path.IsAbs(rel) || rel == "." || rel == ".." ||
		strings.HasPrefix(rel, "../")
}

// Documents returns the documents of a workspace's knowledge base, by their paths relative to .pawl. Of a CHANGELOG
// that is too large to be one it returns so much that every reader sees it: people write that file, and one that has
// outgrown its limit is to be told of, not to keep anybody from the other documents.
func Documents(ctx context.Context, workspace string) (map[string][]byte, error) {
	f, err := document.Open(workspace)
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		return map[string][]byte{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string][]byte{}
	names, err := f.List("")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if base, _, _ := strings.Cut(name, "_"); name == "INDEX.md" || name == "context.md" ||
			strings.HasPrefix(base, "CHANGELOG") && strings.HasSuffix(name, ".md") {
			data, ok, err := f.Read(name)
			if pawl.CodeOf(err) == pawl.CodeInvalid && strings.HasPrefix(name, "CHANGELOG") {
				data, err = f.Root().ReadRange(path.Join(document.Dir, name), 0, document.MaxFile+1)
				ok = err == nil
			}
			if err != nil {
				return nil, err
			}
			if ok {
				out[name] = data
			}
		}
	}
	modules, err := f.Files(ctx, "modules")
	for name, data := range modules {
		out["modules/"+name] = data
	}
	return out, err
}

// Old is a knowledge base that another tool, or an older pawl, left in a workspace.
type Old struct {
	// Folder is where it is and Name what its copy is called after, both relative to the workspace. Files are all that
	// lie in it, with the digests of what they say, and Beside the names that stand next to the copy.
	Folder, Name string
	Files        map[string]string
	Beside       []string
	// Existing are the files of pawl's own knowledge base, relative to .pawl.
	Existing []string
}

// maxOld bounds what is taken over at once, in bytes.
const maxOld = 256 << 20

// FindOld looks for a knowledge base to take over: a folder helloagents, or documents of an older layout in .pawl
// itself. It fails with CodeNotFound where there is none.
func FindOld(ctx context.Context, workspace string) (Old, error) {
	root, err := safeopen.OpenRoot(workspace, safeopen.WithInternal())
	if err != nil {
		return Old{}, err
	}
	defer root.Close()
	old := Old{Folder: "helloagents", Name: "helloagents", Files: map[string]string{}}
	only := func(string) bool { return true }
	if info, err := root.Lstat(old.Folder); err != nil || !info.IsDir() {
		old.Folder, old.Name = document.Dir, document.Dir+"/kb"
		only = func(rel string) bool { return strings.HasPrefix(rel, "wiki/") || rel == "project.md" }
	}
	size := int64(0)
	err = root.Walk(ctx, old.Folder, func(at string, d fs.DirEntry) error {
		rel := strings.TrimPrefix(at, old.Folder+"/")
		if d.IsDir() && old.Folder == document.Dir && rel != "wiki" && !strings.HasPrefix(rel, "wiki/") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || !only(rel) {
			return nil
		}
		data, err := root.ReadFile(at, 0)
		if err != nil {
			return err
		}
		if size += int64(len(data)); size > maxOld || len(old.Files) >= document.MaxFiles {
			return pawl.Fail(pawl.CodeInvalid, "orders.too_many", old.Folder, document.MaxFiles)
		}
		old.Files[rel] = effect.Digest(data)
		return nil
	})
	if err != nil && pawl.CodeOf(err) != pawl.CodeNotFound {
		return Old{}, err
	}
	if len(old.Files) == 0 {
		return Old{}, pawl.Fail(pawl.CodeNotFound, "orders.upgrade_none")
	}
	beside := path.Dir(old.Name)
	entries, err := root.ReadDir(beside)
	for _, e := range entries {
		old.Beside = append(old.Beside, path.Join(beside, e.Name()))
	}
	if err != nil {
		return Old{}, err
	}
	old.Existing, err = existing(ctx, root, old)
	return old, err
}

func existing(ctx context.Context, root *safeopen.Root, old Old) ([]string, error) {
	var out []string
	for _, top := range []string{"INDEX.md", "context.md", "CHANGELOG.md"} {
		if _, err := root.Lstat(path.Join(document.Dir, top)); err == nil {
			out = append(out, top)
		}
	}
	for _, dir := range []string{"modules", "plan", "archive", "wiki"} {
		err := root.Walk(ctx, path.Join(document.Dir, dir), func(at string, d fs.DirEntry) error {
			rel := strings.TrimPrefix(at, document.Dir+"/")
			if _, moves := old.Files[rel]; !d.IsDir() && !(moves && old.Folder == document.Dir) {
				out = append(out, rel)
			}
			return nil
		})
		if err != nil && pawl.CodeOf(err) != pawl.CodeNotFound {
			return nil, err
		}
	}
	slices.Sort(out)
	return out, nil
}
