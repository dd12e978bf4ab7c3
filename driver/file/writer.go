package file

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"pawl"
	"pawl/driver/tool"
	"pawl/kernel/effect"
)

// Fail is a failpoint of the writing tools. It is called with "before PATH" and "after PATH" around every change of a
// file; an error ends the call on the spot, as the death of the process would, with nothing cleaned up. Nil outside
// tests.
type Fail func(point string) error

// Writer is a tool that changes files: all that a call asks for or none.
type Writer struct {
	tool.Tool
	// plan puts the changes that a call asks for into a draft.
	plan func(args json.RawMessage, d *draft) error
}

// writer makes a tool that changes files of what is its own: its declaration, and how its arguments change a draft.
func writer[A any](own tool.Declaration[A, written], fail Fail, plan func(A, *draft) error) Writer {
	own.Info.Version, own.Info.DefaultTimeMS = "1.0.0", defaultTimeMS
	own.Preflight = func(ctx context.Context, c *tool.Call, a A) ([]effect.FileImage, error) {
		t, err := openTree(c.Effect.Place)
		if err != nil {
			return nil, err
		}
		defer t.close()
		if err := canceled(ctx); err != nil {
			return nil, err
		}
		// A call that a crash cut short has its images already, and its files may be half written: the ledger decides.
		_, images, err := t.resolve(c.Images, func(d *draft) error { return plan(a, d) })
		return images, err
	}
	own.Do = func(ctx context.Context, c *tool.Call, a A) (*written, error) {
		t, err := openTree(c.Effect.Place)
		if err != nil {
			return nil, err
		}
		defer t.close()
		edits, images, err := t.resolve(c.Images, func(d *draft) error { return plan(a, d) })
		if err == nil {
			err = canceled(ctx)
		}
		if err == nil {
			err = t.commit(edits, fail, c.Progress)
		}
		if err != nil {
			return nil, err
		}
		return result(c, images), nil
	}
	own.Done = done
	own.Undo = func(ctx context.Context, c *tool.Call, did *effect.ToolResult) (*written, error) {
		return undo(ctx, c, did, fail)
	}
	return Writer{tool.New(own), func(args json.RawMessage, d *draft) error {
		a, err := own.Decode(args)
		if err != nil {
			return err
		}
		return plan(a, d)
	}}
}

func (t tree) images(edits []edit) ([]effect.FileImage, error) {
	out := make([]effect.FileImage, len(edits))
	for i, e := range edits {
		var dirs []string
		if e.new.exists {
			var err error
			if dirs, err = t.missing(e.path); err != nil {
				return nil, err
			}
		}
		out[i] = e.image(dirs)
	}
	return out, nil
}

// resolve works out the edits of a call again. Where the ledger holds the images of the call, they decide: files that
// the call has already written count as they were before it, and the outcome must be the one that was committed.
func (t tree) resolve(committed []effect.FileImage, plan func(*draft) error) ([]edit, []effect.FileImage, error) {
	if committed == nil {
		d := newDraft(shown{t})
		if err := plan(d); err != nil {
			return nil, nil, err
		}
		edits := d.edits()
		images, err := t.images(edits)
		return edits, images, err
	}
	then := rewound{t, map[string]effect.FileImage{}}
	var changed []string
	for _, im := range committed {
		then.images[im.Path] = im
		now, err := t.look(im.Path)
		if err != nil {
			return nil, nil, err
		}
		if compare(im, now) == foreign {
			changed = append(changed, im.Path)
		}
	}
	if len(changed) > 0 {
		return nil, nil, conflict(changed)
	}
	d := newDraft(then)
	if err := plan(d); err != nil {
		return nil, nil, err
	}
	edits := d.edits()
	for _, e := range edits {
		if im, ok := then.images[e.path]; !ok || im.NewHash != e.new.hash() || im.OldHash != e.old.hash() {
			return nil, nil, conflict([]string{e.path})
		}
	}
	return edits, committed, nil
}

// commit writes the edits one file at a time. Where one fails it takes back those before it, as far as it can, so that
// a call which reports a failure has changed nothing.
func (t tree) commit(edits []edit, fail Fail, p effect.Progress) error {
	var made []string
	for i, e := range edits {
		if err := fail.at("before " + e.path); err != nil {
			return err
		}
		dirs, err := t.missing(e.path)
		if err != nil {
			return t.takeBack(edits[:i], made, err)
		}
		if e.new.exists {
			made = append(made, dirs...)
		}
		wrote, err := t.replace(e)
		if err != nil {
			return t.takeBack(edits[:i], made, err)
		}
		if wrote && p != nil {
			p(e.path)
		}
		if err := fail.at("after " + e.path); err != nil {
			return err
		}
	}
	return nil
}

