package mediate

import (
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// entry is a name in a directory that is held.
type entry struct {
	dir  int
	name string
	path string // canonical, but for a link that the name may be
}

func (e entry) close() { _ = unix.Close(e.dir) }

// enter is entry from a directory that is held.
func enter(from int, p string) (entry, error) {
	dir, name := ".", p
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		dir, name = p[:i+1], p[i+1:]
	}
	if p == "" { // the root
		dir, name = "/", "."
	}
	fd, err := unix.Openat(from, dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return entry{}, err
	}
	at, err := where(fd)
	if err != nil {
		_ = unix.Close(fd)
		return entry{}, err
	}
	return entry{fd, name, path.Join(at, name)}, nil
}

// plain reports whether the name is one that can be made or removed.
func (e entry) plain() bool { return e.name != "" && e.name != "." && e.name != ".." }

// maxLinks is how many links the kernel follows in the last part of a path.
const maxLinks = 40

// followed follows the link that the entry is, if it is one.
func (e entry) followed() (entry, error) {
	for range maxLinks {
		to := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(e.dir, e.name, to)
		if err != nil { // no link, or nothing there
			return e, nil
		}
		next, err := enter(e.dir, strings.TrimRight(string(to[:n]), "/"))
		e.close()
		if err != nil {
			return entry{dir: -1}, err
		}
		e = next
		if !e.plain() {
			return e, nil
		}
	}
	return e, unix.ELOOP
}

// where is the canonical path of what is held.
func where(fd int) (string, error) {
	return os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
}

// held is the name under which this process can reach what it holds.
func held(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// changeable reports whether the command may change what is held: it is in a writable place, or, where the program
// itself has a descriptor of it, it has no name at all.
func (s *Supervisor) changeable(fd int, own bool) bool {
	var st unix.Stat_t
	at, err := where(fd)
	if err != nil || unix.Fstat(fd, &st) != nil {
		return false
	}
	if !strings.HasPrefix(at, "/") || st.Nlink == 0 {
		return own
	}
	return s.Writable(at)
}

// movable reports whether a name may be made, removed, or given to something else.
func (s *Supervisor) movable(e entry) bool {
	return e.plain() && s.Writable(path.Dir(e.path)) && s.Writable(e.path) && !s.Holds(e.path)
}
