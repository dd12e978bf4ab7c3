package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"pawl"
	"pawl/sandbox/safeopen"
)

// points are the directories that were made to show something at. They are safe for concurrent use.
type points struct {
	mu    sync.Mutex
	users map[string]int // how many commands use each
}

// take makes the directory to show something at, where there is none, and reports whether it is one that commands of
// the Box made. The writable directory around it is held, so that a link that somebody puts into the path meanwhile
// does not lead out of it.
func (p *points) take(sh Shown, writable []string, linking bool) (ours bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := sh.At
	root, rel, err := around(at, writable)
	if err != nil {
		return false, safeopen.Fail("sandbox.Run", at, err)
	}
	defer root.Close()
	info, err := root.Lstat(rel)
	switch {
	case err == nil && !info.IsDir():
		return false, pawl.Fail(pawl.CodeDenied, "sandbox.shown_taken", at).In("sandbox.Run")
	case err == nil && p.users[at] == 0 && linking:
		// Links cover nothing, so that what stands there would be taken for what is to be shown. What a killed pawl
		// left is made anew.
		remove := root.Remove
		if onlyLinks(root, rel, sh.From) {
			remove = root.RemoveAll
		}
		if remove(rel) != nil {
			return false, pawl.Fail(pawl.CodeDenied, "sandbox.shown_taken", at).In("sandbox.Run")
		}
		err = fs.ErrNotExist
	case err == nil && p.users[at] == 0:
		return false, nil
	}
	if err != nil {
		err = root.Mkdir(rel, 0o755)
		if err == nil && linking {
			err = linkAll(root, rel, sh.From)
		}
		if err != nil {
			_ = root.RemoveAll(rel)
			return false, safeopen.Fail("sandbox.Run", at, err)
		}
	}
	if p.users == nil {
		p.users = map[string]int{}
	}
	p.users[at]++
	return true, nil
}

// leave removes directories that were made to show something at, when no other command of the Box uses them and
// nothing is in them. What cannot be removed is an empty directory, which no version control sees.
func (p *points) leave(made, writable []string, linking bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range made {
		if p.users[at]--; p.users[at] > 0 {
			continue
		}
		delete(p.users, at)
		root, rel, err := around(at, writable)
		if err != nil {
			continue
		}
		if info, err := root.Lstat(rel); err == nil && info.IsDir() {
			remove := root.Remove
			if linking { // nothing is in it but links, and what the commands left among them
				remove = root.RemoveAll
			}
			_ = remove(rel)
		}
		_ = root.Close()
	}
}

// linkAll fills a directory with links to what is in a folder, as linksTo says.
func linkAll(root *os.Root, rel, from string) error {
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range list {
		name, source := filepath.Join(rel, e.Name()), filepath.Join(from, e.Name())
		to, err := linksTo(e, source)
		switch {
		case err != nil:
			return err
		case to != "":
			err = root.Symlink(to, name)
		case scope(e):
			if err = root.Mkdir(name, 0o755); err == nil {
				err = linkAll(root, name, source)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// linksTo is where the link leads that stands for an entry. A link is made anew with the same target, so that one that
// leads up leads into the tree around the directory. It is "" for the folder of a scope, in which packages of a
// workspace are linked and which is made with links of its own, and for caches, which are for the command to fill.
func linksTo(e os.DirEntry, source string) (string, error) {
	switch {
	case e.Name() == ".cache" || scope(e):
		return "", nil
	case e.Type()&os.ModeSymlink != 0:
		return os.Readlink(source)
	}
	return source, nil
}

// scope reports whether an entry is the folder of a scope of packages ("@name").
func scope(e os.DirEntry) bool { return e.IsDir() && strings.HasPrefix(e.Name(), "@") }

// onlyLinks reports whether a directory holds nothing but what linkAll makes.
func onlyLinks(root *os.Root, rel, from string) bool {
	dir, err := root.Open(rel)
	if err != nil {
		return false
	}
	list, err := dir.ReadDir(-1)
	_ = dir.Close()
	if err != nil {
		return false
	}
	for _, e := range list {
		name, source := filepath.Join(rel, e.Name()), filepath.Join(from, e.Name())
		info, err := os.Lstat(source)
		if err != nil {
			return false
		}
		if scope(e) {
			if !onlyLinks(root, name, source) {
				return false
			}
			continue
		}
		want, err := linksTo(fs.FileInfoToDirEntry(info), source)
		if got, lost := root.Readlink(name); err != nil || lost != nil || got != want {
			return false
		}
	}
	return true
}
