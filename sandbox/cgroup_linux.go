package sandbox

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// groups lists the directories in which pawl may make cgroups, by controller. In the unified hierarchy it is one
// directory for all; before, each controller has its own. It is empty where pawl may not make any.
type groups map[string]string

// cgroup is the group of one command.
type cgroup struct {
	home    groups   // the directories in which it was made
	at      groups   // its own
	dirs    []string // what was made
	inside  []string // the controllers in whose directory the process started
	limited []string // those that limit it
	late    bool     // put the process in after its start
	stuck   bool     // the thread that started it did not get out again
}

// groupPrefix begins the names of pawl's groups; the process id of pawl and random text follow.
const groupPrefix = "pawl-"

// findGroups looks where this process stands in the hierarchies that are mounted, and which of them it may extend.
func findGroups() groups {
	out := groups{}
	self, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return out
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return out
	}
	for _, line := range strings.Split(string(self), "\n") {
		f := strings.SplitN(line, ":", 3)
		if len(f) != 3 {
			continue
		}
		for _, c := range []string{"pids", "memory"} {
			dir, ok := groupDir(string(mounts), f[1], f[2], c)
			if ok && unix.Access(dir, unix.W_OK) == nil &&
				unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil {
				out[c] = dir
			}
		}
	}
	return out
}

