package file

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

// defaultTimeMS is the time that a call on files may take, in milliseconds.
const defaultTimeMS = 30_000

// Patch is the tool apply_patch. It changes files by a patch, either a unified diff or the *** Begin Patch format, and
// it changes all of them or none. The zero value is ready for use.
type Patch struct {
	// Fail is a failpoint for tests.
	Fail Fail
}

type patchArgs struct {
	Patch string `json:"patch"`
}

var patchParams = effect.Object{
	{Name: "patch", Type: effect.String, Required: true,
		About: "Either a unified diff (git or plain, strict: line numbers and context must be right) or a patch between '*** Begin Patch' and '*** End Patch' with '*** Add File: PATH', '*** Delete File: PATH', '*** Update File: PATH' (optionally followed by '*** Move to: PATH'); hunks of an update begin with '@@' or '@@ LINE TO FIND FIRST', then lines that begin with ' ' (context), '-' (removed) or '+' (added). Paths are relative to the workspace."},
}

// Info describes the tool.
func (Patch) Info() effect.ToolInfo {
	return effect.ToolInfo{
		Name: "apply_patch", Version: "1.0.0",
		Description:   "Change files by a patch. Either every change of the patch is made or none.",
		ArgsSchema:    patchParams.Schema(),
		ReturnSchema:  writeReturn.Schema(),
		Permissions:   []policy.Permission{policy.FSRead, policy.FSWrite, policy.FSDelete},
		SideEffects:   []string{"changes, creates, moves and deletes files of the workspace"},
		DefaultTimeMS: defaultTimeMS,
	}
}

// Request reduces a call to what policy judges: every path that the patch names, with what happens to it. Arguments or
// a patch that are malformed are refused with pawl.CodeInvalid.
func (Patch) Request(args json.RawMessage) (policy.Request, error) {
	sections, err := decodePatch(args)
	if err != nil {
		return policy.Request{}, err
	}
	var paths []policy.Path
	for _, s := range sections {
		op := policy.OpWrite
		if s.action == actionDelete || s.moveTo != "" {
			op = policy.OpDelete
		}
		for _, p := range []policy.Path{{Rel: s.path, Op: op}, {Rel: s.moveTo, Op: policy.OpWrite}} {
			if p.Rel == "" {
				continue
			}
			if p.Rel, err = effect.CleanPath(p.Rel); err != nil {
				return policy.Request{}, err
			}
			paths = append(paths, p)
		}
	}
	return request("apply_patch", paths...), nil
}

func decodePatch(raw json.RawMessage) ([]section, error) {
	var a patchArgs
	if err := patchParams.Decode(raw, &a); err != nil {
		return nil, err
	}
	return parsePatch(a.Patch)
}

func request(tool string, paths ...policy.Path) policy.Request {
	r := policy.Request{Tool: tool, Paths: paths, Files: len(paths)}
	for _, p := range paths {
		need := policy.FSWrite
		switch p.Op {
		case policy.OpRead:
			need = policy.FSRead
		case policy.OpDelete:
			need = policy.FSDelete
		}
		if !slices.Contains(r.Permissions, need) {
			r.Permissions = append(r.Permissions, need)
		}
	}
	return r
}

func (t Patch) writer() writer {
	return writer{fail: t.Fail, plan: func(args json.RawMessage, d *draft) error {
		sections, err := decodePatch(args)
		if err != nil {
			return err
		}
		return applyPatch(d, sections)
	}}
}

// Preflight reads the tree and returns the image of every file that the call would change, without changing anything.
// The caller commits the images into the effect's spec before Do.
func (t Patch) Preflight(ctx context.Context, e effect.Effect) ([]effect.FileImage, error) {
	return t.writer().preflight(ctx, e)
}

// Do applies the patch. Files that already hold their new content according to the images are left alone, so that Do
// may be repeated; a file that is neither as before nor as after makes it refuse with pawl.CodeConflict before anything
// is written.
func (t Patch) Do(ctx context.Context, e effect.Effect, p effect.Progress) effect.Receipt {
	return t.writer().do(ctx, e, p)
}

// Done judges by the images: yes when every file is as after the call, no when Do has to begin or to go on, unknown
// when somebody else changed a file or no images were committed.
func (t Patch) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	return t.writer().done(ctx, e)
}

// Undo restores the bytes, modes and folders from before the call. It refuses with pawl.CodeConflict, naming the files,
// when one of them was changed since; then nothing is undone. The result's images undo the undo.
func (t Patch) Undo(ctx context.Context, e effect.Effect, r effect.Receipt) effect.Receipt {
	return t.writer().undo(ctx, e, r)
}

// Write is the tool write_file. It gives one file its whole content. The zero value is ready for use.
type Write struct {
	// Fail is a failpoint for tests.
	Fail Fail
}

type writeArgs struct {
	Path       string `json:"path"`
	Content    string `json:"content"`
	CreateDirs *bool  `json:"create_dirs"`
	Executable *bool  `json:"executable"`
}

var writeParams = effect.Object{
	{Name: "path", Type: effect.String, Required: true, Min: 1, Max: 4096, About: "File, relative to the workspace."},
	{Name: "content", Type: effect.String, Required: true,
		About: "The whole content. Line endings are written as given."},
	{Name: "create_dirs", Type: effect.Boolean, About: "Create missing folders; true unless given."},
	{Name: "executable", Type: effect.Boolean,
		About: "Set or clear the permission to execute; the mode stays as it is unless given."},
}

