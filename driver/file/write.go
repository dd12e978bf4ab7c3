package file

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/effect"
)

// Fail is a failpoint of the writing tools. It is called with "before PATH" and "after PATH" around every change of a
// file; an error ends the call on the spot, as the death of the process would, with nothing cleaned up. Nil outside
// tests.
type Fail func(point string) error

// planner fills a draft with what the arguments of a call ask for.
type planner func(args json.RawMessage, d *draft) error

// writer is the common half of the tools that change files.
type writer struct {
	plan planner
	fail Fail
}

func (w writer) preflight(ctx context.Context, e effect.Effect) ([]effect.FileImage, error) {
	call, err := effect.Decode[effect.ToolCall](e.Spec)
	if err != nil {
		return nil, err
	}
	t, err := openTree(e)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	// A call that a crash cut short has its images already, and its files may be half written: the ledger decides.
	_, images, err := w.resolve(call, t)
	return images, err
}

func (w writer) draft(args json.RawMessage, from source) ([]edit, error) {
	d := newDraft(from)
	if err := w.plan(args, d); err != nil {
		return nil, err
	}
	return d.edits(), nil
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

func (w writer) do(ctx context.Context, e effect.Effect, p effect.Progress) effect.Receipt {
	start := time.Now()
	call, err := effect.Decode[effect.ToolCall](e.Spec)
	if err != nil {
		return finish(start, effect.Failed(err))
	}
	t, err := openTree(e)
	if err != nil {
		return finish(start, effect.Failed(err))
	}
	defer t.close()
	edits, images, err := w.resolve(call, t)
	if err == nil {
		err = canceled(ctx)
	}
	if err == nil {
		err = w.commit(t, edits, p)
	}
	if err != nil {
		return finish(start, effect.Failed(err))
	}
	return finish(start, effect.Succeeded(result(call, images, start)))
}

// resolve works out the edits of a call again. Where the ledger holds the images of the call, they decide: files that
// the call has already written count as they were before it, and the outcome must be the one that was committed.
func (w writer) resolve(call effect.ToolCall, t tree) ([]edit, []effect.FileImage, error) {
	if call.Images == nil {
		edits, err := w.draft(call.Args, shown{t})
		if err != nil {
			return nil, nil, err
		}
		images, err := t.images(edits)
		return edits, images, err
	}
	then := rewound{t, map[string]effect.FileImage{}}
	var changed []string
	for _, im := range call.Images {
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
	edits, err := w.draft(call.Args, then)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range edits {
		if im, ok := then.images[e.path]; !ok || im.NewHash != e.new.hash() || im.OldHash != e.old.hash() {
			return nil, nil, conflict([]string{e.path})
		}
	}
	return edits, call.Images, nil
}

// commit writes the edits one file at a time. Where one fails it takes back those before it, as far as it can, so that
// a call which reports a failure has changed nothing.
func (w writer) commit(t tree, edits []edit, p effect.Progress) error {
	var made []string
	for i, e := range edits {
		if err := w.point("before " + e.path); err != nil {
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
		if err := w.point("after " + e.path); err != nil {
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

func (w writer) point(name string) error {
	if w.fail == nil {
		return nil
	}
	return w.fail(name)
}

// done judges by the committed images whether the call has happened.
func (w writer) done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	start := time.Now()
	call, err := effect.Decode[effect.ToolCall](e.Spec)
	if err != nil || call.Images == nil || ctx.Err() != nil {
		return effect.DoneUnknown, effect.Receipt{}
	}
	t, err := openTree(e)
	if err != nil {
		return effect.DoneUnknown, effect.Receipt{}
	}
	defer t.close()
	all := true
	for _, im := range call.Images {
		now, err := t.look(im.Path)
		if err != nil {
			return effect.DoneUnknown, effect.Receipt{}
		}
		switch compare(im, now) {
		case foreign:
			return effect.DoneUnknown, effect.Receipt{}
		case asOld:
			all = false
		}
	}
	if !all {
		return effect.DoneNo, effect.Receipt{}
	}
	return effect.DoneYes, finish(start, effect.Succeeded(result(call, call.Images, start)))
}

// undo brings back what the images of a call say was there. It refuses when anybody else changed one of the files
// since.
func (w writer) undo(ctx context.Context, e effect.Effect, r effect.Receipt) effect.Receipt {
	start := time.Now()
	call, err := effect.Decode[effect.ToolCall](e.Spec)
	if err != nil {
		return finish(start, effect.Failed(err))
	}
	images := call.Images
	if len(r.Result) > 0 {
		res, err := effect.Decode[effect.ToolResult](r.Result)
		if err != nil {
			return finish(start, effect.Failed(err))
		}
		images = res.Inverse
	}
	t, err := openTree(e)
	if err != nil {
		return finish(start, effect.Failed(err))
	}
	defer t.close()
	edits, err := t.backward(images)
	if err == nil {
		err = canceled(ctx)
	}
	if err != nil {
		return finish(start, effect.Failed(err))
	}
	redo, err := t.images(edits)
	if err == nil {
		err = w.commit(t, edits, nil)
	}
	for _, im := range images {
		if err == nil {
			err = t.prune(im.Dirs)
		}
	}
	if err != nil {
		return finish(start, effect.Failed(err))
	}
	return finish(start, effect.Succeeded(result(call, redo, start)))
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

// change is one line of a writing tool's payload.
type change struct {
	Path   string `json:"path"`
	Action action `json:"action"`
	SHA256 string `json:"sha256"`
}

// writeReturn describes the payload of the writing tools.
var writeReturn = effect.Object{
	{Name: "files", Type: effect.Objects, Required: true, About: "The files that were changed.", Fields: effect.Object{
		{Name: "path", Type: effect.String, Required: true},
		{Name: "action", Type: effect.String, Required: true, Enum: []string{string(actionAdd), string(actionUpdate),
			string(actionDelete)}},
		{Name: "sha256", Type: effect.String, Required: true, About: "Hash of the new content, empty when deleted."},
	}},
}

// result reports the changes that images stand for.
func result(call effect.ToolCall, images []effect.FileImage, start time.Time) effect.ToolResult {
	files := []change{}
	paths := map[string]bool{}
	for _, im := range images {
		c := change{im.Path, actionUpdate, im.NewHash}
		switch {
		case im.OldHash == im.NewHash && im.OldMode == im.NewMode:
			continue
		case im.OldHash == "":
			c.Action = actionAdd
		case im.NewHash == "":
			c.Action = actionDelete
		}
		files = append(files, c)
		paths[im.Path] = true
	}
	return effect.ToolResult{
		CallID:  call.CallID,
		Payload: effect.Encode(map[string]any{"files": files}),
		Artifacts: effect.Artifacts{FilesChanged: append([]string{}, slices.Sorted(maps.Keys(paths))...),
			CommandsRun: []string{}},
		DurationMS: time.Since(start).Milliseconds(),
		Inverse:    images,
	}
}

// finish stamps a receipt with its times.
func finish(start time.Time, r effect.Receipt) effect.Receipt {
	r.Start, r.End = start, time.Now()
	return r
}
