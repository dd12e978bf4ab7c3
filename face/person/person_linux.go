package person

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// farthest bounds how far back those who started a process are followed.
const farthest = 64

// Called is what a process is called that is at work: for an interpreter the program that it runs, and for a coding
// agent its name.
func Called(pid int) string {
	found := lineage(pid, 1)
	if len(found) == 0 {
		return Unknown
	}
	if name := found[0].agent(); name != "" {
		return name
	}
	return found[0].called()
}

// lineage are a process and those that started it, the nearest first, so many at most.
func lineage(pid, most int) []process {
	var out []process
	for pid > 0 && len(out) < most {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		// PID (name) STATE PPID PGRP SESSION TTY …, and the name may hold anything (proc_pid_stat(5)).
		begin, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
		if err != nil || begin < 0 || end < begin {
			break
		}
		p := process{name: string(stat[begin+1 : end]), pid: pid}
		var state string
		_, _ = fmt.Sscan(string(stat[end+1:]), &state, &p.parent, &p.group, &p.session, &p.tty)
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // one that has ended has none
		for arg := range bytes.SplitSeq(bytes.TrimRight(line[:min(len(line), 8<<10)], "\x00"), []byte{0}) {
			p.args = append(p.args, string(arg))
		}
		out, pid = append(out, p), p.parent
	}
	return out
}

// foreground reports whether a descriptor is a terminal in whose foreground this process is.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
