package sandbox

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

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
