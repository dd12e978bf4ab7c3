package inside

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// maxFreed is how many files of one folder of dependencies are copied. One with more has all of its files from a store
// that package managers share between projects.
const maxFreed = 200

// file is one name of a file that has several.
type file struct {
	path   string
	folder string // of dependencies, "" for none
}

// id names a file whatever it is called.
type id struct{ dev, ino uint64 }

// look is a walk through a folder.
type look struct {
	secret  func(rel string) bool
	root    string
	names   map[id][]file
	links   map[id]uint64
	secrets map[id]bool
	found   Found
}

// Look looks through a folder. Files that have a name outside as well get a copy of their own in the folder, all names
// of one file the same. Secret reports whether a path relative to the folder is that of a file that commands must not
// read; what git tracks there is none, and nor is what belongs to a package.
func Look(root string, secret func(rel string) bool) (Found, error) {
	l := &look{secret: secret, root: root, names: map[id][]file{}, links: map[id]uint64{}, secrets: map[id]bool{}}
	dir, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return Found{}, fmt.Errorf("look through %s: %w", root, err)
	}
	l.walk(dir, "", "")
	l.found.Secrets = untracked(root, l.found.Secrets)
	for _, rel := range l.found.Secrets {
		var st unix.Stat_t
		if unix.Lstat(filepath.Join(root, rel), &st) == nil {
			l.secrets[id{st.Dev, st.Ino}] = true
		}
	}
	err = l.free()
	for i, rel := range l.found.Secrets {
		l.found.Secrets[i] = filepath.Join(root, rel)
	}
	return l.found, err
}

// walk looks through one directory, which it closes. What cannot be read has nothing that a command could read.
func (l *look) walk(fd int, rel, folder string) {
	dir := os.NewFile(uintptr(fd), rel)
	defer dir.Close()
	entries, _ := dir.ReadDir(-1)
	if folder == "" && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "pyvenv.cfg" }) {
		folder = rel
	}
	for _, e := range entries {
		name := filepath.Join(rel, e.Name())
		switch {
		case e.IsDir():
			if rel == "" && (e.Name() == ".git" || e.Name() == ".pawl") {
				continue // read-only to commands
			}
			if e.Name() == ".git" {
				l.found.Repositories = append(l.found.Repositories, filepath.Join(l.root, name))
			}
			in := folder
			if in == "" && slices.Contains(dependencies, e.Name()) {
				in = name
			}
			sub, err := unix.Openat(fd, e.Name(), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
			if err == nil {
				l.walk(sub, name, in)
			}
		case e.Type().IsRegular():
			var st unix.Stat_t
			if unix.Fstatat(fd, e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue
			}
			if folder == "" && l.secret(filepath.ToSlash(name)) {
				l.found.Secrets = append(l.found.Secrets, name)
			}
			if st.Nlink > 1 {
				i := id{st.Dev, st.Ino}
				l.names[i] = append(l.names[i], file{name, folder})
				l.links[i] = uint64(st.Nlink)
			}
		}
	}
}

// free parts files from their names outside. A folder of dependencies in which there are many of them is left as it is,
// and named.
func (l *look) free() error {
	counts := map[string]int{}
	for i, names := range l.names {
		if l.secrets[i] { // it is known by its other names as well
			for _, f := range names {
				if !slices.Contains(l.found.Secrets, f.path) {
					l.found.Secrets = append(l.found.Secrets, f.path)
				}
			}
		}
		if uint64(len(names)) >= l.links[i] {
			delete(l.names, i)
			continue
		}
		for _, f := range names {
			counts[f.folder]++
		}
	}
	for folder, n := range counts {
		if folder != "" && n > maxFreed {
			l.found.Shared = append(l.found.Shared, filepath.Join(l.root, folder))
		}
	}
	slices.Sort(l.found.Shared)
	for _, names := range l.names {
		first := ""
		for _, f := range names {
			if f.folder != "" && counts[f.folder] > maxFreed {
				continue
			}
			at := filepath.Join(l.root, f.path)
			if err := free(at, first); err != nil {
				return &Error{Path: at, Err: err}
			}
			first = at
		}
	}
	return nil
}

