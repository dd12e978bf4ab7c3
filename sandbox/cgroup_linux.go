package sandbox

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// groups lists the directories in which pawl may make cgroups, by controller. In the unified hierarchy it is one directory
// for all; before, each controller has its own. It is empty where pawl may not make any.
type groups map[string]string

// cgroup is the group of one command.
type cgroup struct {
	dirs    []string
	limited []string
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
			if ok && unix.Access(dir, unix.W_OK) == nil && unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil {
				out[c] = dir
			}
		}
	}
	return out
}

// groupDir finds the directory of a line of /proc/self/cgroup, given its controllers ("" for the unified hierarchy) and its
// path, when a child of it would have the controller want.
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

// enter makes a group with the limits and puts a process into it. It returns nil where that cannot be done: the limits are
// a wall against accidents, and the other walls hold without it.
func (g groups) enter(pid, procs int, memoryMax int64) *cgroup {
	if len(g) == 0 {
		return nil
	}
	if memoryMax <= 0 {
		memoryMax = memory() / 4 * 3
	}
	limits := map[string][]string{
		"pids":   {"pids.max", strconv.Itoa(procs)},
		"memory": {"memory.max", strconv.FormatInt(memoryMax, 10), "memory.limit_in_bytes", strconv.FormatInt(memoryMax, 10)},
	}
	name := groupPrefix + strconv.Itoa(os.Getpid()) + "-" + rand.Text()
	c := &cgroup{}
	for _, ctl := range g.controllers() {
		dir := filepath.Join(g[ctl], name)
		err := os.Mkdir(dir, 0o755)
		if err != nil && !errors.Is(err, os.ErrExist) {
			continue
		}
		if err == nil {
			c.dirs = append(c.dirs, dir)
		}
		if setLimit(dir, limits[ctl]) && put(dir, "cgroup.procs", strconv.Itoa(pid)) == nil {
			c.limited = append(c.limited, ctl)
		}
		if ctl == "memory" {
			_ = put(dir, "memory.swap.max", "0")
			_ = put(dir, "memory.oom.group", "1")
			_ = put(dir, "memory.memsw.limit_in_bytes", strconv.FormatInt(memoryMax, 10))
		}
	}
	if len(c.limited) == 0 {
		c.remove()
		return nil
	}
	return c
}

// setLimit writes the first of the files, given with their values, that exists.
func setLimit(dir string, files []string) bool {
	for f := range slices.Chunk(files, 2) {
		if put(dir, f[0], f[1]) == nil {
			return true
		}
	}
	return false
}

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

// has reports whether a controller can limit.
func (g groups) has(controller string) bool { return g[controller] != "" }
