package sandbox

import (
	"io/fs"
	"sync"

	"pawl"
	"pawl/sandbox/links"
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
		if links.Only(root, rel, sh.From) {
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
			err = links.Make(root, rel, sh.From)
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
