package mediate

import (
	"os"
	"runtime"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"pawl/sandbox/seccomp"
)

// Config says what a command may do. The functions are called from many goroutines, with canonical paths.
type Config struct {
	Calls *seccomp.Listener
	// Enter prepares each thread that carries calls out: it gives up what the command does not have, such as
	// capabilities.
	Enter func() error
	// Ready is closed when the process has no umask any more; until then nothing is made.
	Ready <-chan struct{}
	// Writable reports whether what is at a path may be changed.
	Writable func(path string) bool
	// Holds reports whether something that is judged differently lies below a path, so that it must stay where it is.
	Holds func(path string) bool
	// Granted reports whether the kernel judges changes at a path rightly.
	Granted func(path string) bool
	// Lost is told that a name leads to something else now, or to nothing, so that what the kernel grants is not there
	// any more.
	Lost func(path string)
	// Network lets sockets of the internet be connected to everything, and bound to every address.
	Network bool
	// Namespaces says that the command has processes, and a network unless it was granted, of its own: nothing is
	// judged but which sockets with a name it reaches. The process is in that namespace of processes.
	Namespaces bool
	// Gates are the ports of the loopback that lead out, each with a socket over which connections are handed to pawl.
	Gates map[uint16]int
}

// Supervisor decides calls until its listener is closed.
type Supervisor struct {
	Config
	self int // process id

	mu       sync.Mutex
	bound    map[uint64]bool // sockets of the internet that the command has bound, by inode
	wild     map[uint16]bool // ports that it has bound on every address of IPv6, and so on the loopback of IPv4
	abstract map[string]bool // names of abstract sockets that it has bound
	servers  map[int]bool    // processes of its that listen on unix sockets
}

// maxThreads bounds the calls that are carried out at one time; a connection can take long. Further ones wait.
const maxThreads = 64

// Run decides calls and returns when no program has the filter any more, or the listener was closed.
func Run(c Config) {
	s := &Supervisor{Config: c, self: os.Getpid(), bound: map[uint64]bool{}, wild: map[uint16]bool{},
		abstract: map[string]bool{}, servers: map[int]bool{}}
	work := make(chan *seccomp.Call)
	defer close(work)
	for threads := 0; ; {
		call, err := c.Calls.Receive()
		if err != nil {
			return
		}
		select {
		case work <- call:
			continue
		default:
		}
		if threads < maxThreads {
			threads++
			go s.serve(work)
		}
		work <- call
	}
}

// serve carries calls out on a thread of its own.
func (s *Supervisor) serve(work <-chan *seccomp.Call) {
	runtime.LockOSThread() // and never unlocked: what the thread gave up must not be missed by others
	failed := s.Enter()
	for call := range work {
		if failed != nil {
			_ = s.Calls.Answer(call, unix.EPERM)
			continue
		}
		s.decide(call)
	}
}

// verdict is what becomes of a call.
type verdict struct {
	errno unix.Errno
	pass  bool // to the kernel
	done  bool // it was answered already
}

var (
	pass    = verdict{pass: true}
	done    = verdict{done: true}
	refused = verdict{errno: unix.EPERM}
)

// of is the verdict of what was carried out.
func of(err error) verdict {
	if err == nil {
		return verdict{}
	}
	if no, ok := err.(unix.Errno); ok {
		return verdict{errno: no}
	}
	return verdict{errno: unix.EIO}
}

func (s *Supervisor) decide(call *seccomp.Call) {
	v := s.judge(call)
	switch {
	case v.done:
	case v.pass:
		_ = s.Calls.Continue(call)
	default:
		_ = s.Calls.Answer(call, v.errno)
	}
}

// judge finds who decides a call.
func (s *Supervisor) judge(call *seccomp.Call) verdict {
	nr, args := modern(uintptr(call.Number), call.Args)
	t := &task{&program{s.Calls, call, strconv.Itoa(int(call.PID))}, s}
	switch nr {
	case unix.SYS_CONNECT:
		return t.connect(int(int32(args[0])), args[1], args[2])
	case unix.SYS_BIND:
		return t.bind(int(int32(args[0])), args[1], args[2])
	case unix.SYS_LISTEN:
		return t.listen(int(int32(args[0])), int(int32(args[1])))
	case unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO:
		return t.signal(nr, args)
	case unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2:
		return t.chmod(nr, args)
	case unix.SYS_OPENAT:
		<-s.Ready
		return t.open(args)
	case unix.SYS_TRUNCATE:
		return t.truncate(args)
	case unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_UNLINKAT, unix.SYS_SYMLINKAT:
		<-s.Ready
		return t.change(nr, args)
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT:
		return t.move(nr, args)
	}
	return t.touch(nr, args)
}

// task is a call that is being decided.
type task struct {
	program *program
	s       *Supervisor
}
