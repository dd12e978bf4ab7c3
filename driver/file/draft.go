package file

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"

	"pawl"
	"pawl/kernel/effect"
)

// maxFile bounds the files that are changed, before and after, in bytes.
const maxFile = 10 << 20

// defaultMode is the permission of a file that a call creates.
const defaultMode = 0o644

// content is what stands at a path: a regular file, a folder, or nothing.
type content struct {
	exists bool // it is a regular file
	dir    bool
	data   []byte
	mode   uint32 // permission bits
}

// hash returns the sha256 of the file in hex, "" where there is no file.
func (c content) hash() string {
	if !c.exists {
		return ""
	}
	return hashOf(c.data)
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// source says what stands at a clean path of the tree.
type source interface {
	look(rel string) (content, error)
}

// draft is a tree with changes that exist only in memory. Keys are clean paths.
type draft struct {
	from  source
	old   map[string]content
	now   map[string]content
	below map[string]int // folder → number of files that the draft has put below it
	order []string       // paths in the order in which they were first changed
}

func newDraft(from source) *draft {
	return &draft{from: from, old: map[string]content{}, now: map[string]content{}, below: map[string]int{}}
}

func (d *draft) look(rel string) (content, error) {
	if c, ok := d.now[rel]; ok {
		return c, nil
	}
	return d.from.look(rel)
}

// get returns the file at a path, or the zero content where there is none. A folder is an error.
func (d *draft) get(p string) (content, error) {
	rel, err := effect.LocalPath(p)
	if err != nil {
		return content{}, err
	}
	c, err := d.look(rel)
	if err == nil && c.dir {
		return c, pawl.Fail(pawl.CodeInvalid, "file.is_folder", rel).In("file.edit")
	}
	return c, err
}

// put changes the file at a path; the zero content removes it. A file cannot stand where the path needs a folder, nor
// where the draft has files below it.
func (d *draft) put(p string, c content) error {
	rel, err := effect.LocalPath(p)
	if err != nil {
		return err
	}
	if len(c.data) > maxFile {
		return pawl.Fail(pawl.CodeInvalid, "file.too_large", rel, maxFile>>20).In("file.edit")
	}
	if c.exists {
		if err := d.room(rel); err != nil {
			return err
		}
		if c.mode == 0 {
			c.mode = defaultMode
		}
	}
	if _, ok := d.now[rel]; !ok {
		if d.old[rel], err = d.from.look(rel); err != nil {
			return err
		}
		d.order = append(d.order, rel)
	}
	change := boolInt(c.exists) - boolInt(d.now[rel].exists)
	for dir := path.Dir(rel); dir != "." && change != 0; dir = path.Dir(dir) {
		d.below[dir] += change
	}
	d.now[rel] = c
	return nil
}

func (d *draft) room(rel string) error {
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		c, err := d.look(dir)
		if err != nil {
			return err
		}
		// A file that the draft only removes would still stand there while the others are written.
		if c.exists || d.old[dir].exists {
			return pawl.Fail(pawl.CodeConflict, "file.parent_is_file", rel, dir).In("file.edit")
		}
		if c.dir {
			break
		}
	}
	if d.below[rel] > 0 {
		return pawl.Fail(pawl.CodeConflict, "file.is_needed_folder", rel).In("file.edit")
	}
	return nil
}

// edit is one file's change.
type edit struct {
	path     string
	old, new content
}

// edits returns the changes in the order in which they are to be written: what removes files comes last, so that a
// crash in the middle of a move leaves the content twice rather than nowhere.
func (d *draft) edits() []edit {
	out := make([]edit, 0, len(d.order))
	for _, p := range d.order {
		if d.old[p].exists || d.now[p].exists {
			out = append(out, edit{p, d.old[p], d.now[p]})
		}
	}
	writesFirst(out)
	return out
}

func writesFirst(edits []edit) {
	slices.SortStableFunc(edits, func(a, b edit) int {
		return boolInt(!a.new.exists) - boolInt(!b.new.exists)
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