// free puts a copy of a file in its place, or a link to the copy that there is. What others own and this user cannot
// write to, no command of the user can either.
func free(at, first string) error {
	var st unix.Stat_t
	if err := unix.Lstat(at, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil // it is gone, or something else by now
	}
	if int(st.Uid) != os.Geteuid() && unix.Access(at, unix.W_OK) != nil {
		return nil
	}
	tmp := filepath.Join(filepath.Dir(at), fmt.Sprintf(".pawl-free-%d-%d", os.Getpid(), st.Ino))
	_ = os.Remove(tmp)
	var err error
	if first != "" {
		err = os.Link(first, tmp)
	} else {
		err = duplicate(at, tmp, &st)
	}
	if err == nil {
		err = os.Rename(tmp, at)
	}
	if err != nil {
		_ = os.Remove(tmp)
	}
	return err
}

// duplicate copies a file with its owner, mode, times and attributes, sharing its contents where the file system can.
func duplicate(at, to string, st *unix.Stat_t) error {
	from, err := os.OpenFile(at, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	if unix.IoctlFileClone(int(out.Fd()), int(from.Fd())) != nil {
		if _, err := io.Copy(out, from); err != nil {
			return err
		}
	}
	if int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid() {
		_ = out.Chown(int(st.Uid), int(st.Gid)) // without the right to it, the copy is this user's
	}
	attributes(from, out)
	if err := unix.Fchmod(int(out.Fd()), st.Mode&0o7777); err != nil {
		return err
	}
	name := fmt.Sprintf("/proc/self/fd/%d", out.Fd())
	return unix.UtimesNanoAt(unix.AT_FDCWD, name, []unix.Timespec{st.Atim, st.Mtim}, 0)
}

// attributes copies those that this user may set.
func attributes(from, to *os.File) {
	list := make([]byte, 64<<10)
	n, err := unix.Flistxattr(int(from.Fd()), list)
	if err != nil {
		return
	}
	value := make([]byte, 64<<10)
	for name := range bytes.SplitSeq(list[:n], []byte{0}) {
		if m, err := unix.Fgetxattr(int(from.Fd()), string(name), value); len(name) > 0 && err == nil {
			_ = unix.Fsetxattr(int(to.Fd()), string(name), value[:m], 0)
		}
	}
}

// untracked leaves out what the index of git names: what is in a repository is in every clone of it.
func untracked(root string, paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	top, index := root, []byte(nil)
	for {
		at := filepath.Join(top, ".git")
		if b, err := os.ReadFile(at); err == nil {
			at = strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir:"))
			if !filepath.IsAbs(at) {
				at = filepath.Join(top, at)
			}
		}
		if b, err := os.ReadFile(filepath.Join(at, "index")); err == nil {
			index = b
			break
		}
		if top == "/" {
			return paths
		}
		top = filepath.Dir(top)
	}
	return slices.DeleteFunc(paths, func(rel string) bool {
		whole, err := filepath.Rel(top, filepath.Join(root, rel))
		return err == nil && indexed(index, filepath.ToSlash(whole))
	})
}

// indexed reports whether an index of git holds a path: behind its length, whose upper bits are flags, and before a
// zero byte. Of the fourth version, which leaves out what paths have in common, it may be denied.
func indexed(index []byte, path string) bool {
	for at := 0; ; {
		i := bytes.Index(index[at:], append([]byte(path), 0))
		if i < 0 {
			return false
		}
		at += i
		if at >= 2 && int(binary.BigEndian.Uint16(index[at-2:])&0xfff) == min(len(path), 0xfff) {
			return true
		}
		at++
	}
}