// takeBack undoes edits that were written before one that failed with cause, and returns the error of the whole call.
func (t tree) takeBack(edits []edit, made []string, cause error) error {
	for _, e := range slices.Backward(edits) {
		if _, err := t.replace(edit{e.path, e.new, e.old}); err != nil {
			return pawl.Fail(pawl.CodeOutcomeUnknown, "file.half_done", e.path).In("file.write").Because(cause)
		}
	}
	if err := t.prune(made); err != nil {
		return pawl.Fail(pawl.CodeOutcomeUnknown, "file.half_done",
			strings.Join(made, ", ")).In("file.write").Because(cause)
	}
	return cause
}

// replace carries out one edit, and reports false where it is carried out already. The file is looked at once more at
// the last moment, because the draft may be as old as a large patch is long.
func (t tree) replace(e edit) (bool, error) {
	now, err := t.look(e.path)
	if err != nil {
		return false, err
	}
	switch compare(e.marks(), now) {
	case asNew:
		return false, nil
	case foreign:
		return false, conflict([]string{e.path})
	}
	return true, t.write(e.path, e.new)
}

// marks is the image of an edit without the way back.
func (e edit) marks() effect.FileImage {
	return effect.FileImage{Path: e.path, OldHash: e.old.hash(), NewHash: e.new.hash(), OldMode: e.old.mode,
		NewMode: e.new.mode}
}

func (f Fail) at(point string) error {
	if f == nil {
		return nil
	}
	return f(point)
}

// done judges by the committed images whether the call has happened: yes when every file is as after it, no when Do has
// to begin or to go on, unknown when somebody else changed a file or no images were committed.
func done(ctx context.Context, c *tool.Call) (effect.Answer, *written) {
	if c.Images == nil || ctx.Err() != nil {
		return effect.DoneUnknown, nil
	}
	t, err := openTree(c.Effect.Place)
	if err != nil {
		return effect.DoneUnknown, nil
	}
	defer t.close()
	answer := effect.DoneYes
	for _, im := range c.Images {
		now, err := t.look(im.Path)
		if err != nil {
			return effect.DoneUnknown, nil
		}
		switch compare(im, now) {
		case foreign:
			return effect.DoneUnknown, nil
		case asOld:
			answer = effect.DoneNo
		}
	}
	return answer, result(c, c.Images)
}

// undo brings back the bytes, modes and folders that the images of a call say were there. It refuses with
// pawl.CodeConflict, naming the files, when anybody else changed one of them since; then nothing is undone. The
// result's images undo the undo.
func undo(ctx context.Context, c *tool.Call, did *effect.ToolResult, fail Fail) (*written, error) {
	images := c.Images
	if did != nil {
		images = did.Inverse
	}
	t, err := openTree(c.Effect.Place)
	if err != nil {
		return nil, err
	}
	defer t.close()
	edits, err := t.backward(images)
	if err == nil {
		err = canceled(ctx)
	}
	if err != nil {
		return nil, err
	}
	redo, err := t.images(edits)
	if err == nil {
		err = t.commit(edits, fail, nil)
	}
	for _, im := range images {
		if err == nil {
			err = t.prune(im.Dirs)
		}
	}
	if err != nil {
		return nil, err
	}
	return result(c, redo), nil
}

// backward turns images into the edits that undo them. Files that are as they were before the call need none.
func (t tree) backward(images []effect.FileImage) ([]edit, error) {
	var edits []edit
	var changed []string
	for _, im := range images {
		rel, err := effect.LocalPath(im.Path)
		if err != nil {
			return nil, err
		}
		now, err := t.look(rel)
		if err != nil {
			return nil, err
		}
		switch compare(im, now) {
		case foreign:
			changed = append(changed, rel)
		case asNew:
			old, err := before(im, now)
			if err != nil {
				return nil, err
			}
			edits = append(edits, edit{rel, now, old})
		}
	}
	if len(changed) > 0 {
		return nil, conflict(changed)
	}
	writesFirst(edits)
	return edits, nil
}

func conflict(paths []string) error {
	return pawl.Fail(pawl.CodeConflict, "file.changed", strings.Join(paths, ", ")).In("file.write")
}

func canceled(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return pawl.Fail(pawl.CodeCanceled, "file.canceled").In("file.call").Because(err)
	}
	return nil
}

// written is what the writing tools answer with.
type written struct {
	Files []change `json:"files" about:"The files that were changed."`
}

type change struct {
	Path   string `json:"path"`
	Action action `json:"action" enum:"add,update,delete"`
	SHA256 string `json:"sha256" about:"Hash of the new content, empty when deleted."`
}

// result reports the changes that images stand for.
func result(c *tool.Call, images []effect.FileImage) *written {
	out := &written{Files: []change{}}
	paths := map[string]bool{}
	for _, im := range images {
		made := change{im.Path, actionUpdate, im.NewHash}
		switch {
		case im.OldHash == im.NewHash && im.OldMode == im.NewMode:
			continue
		case im.OldHash == "":
			made.Action = actionAdd
		case im.NewHash == "":
			made.Action = actionDelete
		}
		out.Files = append(out.Files, made)
		paths[im.Path] = true
	}
	c.Result.Artifacts.FilesChanged = append(c.Result.Artifacts.FilesChanged, slices.Sorted(maps.Keys(paths))...)
	c.Result.Inverse = images
	return out
}