// Info describes the tool.
func (Write) Info() effect.ToolInfo {
	return effect.ToolInfo{
		Name: "write_file", Version: "1.0.0",
		Description:   "Create a file or replace its whole content, at most 10 MiB.",
		ArgsSchema:    writeParams.Schema(),
		ReturnSchema:  writeReturn.Schema(),
		Permissions:   []policy.Permission{policy.FSWrite},
		SideEffects:   []string{"creates or replaces a file of the workspace, with its missing folders"},
		DefaultTimeMS: defaultTimeMS,
	}
}

// Request reduces a call to what policy judges. Malformed arguments are refused with pawl.CodeInvalid.
func (Write) Request(args json.RawMessage) (policy.Request, error) {
	a, err := decodeWrite(args)
	return request("write_file", policy.Path{Rel: a.Path, Op: policy.OpWrite}), err
}

func decodeWrite(raw json.RawMessage) (writeArgs, error) {
	var a writeArgs
	err := writeParams.Decode(raw, &a)
	if err == nil {
		a.Path, err = cleanFile(a.Path)
	}
	return a, err
}

// cleanFile is effect.CleanPath for what must be a file: a slash at the end says that a folder is meant.
func cleanFile(p string) (string, error) {
	if strings.HasSuffix(p, "/") {
		return "", pawl.Fail(pawl.CodeInvalid, "file.is_folder", p).In("file.args")
	}
	return effect.CleanPath(p)
}

func (t Write) writer() writer {
	return writer{fail: t.Fail, plan: func(args json.RawMessage, d *draft) error {
		a, err := decodeWrite(args)
		if err != nil {
			return err
		}
		now, err := d.get(a.Path)
		if err != nil {
			return err
		}
		if dir := path.Dir(a.Path); a.CreateDirs != nil && !*a.CreateDirs && dir != "." {
			if c, err := d.look(dir); err != nil || !c.dir {
				return pawl.Fail(pawl.CodeNotFound, "file.no_folder", dir).In("file.write").Because(err)
			}
		}
		next := content{exists: true, data: []byte(a.Content), mode: now.mode}
		if next.mode == 0 {
			next.mode = defaultMode
		}
		if a.Executable != nil {
			next.mode &^= 0o111
			if *a.Executable {
				next.mode |= next.mode >> 2 & 0o111 // whoever may read it may run it
			}
		}
		return d.put(a.Path, next)
	}}
}

// Preflight is as for Patch.
func (t Write) Preflight(ctx context.Context, e effect.Effect) ([]effect.FileImage, error) {
	return t.writer().preflight(ctx, e)
}

// Do writes the file; otherwise it is as for Patch.
func (t Write) Do(ctx context.Context, e effect.Effect, p effect.Progress) effect.Receipt {
	return t.writer().do(ctx, e, p)
}

// Done is as for Patch.
func (t Write) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	return t.writer().done(ctx, e)
}

// Undo is as for Patch.
func (t Write) Undo(ctx context.Context, e effect.Effect, r effect.Receipt) effect.Receipt {
	return t.writer().undo(ctx, e, r)
}

// Delete is the tool delete_file. It removes one regular file; folders stay. The zero value is ready for use.
type Delete struct {
	// Fail is a failpoint for tests.
	Fail Fail
}

type deleteArgs struct {
	Path string `json:"path"`
}

var deleteParams = effect.Object{
	{Name: "path", Type: effect.String, Required: true, Min: 1, Max: 4096,
		About: "File, relative to the workspace. Folders are refused."},
}

// Info describes the tool.
func (Delete) Info() effect.ToolInfo {
	return effect.ToolInfo{
		Name: "delete_file", Version: "1.0.0",
		Description:  "Delete one file. It can be undone.",
		ArgsSchema:   deleteParams.Schema(),
		ReturnSchema: writeReturn.Schema(),
		Permissions:  []policy.Permission{policy.FSDelete},
		SideEffects:  []string{"deletes a file of the workspace"}, DefaultTimeMS: defaultTimeMS,
	}
}

// Request reduces a call to what policy judges. Malformed arguments are refused with pawl.CodeInvalid.
func (Delete) Request(args json.RawMessage) (policy.Request, error) {
	a, err := decodeDelete(args)
	return request("delete_file", policy.Path{Rel: a.Path, Op: policy.OpDelete}), err
}

func decodeDelete(raw json.RawMessage) (deleteArgs, error) {
	var a deleteArgs
	err := deleteParams.Decode(raw, &a)
	if err == nil {
		a.Path, err = cleanFile(a.Path)
	}
	return a, err
}

func (t Delete) writer() writer {
	return writer{fail: t.Fail, plan: func(args json.RawMessage, d *draft) error {
		a, err := decodeDelete(args)
		if err != nil {
			return err
		}
		return section{action: actionDelete, path: a.Path}.applyTo(d)
	}}
}

// Preflight is as for Patch.
func (t Delete) Preflight(ctx context.Context, e effect.Effect) ([]effect.FileImage, error) {
	return t.writer().preflight(ctx, e)
}

// Do deletes the file; otherwise it is as for Patch.
func (t Delete) Do(ctx context.Context, e effect.Effect, p effect.Progress) effect.Receipt {
	return t.writer().do(ctx, e, p)
}

// Done is as for Patch.
func (t Delete) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	return t.writer().done(ctx, e)
}

// Undo is as for Patch.
func (t Delete) Undo(ctx context.Context, e effect.Effect, r effect.Receipt) effect.Receipt {
	return t.writer().undo(ctx, e, r)
}
