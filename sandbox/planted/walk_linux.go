package planted

import (
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"pawl/kernel/effect"
)

// Bounds of a walk. A tree that has more is looked at as far as that.
const (
	maxEntries = 2_000_000
	maxDepth   = 200 // folders that are open at one time
)

// walk finds the repositories in a tree but its own, and with a time the files that were given another's rights since.
// It is false where it did not come to the end. No link is followed.
func walk(tree string, since time.Time, found func(effect.Taken)) bool {
	fd, err := unix.Open(tree, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return true
	}
	w := walker{since: since, found: found, whole: true}
	w.folder(os.NewFile(uintptr(fd), tree), "", 0)
	return w.whole
}

type walker struct {
	since   time.Time
	found   func(effect.Taken)
	entries int
	whole   bool
}

// folder looks through an open folder, and closes it.
func (w *walker) folder(f *os.File, rel string, depth int) {
	defer f.Close()
	list, _ := f.ReadDir(-1) // what can be read of it
	if w.entries += len(list); w.entries > maxEntries || depth > maxDepth {
		w.whole = false
		return
	}
	var at, objects, refs, common bool
	var folders []string
	for _, e := range list {
		switch name := e.Name(); {
		case name == ".git":
			w.found(effect.Taken{Path: path.Join(rel, name), What: effect.TakenRepository})
		case rel == "" && name == own:
		case e.IsDir():
			objects, refs = objects || name == "objects", refs || name == "refs"
			folders = append(folders, name)
		default:
			at, common = at || name == "HEAD", common || name == "commondir"
			w.file(f, rel, name)
		}
	}
	if at && (objects && refs || common) && w.headed(f) {
		w.found(effect.Taken{Path: rel, What: effect.TakenBare})
	}
	for _, name := range folders {
		fd, err := unix.Openat(int(f.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err == nil {
			w.folder(os.NewFile(uintptr(fd), name), path.Join(rel, name), depth+1)
		}
	}
}

// file looks at the rights that a file gives.
func (w *walker) file(dir *os.File, rel, name string) {
	if w.since.IsZero() {
		return
	}
	var st unix.Stat_t
	if unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 &&
		!time.Unix(st.Ctim.Unix()).Before(w.since) {
		w.found(effect.Taken{Path: path.Join(rel, name), What: effect.TakenRights})
	}
}

// headed reports whether the HEAD in a folder is what makes it a repository.
func (w *walker) headed(dir *os.File) bool {
	fd, err := unix.Openat(int(dir.Fd()), "HEAD", unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err == unix.ELOOP // a link, as git once made them
	}
	f := os.NewFile(uintptr(fd), "HEAD")
	defer f.Close()
	content := make([]byte, 256)
	n, _ := f.Read(content)
	return head(content[:n])
}
