// Package reads tells which files of a tree were read meanwhile, by the time of their last access: where file systems
// keep it, any program in any language tells so, at no cost. It is set back to a time long ago, which every file system
// that keeps it at all replaces at the next reading.
package reads

import (
	"io/fs"
	"os"
	"time"
)

// longAgo is the access time of a file that nobody has read since.
var longAgo = time.Unix(1, 0)

// Marks are files of a tree whose next reading will be seen.
type Marks struct {
	root *os.Root
	at   map[string]stamp
	// Known says that the file system tells of readings. Where it does not, nothing can be said.
	Known bool
}

// stamp is when a file was last read and last changed in any way.
type stamp struct{ access, change time.Time }

// Mark marks the regular files among those paths. The tree must not be written to by others until Read was asked. What
// cannot be marked is taken for read. The root is left open.
func Mark(root *os.Root, paths []string) *Marks {
	m := &Marks{root: root, at: map[string]stamp{}}
	for _, p := range paths {
		info, err := root.Lstat(p)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		m.set(p, info)
		if !m.Known && len(m.at) == 1 {
			m.Known = m.tells(p)
			m.set(p, info)
		}
	}
	return m
}

// set sets the access time of a file back.
func (m *Marks) set(p string, info fs.FileInfo) {
	if m.root.Chtimes(p, longAgo, info.ModTime()) != nil {
		m.at[p] = stamp{}
		return
	}
	if now, err := m.root.Lstat(p); err == nil {
		m.at[p], _ = stampOf(now)
	}
}

// tells reads a file and looks whether that is seen.
func (m *Marks) tells(p string) bool {
	f, err := m.root.Open(p)
	if err != nil {
		return false
	}
	_, _ = f.Read(make([]byte, 1))
	_ = f.Close()
	info, err := m.root.Lstat(p)
	if err != nil {
		return false
	}
	s, ok := stampOf(info)
	return ok && m.at[p].access.Equal(longAgo) && !s.access.Equal(longAgo)
}

// Read adds the files that were read since they were marked to a set. One whose times were set by somebody else, or
// that is gone, counts as read.
func (m *Marks) Read(into map[string]bool) {
	for p, was := range m.at {
		info, err := m.root.Lstat(p)
		if err != nil {
			into[p] = true
			continue
		}
		if s, ok := stampOf(info); !ok || s != was || !s.access.Equal(longAgo) {
			into[p] = true
		}
	}
}
