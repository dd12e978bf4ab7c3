package lockfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// listed is one lock of the system's list, /proc/locks.
type listed struct {
	kind     string // FLOCK, POSIX, OFDLCK
	write    bool
	pid      int // 0 or less where the holder is not one that can be seen from here
	dev      string
	inode    uint64
	from, to int64
}

// endless is the end of a lock that goes on to the end of the file, however long that becomes.
const endless = int64(1<<63 - 1)

// locksOn lists the locks on a file. The file is not opened: closing it again would drop the locks of fcntl that this
// process has on it.
func locksOn(path string) []listed {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil
	}
	dev := device(uint64(st.Dev)) //nolint:unconvert // 32 bits on some systems
	var same, alike []listed
	for line := range strings.Lines(string(text)) {
		l, ok := parseLock(line)
		switch {
		case !ok || l.inode != st.Ino:
		case l.dev == dev:
			same = append(same, l)
		case l.pid > 0 && hasOpen(l.pid, path):
			// Some file systems show programs another device than the kernel knows.
			alike = append(alike, l)
		}
	}
	if len(same) > 0 {
		return same
	}
	return alike
}

// device is a device as the list names it.
func device(dev uint64) string {
	major := (dev>>8)&0xfff | (dev>>32)&^0xfff
	minor := dev&0xff | (dev>>12)&^0xff
	hex := func(n uint64) string {
		if s := strconv.FormatUint(n, 16); len(s) > 1 {
			return s
		}
		return "0" + strconv.FormatUint(n, 16)
	}
	return hex(major) + ":" + hex(minor)
}

// parseLock reads a line of the list. One that somebody only waits for is none.
func parseLock(line string) (listed, bool) {
	f := strings.Fields(line)
	if len(f) < 8 || f[1] == "->" {
		return listed{}, false
	}
	l := listed{kind: f[1], write: f[3] == "WRITE"}
	at := strings.LastIndexByte(f[5], ':')
	if at < 0 {
		return listed{}, false
	}
	l.dev = f[5][:at]
	var err [4]error
	l.pid, err[0] = strconv.Atoi(f[4])
	l.inode, err[1] = strconv.ParseUint(f[5][at+1:], 10, 64)
	l.from, err[2] = strconv.ParseInt(f[6], 10, 64)
	if l.to = endless; f[7] != "EOF" {
		l.to, err[3] = strconv.ParseInt(f[7], 10, 64)
	}
	return l, err == [4]error{}
}

// flocked returns the process that took the lock (of flock) of a file.
func flocked(path string) (pid int, ok bool) {
	for _, l := range locksOn(path) {
		if l.kind == "FLOCK" && l.write {
			return max(l.pid, 0), true
		}
	}
	return 0, false
}

// ranged returns the process that holds a part of a file.
func ranged(path string, from, to int64) (pid int, ok bool) {
	for _, l := range locksOn(path) {
		if l.kind == "POSIX" && l.write && l.pid > 0 && l.from <= to && from <= l.to {
			return l.pid, true
		}
	}
	return 0, false
}

func proc(pid int, name string) string { return filepath.Join("/proc", strconv.Itoa(pid), name) }

// hasOpen reports whether a process has a file open, as far as this one may see that.
func hasOpen(pid int, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	all, _ := os.ReadDir(proc(pid, "fd"))
	for _, e := range all {
		if to, err := os.Readlink(filepath.Join(proc(pid, "fd"), e.Name())); err == nil && to == real {
			return true
		}
	}
	return false
}

// opener returns a process that has a file open, 0 where none can be seen.
func opener(path string) int {
	if path == "" {
		return 0
	}
	all, _ := os.ReadDir("/proc")
	for _, e := range all {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() && hasOpen(pid, path) {
			return pid
		}
	}
	return 0
}

// Opened reports whether another process may have a file open.
func Opened(path string) bool { return opener(path) > 0 }

// stat returns the fields of /proc/PID/stat from the state on, which is the third.
func stat(pid int) []string {
	text, err := os.ReadFile(proc(pid, "stat"))
	if err != nil {
		return nil
	}
	i := bytes.LastIndexByte(text, ')') // the name before it may hold anything
	if i < 0 {
		return nil
	}
	return strings.Fields(string(text[i+1:]))
}

// StateOf says what a process does, "" where that is not known.
func StateOf(pid int) State {
	f := stat(pid)
	switch {
	case len(f) == 0:
		return ""
	case f[0] == "T" || f[0] == "t":
		return Stopped
	case f[0] == "Z" || f[0] == "X":
		return Gone
	case frozen(pid):
		return Frozen
	}
	return Running
}

// frozen reports whether the cgroup of a process, or one above it, is frozen.
func frozen(pid int) bool {
	text, err := os.ReadFile(proc(pid, "cgroup"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			events, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", group, "cgroup.events"))
			return err == nil && bytes.Contains(events, []byte("frozen 1"))
		}
	}
	return false
}

func commandOf(pid int) string {
	text, err := os.ReadFile(proc(pid, "cmdline"))
	if err != nil || len(text) == 0 {
		return ""
	}
	args := strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
	args[0] = filepath.Base(args[0])
	return brief(strings.Join(args, " "))
}

// ticks is how many parts of a second the system counts starts of processes in (USER_HZ), which is the same on all of
// Linux.
const ticks = 100

// began says when a process began, in ticks since the system did; "0" where that is not known.
func began(pid int) string {
	const start = 22 - 3
	f := stat(pid)
	if len(f) <= start {
		return "0"
	}
	return f[start]
}

// startOf returns when a process began.
func startOf(pid int) time.Time {
	n, err := strconv.ParseInt(began(pid), 10, 64)
	if err != nil || n == 0 {
		return time.Time{}
	}
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	for line := range strings.Lines(string(text)) {
		if boot, ok := strings.CutPrefix(line, "btime "); ok {
			if s, err := strconv.ParseInt(strings.TrimSpace(boot), 10, 64); err == nil {
				return time.Unix(s, 0).Add(time.Duration(n) * time.Second / ticks)
			}
		}
	}
	return time.Time{}
}
