// Package meter watches what a command uses, where nothing in the kernel counts it for an ordinary user: the memory and
// the number of its processes, and the disk that it fills. It says which limit was passed.
package meter

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"pawl/sandbox/mediate"
)

// Names of the limits.
const (
	Memory    = "memory"
	Processes = "processes"
	Disk      = "disk"
	Files     = "files"
	Scratch   = "scratch"
)

// every is how often is looked. A program that takes memory as fast as it can takes some hundred megabytes meanwhile.
const every = 100 * time.Millisecond

// near is how many more looks may find the processes close to their limit than not: forking fails there, and a program
// that only forks goes on with it for ever.
const near = 10

// launchers is how many threads of the process that started the command the kernel may count with it.
const launchers = 20

// Meter is what is watched. Zero limits are none.
type Meter struct {
	// Root is the process whose descendants are the command's.
	Root int
	// Memory in bytes, of processes and of what lies in Scratch; Threads at one time; Disk in bytes and Files in
	// number, as they grow in Trees.
	Memory, Threads, Disk, Files int64
	// Scratch are file systems in memory that are the command's alone.
	Scratch []string
	// Trees are folders that the command writes to.
	Trees []string

	begin   time.Time
	volumes []volume
	close   int // looks that found the processes near their limit
}

// volume is a file system with the trees on it.
type volume struct {
	trees       []string
	free, files uint64 // at the start
}

// Watch looks until stop is closed, and returns the limit that was passed first, "" for none.
func (m *Meter) Watch(stop <-chan struct{}) string {
	m.start()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return ""
		case <-tick.C:
			if over := m.look(); over != "" {
				return over
			}
		}
	}
}

// start notes what is free.
func (m *Meter) start() {
	m.begin = time.Now()
	byID := map[unix.Fsid]int{}
	for _, t := range m.Trees {
		var st unix.Statfs_t
		if unix.Statfs(t, &st) != nil {
			continue
		}
		i, known := byID[st.Fsid]
		if !known {
			i = len(m.volumes)
			byID[st.Fsid] = i
			m.volumes = append(m.volumes, volume{free: free(&st), files: st.Ffree})
		}
		m.volumes[i].trees = append(m.volumes[i].trees, t)
	}
}

func free(st *unix.Statfs_t) uint64 { return st.Bavail * uint64(st.Bsize) }

// look compares what is used with the limits.
func (m *Meter) look() string {
	all := mediate.Descendants(m.Root)
	var resident int64
	page := int64(os.Getpagesize())
	for _, p := range all {
		resident += p.Pages * page
	}
	threads := threadsOf(all)
	if m.crowded(threads) {
		m.close++
	} else {
		m.close = max(m.close-1, 0)
	}
	switch {
	case m.Threads > 0 && (threads > m.Threads || m.close >= near):
		return Processes
	case m.Memory > 0 && resident+m.scratch() > m.Memory && m.exact(all)+m.scratch() > m.Memory:
		return Memory
	}
	return m.disk(all)
}

// threadsOf counts the threads of processes.
func threadsOf(all []mediate.Process) (n int64) {
	for _, p := range all {
		n += p.Threads
	}
	return n
}

// crowded reports whether so many threads are close to the limit.
func (m *Meter) crowded(threads int64) bool { return threads >= m.Threads*3/4-launchers }

// Near reports whether the processes were close to their limit when they were last looked at, or are when the command
// has ended: what it leaves behind is there still, and a command that fails quickly ends between two looks.
func (m *Meter) Near() bool { return m.close > 0 || m.crowded(threadsOf(mediate.Descendants(m.Root))) }

// scratch is what lies in the file systems in memory.
func (m *Meter) scratch() int64 {
	var sum int64
	for _, p := range m.Scratch {
		var st unix.Statfs_t
		if unix.Statfs(p, &st) == nil {
			sum += int64(st.Blocks-st.Bfree) * int64(st.Bsize)
		}
	}
	return sum
}

// Full reports whether one of the file systems in memory has no room left.
func (m *Meter) Full() bool {
	for _, p := range m.Scratch {
		var st unix.Statfs_t
		if unix.Statfs(p, &st) == nil && st.Blocks > 0 && (st.Bavail < st.Blocks/100 || st.Ffree == 0) {
			return true
		}
	}
	return false
}

// exact is the memory of processes with what they share counted once. What cannot be told counts as nobody else's.
func (m *Meter) exact(all []mediate.Process) int64 {
	var sum int64
	for _, p := range all {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/smaps_rollup")
		_, rest, found := bytes.Cut(b, []byte("\nPss:"))
		f := strings.Fields(string(rest[:min(len(rest), 64)]))
		if err != nil || !found || len(f) == 0 {
			sum += p.Pages * int64(os.Getpagesize())
			continue
		}
		kb, _ := strconv.ParseInt(f[0], 10, 64)
		sum += kb << 10
	}
	return sum
}

// reserve is what a command may not take from a disk that is nearly full.
const reserve = 256 << 20

// disk compares what became of the file systems. Others write to them, too, so what the command itself has written is
// counted before it is held against it.
func (m *Meter) disk(all []mediate.Process) string {
	for i := range m.volumes {
		v := &m.volumes[i]
		var st unix.Statfs_t
		if unix.Statfs(v.trees[0], &st) != nil {
			continue
		}
		bytes, files := grown(v.free, free(&st)), grown(v.files, st.Ffree)
		low := v.free > 2*reserve && free(&st) < reserve
		if m.Disk > 0 && (bytes > m.Disk || low) || m.Files > 0 && files > m.Files {
			wrote, made := m.written(v.trees, all)
			switch {
			case m.Files > 0 && made > m.Files:
				return Files
			case m.Disk > 0 && (wrote > m.Disk || low && wrote > reserve):
				return Disk
			}
			v.free, v.files = free(&st), st.Ffree
		}
	}
	return ""
}

// grown is how much less is free.
func grown(before, now uint64) int64 { return int64(before) - int64(now) }

// written counts what was written to folders since the start, and what the processes hold open that has no name any
// more.
func (m *Meter) written(trees []string, all []mediate.Process) (size, files int64) {
	seen := map[[2]uint64]bool{}
	add := func(st *unix.Stat_t) {
		key := [2]uint64{st.Dev, st.Ino}
		if !seen[key] && time.Unix(st.Ctim.Unix()).After(m.begin.Add(-time.Second)) {
			seen[key] = true
			size, files = size+st.Blocks*512, files+1
		}
	}
	for _, t := range trees {
		_ = filepath.WalkDir(t, func(p string, _ fs.DirEntry, _ error) error {
			var st unix.Stat_t
			if unix.Lstat(p, &st) == nil {
				add(&st)
			}
			return nil
		})
	}
	for _, p := range all {
		dir := "/proc/" + strconv.Itoa(p.PID) + "/fd"
		names, _ := os.ReadDir(dir)
		for _, n := range names {
			var st unix.Stat_t
			if unix.Stat(filepath.Join(dir, n.Name()), &st) == nil && st.Nlink == 0 &&
				st.Mode&unix.S_IFMT == unix.S_IFREG {
				add(&st)
			}
		}
	}
	return size, files
}