// groupDir finds the directory of a line of /proc/self/cgroup, given its controllers ("" for the unified hierarchy) and
// its path, when a child of it would have the controller want.
func groupDir(mountinfo, controllers, path, want string) (string, bool) {
	unified := controllers == ""
	if !unified && !slices.Contains(strings.Split(controllers, ","), want) {
		return "", false
	}
	for _, line := range strings.Split(mountinfo, "\n") {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 3 {
			continue
		}
		switch {
		case unified && r[0] != "cgroup2":
			continue
		case !unified && (r[0] != "cgroup" || !slices.Contains(strings.Split(r[2], ","), want)):
			continue
		}
		rel, err := filepath.Rel(l[3], path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		dir := filepath.Join(l[4], rel)
		if unified {
			enabled, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
			if !slices.Contains(strings.Fields(string(enabled)), want) {
				return "", false
			}
		}
		return dir, true
	}
	return "", false
}

func (g groups) controllers() []string {
	var out []string
	for c := range g {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

// open makes a group and limits its memory. It returns nil where that cannot be done: the limits are a wall against
// accidents, and the other walls hold without it.
func (g groups) open(memoryMax int64) *cgroup {
	if len(g) == 0 {
		return nil
	}
	if memoryMax <= 0 {
		memoryMax = memory() / 4 * 3
	}
	name := groupPrefix + strconv.Itoa(os.Getpid()) + "-" + rand.Text()
	c := &cgroup{home: g, at: groups{}}
	for _, ctl := range g.controllers() {
		dir := filepath.Join(g[ctl], name)
		err := os.Mkdir(dir, 0o755)
		if err != nil && !errors.Is(err, os.ErrExist) {
			continue
		}
		if err == nil {
			c.dirs = append(c.dirs, dir)
		}
		if ctl != "memory" || limitMemory(dir, strconv.FormatInt(memoryMax, 10)) {
			c.at[ctl] = dir
		}
	}
	return c
}

// limitMemory sets the limit under the name that the hierarchy has for it, and keeps swap from becoming a way around
// it.
func limitMemory(dir, limit string) bool {
	if put(dir, "memory.max", limit) != nil && put(dir, "memory.limit_in_bytes", limit) != nil {
		return false
	}
	_ = put(dir, "memory.swap.max", "0")
	_ = put(dir, "memory.oom.group", "1")
	_ = put(dir, "memory.memsw.limit_in_bytes", limit)
	return true
}

// start starts a process that is in the group from its first moment. One that is moved in later makes the kernel wait
// until no processor is in the middle of a fork or an exit, for as long as a short command takes; a fork inside waits
// for nobody. In the unified hierarchy the process is forked into the group. In the older ones, where a thread may
// stand elsewhere than its process, the calling thread stands in the group while it forks; when it does not get out
// again, stuck is set, and the thread must end.
func (c *cgroup) start(cmd *exec.Cmd) error {
	if c == nil || c.late {
		return cmd.Start()
	}
	var entered, forked []string
	for ctl, dir := range c.at {
		err := put(dir, "tasks", "0")
		switch {
		case err == nil:
			entered = append(entered, ctl)
		case errors.Is(err, os.ErrNotExist):
			forked = append(forked, ctl)
		}
	}
	defer func() {
		for _, ctl := range entered {
			c.stuck = put(c.home[ctl], "tasks", "0") != nil || c.stuck
		}
	}()
	if len(forked) > 0 {
		dir, err := os.Open(c.at[forked[0]])
		if err != nil {
			return err
		}
		defer dir.Close()
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	}
	c.inside = slices.Concat(entered, forked)
	return cmd.Start()
}

// keepsThread reports whether the thread that used start could not leave the group.
func (c *cgroup) keepsThread() bool { return c != nil && c.stuck }

// retry reports whether a start that failed may pass when the process is put into the group afterwards: a container may
// refuse the system call that forks into one.
func (c *cgroup) retry() bool {
	if c == nil || c.late || len(c.inside) == 0 {
		return false
	}
	c.inside, c.late = nil, true
	return true
}

// settle puts a process that could not be started inside into the group, and limits its number of processes. That limit
// comes late so that a low one meets the command and not the launcher's own threads.
func (c *cgroup) settle(pid, procs int) {
	if c == nil {
		return
	}
	for ctl, dir := range c.at {
		in := slices.Contains(c.inside, ctl) || put(dir, "cgroup.procs", strconv.Itoa(pid)) == nil
		if in && (ctl != "pids" || put(dir, "pids.max", strconv.Itoa(procs)) == nil) {
			c.limited = append(c.limited, ctl)
		}
	}
}

// holds reports whether the group limits anything.
func (c *cgroup) holds() bool { return c != nil && len(c.limited) > 0 }

// put writes a file of a group. It never makes one.
func put(dir, name, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// limits reports whether the group limits a resource.
func (c *cgroup) limits(controller string) bool {
	return c != nil && slices.Contains(c.limited, controller)
}

// starved reports whether the kernel has ended a process of the group for lack of memory.
func (c *cgroup) starved() bool {
	return c.count("memory", "memory.events", "oom_kill")+c.count("memory", "memory.oom_control", "oom_kill") > 0
}

// refused is how often the kernel has refused a process to the group.
func (c *cgroup) refused() int { return c.count("pids", "pids.events", "max") }

// count reads a counter of the group.
func (c *cgroup) count(controller, file, name string) int {
	if c == nil || c.at[controller] == "" {
		return 0
	}
	b, _ := os.ReadFile(filepath.Join(c.at[controller], file))
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	return 0
}

// clear kills what is in the group.
func (c *cgroup) clear() {
	if c == nil {
		return
	}
	for _, dir := range c.dirs {
		if put(dir, "cgroup.kill", "1") == nil {
			continue
		}
		for range stopRounds {
			b, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
			pids := strings.Fields(string(b))
			for _, p := range pids {
				if pid, err := strconv.Atoi(p); err == nil && pid > 1 {
					_ = unix.Kill(pid, unix.SIGKILL)
				}
			}
			if len(pids) == 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// remove removes the group. The kernel takes a moment after the last process.
func (c *cgroup) remove() {
	if c == nil {
		return
	}
	for _, d := range c.dirs {
		for wait := time.Millisecond; unix.Rmdir(d) == unix.EBUSY && wait < time.Second; wait *= 2 {
			time.Sleep(wait)
		}
	}
}

// sweep removes the empty groups of processes that are gone.
func (g groups) sweep() {
	for _, dir := range g {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			rest, ok := strings.CutPrefix(e.Name(), groupPrefix)
			pid, _, found := strings.Cut(rest, "-")
			n, err := strconv.Atoi(pid)
			if ok && found && err == nil && unix.Kill(n, 0) == unix.ESRCH {
				_ = unix.Rmdir(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// memory is the machine's memory in bytes.
func memory() int64 {
	var si unix.Sysinfo_t
	if err := unix.Sysinfo(&si); err != nil {
		return 4 << 30
	}
	return int64(uint64(si.Totalram) * uint64(si.Unit))
}
