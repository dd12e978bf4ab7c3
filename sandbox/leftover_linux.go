package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/sandbox/mediate"
	"pawl/store/disk"
)

// endTime bounds how long the processes of a command may take to be gone once they are killed.
const endTime = 10 * time.Second

// stopRounds is how often what still runs is stopped before it is killed anyway.
const stopRounds = 50

// children are what descends from the launcher. Two wait for them: who waits for the command, and who ends all that is
// left when pawl says so. Whichever of them takes the command, it is known how that ended.
type children struct {
	mu   sync.Mutex // held while children are taken without waiting, until what is known of them is kept
	took map[int]syscall.WaitStatus
}

// reap waits for the command, and for whatever orphans end before it does.
func (c *children) reap(command int) syscall.WaitStatus {
	for {
		var st syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &st, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			c.mu.Lock()
			defer c.mu.Unlock()
			if st, ok := c.took[command]; ok {
				return st
			}
			return 0xff00
		case pid == command:
			return st
		}
	}
}

// endAll kills what descends from this process, which has adopted the command's orphans, until nothing of it is left.
// They are stopped first, so that none can start others while they are counted. It reports whether all are gone.
func (c *children) endAll() bool {
	end := time.Now().Add(endTime)
	for round := 0; time.Now().Before(end); round++ {
		if c.gone() {
			return true
		}
		still := mediate.Descendants(os.Getpid())
		awake := 0
		for _, p := range still {
			if p.State != 'T' && p.State != 'Z' && p.State != 'X' && unix.Kill(p.PID, unix.SIGSTOP) == nil {
				awake++
			}
		}
		if awake > 0 && len(still) > 1 && round < stopRounds {
			continue
		}
		for _, p := range still {
			_ = unix.Kill(p.PID, unix.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
	return c.gone()
}

// gone takes what has ended and reports whether no child is left.
func (c *children) gone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		var st syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &st, unix.WNOHANG|unix.WALL, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return err == syscall.ECHILD
		case pid == 0:
			return false
		default:
			if c.took == nil {
				c.took = map[int]syscall.WaitStatus{}
			}
			c.took[pid] = st
		}
	}
}

// terminateAll asks every process of the command to end.
func terminateAll() {
	for _, p := range mediate.Descendants(os.Getpid()) {
		_ = unix.Kill(p.PID, unix.SIGTERM)
	}
}

// discard removes the private folder of a command of which nothing runs any more. Programs take rights away from
// folders that they mean to keep.
func discard(dir string) {
	if dir != "" {
		_ = disk.RemoveAll(dir) // what stays is swept by a later pawl
	}
}

// privateDir makes a directory that no command reads, and the lock that keeps others from sweeping it.
func privateDir() (dir string, claim *os.File, err error) {
	sweepPrivate()
	dir, err = os.MkdirTemp("", privatePrefix+strconv.Itoa(os.Getpid())+"-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		if claim, err = os.Open(dir); err == nil {
			err = unix.Flock(int(claim.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
	}
	if err != nil {
		return "", nil, pawl.Fail(pawl.CodeIO, "sandbox.walls").Because(err).In("sandbox.Run")
	}
	return dir, claim, nil
}

// sweepPrivate removes, once, the private folders of processes that are gone. A process that cannot be seen from here,
// because it is in another container with the same /tmp, holds its lock.
var sweepPrivate = sync.OnceFunc(func() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), privatePrefix+"*"))
	for _, d := range dirs {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(d), privatePrefix), "-")
		n, err := strconv.Atoi(pid)
		var st unix.Stat_t
		if err == nil && unix.Kill(n, 0) == unix.ESRCH && unix.Lstat(d, &st) == nil && int(st.Uid) == os.Geteuid() {
			if f, err := os.Open(d); err == nil {
				if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
					discard(d)
				}
				_ = f.Close()
			}
		}
	}
})

// privatePrefix begins the names of private folders; the process id of pawl and random text follow.
const privatePrefix = "pawl-tmp-"
