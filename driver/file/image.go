package file

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"pawl"
	"pawl/kernel/effect"
)

// image records an edit: what was there, what will be there, and how to get back.
func (e edit) image(dirs []string) effect.FileImage {
	im := effect.FileImage{Path: e.path, OldHash: e.old.hash(), NewHash: e.new.hash(), Dirs: dirs}
	if e.old.exists {
		im.OldMode = e.old.mode
	}
	if e.new.exists {
		im.NewMode = e.new.mode
	}
	if !e.old.exists || im.OldHash == im.NewHash {
		return im
	}
	if patch, ok := inversePatch(e); ok {
		im.Patch = patch
	} else {
		im.Before = e.old.data
	}
	return im
}

// maxDiff bounds the bytes of both sides of a diff; beyond it, a diff costs more time than it saves space.
const maxDiff = 1 << 20

// inversePatch returns the unified diff from new to old. It is used only where it is text that survives JSON, gives
// back exactly the old bytes, and is not much longer than they are.
func inversePatch(e edit) (string, bool) {
	if len(e.old.data)+len(e.new.data) > maxDiff {
		return "", false
	}
	before, after := string(e.new.data), string(e.old.data)
	if !utf8.ValidString(before) || !utf8.ValidString(after) || strings.ContainsRune(before+after, 0) {
		return "", false
	}
	patch, err := udiff.ToUnified("b/"+e.path, "a/"+e.path, before, udiff.Lines(before, after),
		udiff.DefaultContextLines)
	if err != nil || patch == "" || len(patch) > 2*len(after)+1024 {
		return "", false
	}
	back, err := applyInverse(patch, e.new.data)
	return patch, err == nil && bytes.Equal(back, e.old.data)
}

func applyInverse(patch string, data []byte) ([]byte, error) {
	files, _, err := gitdiff.Parse(strings.NewReader(patch))
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, pawl.Fail(pawl.CodeInternal, "file.image_damaged", "")
	}
	var out bytes.Buffer
	if err := gitdiff.Apply(&out, bytes.NewReader(data), files[0]); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// status is how the file at an image's path stands to the image.
type status string

const (
	asOld   status = "old"
	asNew   status = "new"
	foreign status = "foreign" // neither: somebody else changed it
)

// compare judges a file against an image. Where a call changes nothing, the file is both old and new, and new is said.
// The mode counts only where the call changes it.
func compare(im effect.FileImage, c content) status {
	hash := c.hash()
	modeMatters := im.OldHash == im.NewHash && im.OldMode != im.NewMode
	switch {
	case c.dir:
		return foreign
	case hash == im.NewHash && (!modeMatters || c.mode == im.NewMode):
		return asNew
	case hash == im.OldHash && (!modeMatters || c.mode == im.OldMode):
		return asOld
	}
	return foreign
}

// before rebuilds what stood at the image's path before the call, from what stands there after it.
func before(im effect.FileImage, after content) (content, error) {
	c := content{exists: true, mode: im.OldMode}
	switch {
	case im.OldHash == "":
		return content{}, nil
	case im.OldHash == im.NewHash:
		c.data = after.data
	case im.Patch != "":
		data, err := applyInverse(im.Patch, after.data)
		if err != nil {
			return c, damaged(im).Because(err)
		}
		c.data = data
	default:
		c.data = im.Before
	}
	if c.hash() != im.OldHash {
		return c, damaged(im)
	}
	return c, nil
}

func damaged(im effect.FileImage) *pawl.Error {
	return pawl.Fail(pawl.CodeInternal, "file.image_damaged", im.Path).In("file.undo")
}

// rewound is a tree in which the files of some images are as they were before the call, wherever the call has got to.
type rewound struct {
	source
	images map[string]effect.FileImage
}

func (r rewound) look(rel string) (content, error) {
	c, err := r.source.look(rel)
	if err != nil {
		return c, err
	}
	im, ok := r.images[rel]
	if !ok || compare(im, c) != asNew {
		return c, nil
	}
	return before(im, c)
}
