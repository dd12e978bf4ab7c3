package mediate

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// signal lets a signal pass to the command's own processes. All that matters is in the arguments themselves, so the
// kernel can carry it out.
func (t *task) signal(nr uintptr, args [6]uint64) verdict {
	pid := int(int32(args[0]))
	if nr == unix.SYS_TKILL {
		pid = number(strconv.Itoa(pid), "Tgid", 10)
	}
	own := number(t.program.id, "Tgid", 10)
	switch {
	case nr == unix.SYS_KILL && pid == 0, pid == own && pid > 0:
		return pass
	case nr == unix.SYS_KILL && pid == -1:
		return t.all(own, unix.Signal(args[1]))
	case nr == unix.SYS_KILL && pid < -1:
		for _, p := range Descendants(t.s.self) {
			if p.group == -pid {
				return pass // a group is within one session, and a session descends from one process
			}
		}
		return refused
	case pid > 0 && within(t.s.self, pid):
		return pass
	}
	return refused
}

// all sends a signal to each process of the command but the one that asked.
func (t *task) all(except int, sig unix.Signal) verdict {
	sent := false
	for _, p := range Descendants(t.s.self) {
		if p.PID != except {
			sent = unix.Kill(p.PID, sig) == nil || sent
		}
	}
	if !sent {
		return of(unix.ESRCH)
	}
	return of(nil)
}

// Process is one of a tree.
type Process struct {
	PID    int
	parent int
	group  int
	// State is the kernel's letter.
	State byte
	// Threads are how many it has, and Pages those of memory that are in it.
	Threads, Pages int64
}

// within reports whether a process descends from another.
func within(root, pid int) bool {
	for range 1 << 16 {
		p, ok := look(pid)
		switch {
		case !ok || p.parent <= 1 && root != p.parent:
			return false
		case p.parent == root:
			return true
		}
		pid = p.parent
	}
	return false
}

// look reads what the kernel tells about a process.
func look(pid int) (Process, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	// The name, which a program chooses, stands in brackets.
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 22 {
		return Process{}, false
	}
	parent, err1 := strconv.Atoi(f[1])
	group, err2 := strconv.Atoi(f[2])
	threads, _ := strconv.ParseInt(f[17], 10, 64)
	pages, _ := strconv.ParseInt(f[21], 10, 64)
	return Process{pid, parent, group, f[0][0], threads, pages}, err1 == nil && err2 == nil
}

// Descendants lists the processes that descend from one, as they are at this moment. A process that has adopted orphans
// has them among its descendants.
func Descendants(root int) []Process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	children := map[int][]Process{}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := look(pid); ok {
				children[p.parent] = append(children[p.parent], p)
			}
		}
	}
	var out []Process
	for next := children[root]; len(next) > 0; {
		p := next[0]
		next = append(next[1:], children[p.PID]...)
		out = append(out, p)
	}
	return out
}
