package sandbox

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// launchers knows in which groups the launchers of a Box are started, and keeps a spare one where it was asked to. It
// is safe for concurrent use.
type launchers struct {
	mu       sync.Mutex
	ready    bool // keep a spare launcher
	memory   int64
	spare    *spare
	closed   bool
	standing sync.WaitGroup // launchers that are or were spare, and what is left of commands

	findOnce sync.Once
	found    groups
}

// readyFor is how long a launcher waits for a command that does not come.
const readyFor = 3 * time.Second

// startUp is when the next launcher is started after a command: once that has come up itself, and not at its end, where
// commits would have to share the processors with it.
const startUp = 10 * time.Millisecond

// job is one command on its way to a launcher.
type job struct {
	ctx   context.Context
	spec  Spec
	order order

	res      Result
	err      error
	done     chan struct{} // closed when res and err stand and nothing of the command is left
	declined bool          // by a spare launcher, with nothing done
}

// spare is a launcher that was started before its command is known, so that the command does not wait for it. It is in
// a process, mount and network namespace of its own and in a group, has raised nothing yet, and knows of no command: it
// waits for its order. It serves one command, like every launcher.
type spare struct {
	jobs   chan *job // gets at most one; nil dismisses
	mounts int       // reports a change of pawl's own mounts, which the launcher may have missed
}

// fits reports whether a spare launcher can carry out a job: everything about the job is in its order.
func (j *job) fits() bool {
	return (j.order.own || j.order.bare) && !j.order.network && len(j.spec.Stdin) == 0 && j.spec.streams == nil &&
		j.spec.MaxMemory == 0
}

// warm tries the walls and starts a spare launcher, without waiting for either. What keeps the walls from standing is
// for the first command to report.
func (l *launchers) warm(choose func(context.Context) (Mechanism, error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ready || l.closed {
		return
	}
	l.standing.Go(func() {
		if m, err := choose(context.Background()); err == nil && m != MechanismBubblewrap {
			l.prepare(m)
		}
	})
}

// prepare starts a spare launcher, when the Box keeps one and has none.
func (l *launchers) prepare(m Mechanism) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ready || l.closed || l.spare != nil {
		return
	}
	fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	n := &spare{jobs: make(chan *job, 1), mounts: fd}
	l.spare = n
	l.standing.Go(func() {
		defer unix.Close(fd)
		aside(func() bool { return l.stand(n, m) })
	})
}

// take returns the spare launcher, which belongs to the caller then, or nil.
func (l *launchers) take() *spare {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.spare
	l.spare = nil
	return n
}

// hand gives a job to the spare launcher, if there is one that may have it.
func (l *launchers) hand(j *job) bool {
	if !j.fits() {
		return false
	}
	n := l.take()
	if n == nil {
		return false
	}
	// The kernel notes a change of the mounts on every open descriptor of their list.
	fds := []unix.PollFd{{Fd: int32(n.mounts), Events: unix.POLLPRI}}
	if changed, err := unix.Poll(fds, 0); err != nil || changed > 0 {
		n.jobs <- nil
		return false
	}
	n.jobs <- j
	<-j.done
	return !j.declined
}

// stand starts a launcher and has it wait for a job. It reports whether the calling thread can be used again.
func (l *launchers) stand(n *spare, m Mechanism) bool {
	group := l.groups().open(l.memory)
	c, fault := start(order{own: m == MechanismNamespaces, bare: m.bare()}, Spec{}, group)
	var j *job
	timer := time.NewTimer(readyFor)
	defer timer.Stop()
	select {
	case j = <-n.jobs:
	case <-timer.C:
		if !l.withdraw(n) {
			j = <-n.jobs
		}
	}
	served := j != nil && fault == nil && !c.lost()
	if served {
		c.begun = func() { time.AfterFunc(startUp, func() { l.prepare(m) }) }
		j.res, j.err = c.supervise(j.ctx, j.spec, j.order)
	} else if fault == nil {
		c.end()
		c.close()
	}
	group.remove()
	if j != nil {
		j.declined = !served
		close(j.done)
	}
	return !group.keepsThread()
}

// withdraw takes a spare launcher out of use, unless somebody has taken it.
func (l *launchers) withdraw(n *spare) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spare != n {
		return false
	}
	l.spare = nil
	return true
}

// dismiss ends the spare launcher and waits until it is gone.
func (l *launchers) dismiss() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	if n := l.take(); n != nil {
		n.jobs <- nil
	}
	l.standing.Wait()
}

// groups finds, once, where cgroups can be made, and removes those that a killed pawl has left.
func (l *launchers) groups() groups {
	l.findOnce.Do(func() {
		l.found = findGroups()
		l.found.sweep()
	})
	return l.found
}
