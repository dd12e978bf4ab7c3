// Package ignore knows what .pawlignore files name: what agents must not see of a tree.
package ignore

import (
	"bytes"
	"errors"
	"path"
	"strings"
	"syscall"

	"pawl"
	"pawl/sandbox/safeopen"
	"pawl/text/gitpattern"
)

// Name is the file whose patterns, written as in .gitignore, name what agents are not to see of its folder and of what
// is below.
const Name = ".pawlignore"

// The bounds of one such file. Every path of a tree is held against every pattern.
const (
	maxFile  = 64 << 10
	maxRules = 1000
)

// Hidden tells what agents are not to see of a tree. What the tree says of it counts, and what the workspace says in
// the same folder: a command in a worktree cannot write there, so that nothing comes to light by its being taken out of
// a .pawlignore. It is no .gitignore: neither takes back what the other excludes.
//
// A folder whose .pawlignore cannot be read, or is no regular file, or is larger than 64 KiB or 1000 patterns, is
// hidden as a whole. A Hidden is not safe for concurrent use.
type Hidden struct {
	tops []*safeopen.Root
	own  *safeopen.Root // of the workspace, where that is not the tree
}

// Level is what holds in one folder. The zero Level hides nothing.
type Level struct{ rules []*gitpattern.Rules }

// Open returns what is hidden of the tree that a root is of. The workspace may be "", or the tree itself. The root
// stays the caller's.
func Open(root *safeopen.Root, workspace string) (*Hidden, error) {
	h := &Hidden{tops: []*safeopen.Root{root}}
	if workspace == "" || workspace == root.Dir() {
		return h, nil
	}
	own, err := safeopen.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	if own.Dir() == root.Dir() {
		return h, own.Close()
	}
	h.tops, h.own = append(h.tops, own), own
	return h, nil
}

// Close lets go of the workspace.
func (h *Hidden) Close() {
	if h != nil && h.own != nil {
		_ = h.own.Close() // nothing was written
	}
}

// Enter returns what holds in a folder, whose path is relative to the tree and "" for its top, given what holds above
// it. Own is false where it is known that the folder of the tree has no .pawlignore.
func (h *Hidden) Enter(above Level, dir string, own bool) (Level, error) {
	if h == nil {
		return above, nil
	}
	at := above
	for i, top := range h.tops {
		if i == 0 && !own {
			continue
		}
		text, err := read(top, path.Join(dir, Name))
		if err != nil {
			return above, err
		}
		if text == "" {
			continue
		}
		at.rules = append(make([]*gitpattern.Rules, 0, len(h.tops)), at.rules...)[:len(h.tops)] // a Level is a value
		if at.rules[i] = at.rules[i].With(dir, text); at.rules[i].Len() > maxRules {
			return above, unreadable(path.Join(dir, Name), nil)
		}
	}
	return at, nil
}

// read returns the text of a file, "" where there is none.
func read(top *safeopen.Root, rel string) (string, error) {
	info, err := top.Lstat(rel)
	switch {
	case pawl.CodeOf(err) == pawl.CodeNotFound || errors.Is(err, syscall.ENOTDIR):
		return "", nil
	case err != nil || !info.Mode().IsRegular() || info.Size() > maxFile:
		return "", unreadable(rel, err)
	}
	data, err := top.ReadFile(rel, maxFile)
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return "", unreadable(rel, err)
	}
	return string(data), nil
}

func unreadable(rel string, why error) error {
	return pawl.Fail(pawl.CodeDenied, "ignore.unreadable", rel, maxFile>>10, maxRules).In("ignore.Enter").Because(why)
}

// Hides reports whether something in a folder is hidden. Nothing below what is hidden is shown, so nobody asks for
// that.
func (l Level) Hides(rel string, isDir bool) bool {
	for _, r := range l.rules {
		if r.Ignored(rel, isDir) {
			return true
		}
	}
	return false
}

// Refuse returns an error with CodeDenied for a path that is hidden, or that lies below what is. The path is clean and
// relative to the tree; there need not be anything.
func (h *Hidden) Refuse(rel string) error {
	if h == nil || rel == "." || rel == "" {
		return nil
	}
	var at Level
	parts := strings.Split(rel, "/")
	for i := range parts {
		above, sub := strings.Join(parts[:i], "/"), strings.Join(parts[:i+1], "/")
		var err error
		if at, err = h.Enter(at, above, true); err != nil {
			return err
		}
		folder := i < len(parts)-1
		if !folder {
			info, err := h.tops[0].Lstat(sub)
			folder = err == nil && info.IsDir()
		}
		if at.Hides(sub, folder) {
			return pawl.Fail(pawl.CodeDenied, "ignore.hidden", rel, Name).In("ignore.Refuse")
		}
	}
	return nil
}
