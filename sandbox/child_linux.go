package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/sandbox/meter"
)

// namespaces that a launcher of pawl's own gets. The network one comes on top where the network was not granted.
const ownNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// ambient capabilities let the launcher of an unprivileged user do its work after it was executed: mounts, the loopback
// interface, and the loss of all capabilities. The kernel makes the work directory of an overlay without any permission
// and goes into it then, which takes CAP_DAC_OVERRIDE; over files of other users the namespace gives none.
var ambient = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE}

// child is a launcher that was started.
type child struct {
	cmd     *exec.Cmd
	control *net.UnixConn
	in      *bufio.Reader
	out     *os.File // pawl's end of the output
	pidfd   int      // of the launcher as seen from here, or -1
	group   *cgroup
	walls   []string
	begun   func() // called when the walls stand; nil for nothing
	shut    func() // ends what carries connections out, where there is any
	bare    bool   // no namespace ends with the launcher
}

// aside calls f on one thread, because the kernel sends a parent's death signal when the thread that forked is gone,
// not the process. It ends the thread where f reports that it must not be used again. It is never the first thread of
// pawl: for lack of memory in a group the kernel kills a process whose first thread is in it.
func aside(f func() (keep bool)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// While this goroutine holds the first thread, the next one gets another.
			aside(f)
			runtime.UnlockOSThread()
		} else if f() {
			runtime.UnlockOSThread()
		}
	}()
	<-done
}

// start starts the launcher inside the group, or puts it there when it stands.
func start(o order, s Spec, group *cgroup) (*child, error) {
	c, err := spawn(o, s, group)
	if err != nil && group.retry() {
		c, err = spawn(o, s, group)
	}
	return c, err
}

// failed reports that the walls could not be raised.
func failed(err error) error {
	var own *pawl.Error
	if errors.As(err, &own) {
		return err
	}
	return pawl.Fail(pawl.CodeSandbox, "sandbox.walls").Because(err).In("sandbox.Run")
}

// spawn starts the launcher, under bubblewrap where the order says so, up to its greeting.
func spawn(o order, s Spec, group *cgroup) (_ *child, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "control")
	defer theirs.Close()
	control, err := conn(pair[0])
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		control.Close()
		return nil, err
	}
	defer w.Close()
	enlarge(r)
	c := &child{control: control, in: bufio.NewReader(control), pidfd: -1, out: r, group: group, bare: o.bare}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	var extra []*os.File
	if c.cmd, extra, err = command(o); err != nil {
		return nil, err
	}
	for _, f := range extra {
		defer f.Close()
	}
	c.cmd.ExtraFiles = append([]*os.File{theirs}, extra...)
	c.cmd.Stdout, c.cmd.Stderr = w, w
	c.cmd.Dir, c.cmd.WaitDelay = "/", grace
	switch {
	case o.apart: // what bubblewrap says is not the command's
		c.cmd.Stdin, c.cmd.Stdout = s.streams.in, s.streams.out
		c.cmd.ExtraFiles = append(c.cmd.ExtraFiles, s.streams.err)
	case s.streams != nil:
		c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = s.streams.in, s.streams.out, s.streams.err
	case len(s.Stdin) > 0:
		c.cmd.Stdin = bytes.NewReader(s.Stdin)
	}
	if err := group.start(c.cmd); err != nil {
		return nil, explained(o, err)
	}
	return c, nil
}

// cloneError is a process that could not be started in namespaces of its own. The kernel's words for it speak of other
// things.
type cloneError struct{ errno syscall.Errno }

// Error names the kernel's answer.
func (e *cloneError) Error() string { return "namespaces are refused: " + unix.ErrnoName(e.errno) }

// Unwrap returns the kernel's answer.
func (e *cloneError) Unwrap() error { return e.errno }

// explained says what an error of the start was about.
func explained(o order, err error) error {
	var no syscall.Errno
	if o.own && errors.As(err, &no) && no != syscall.ENOENT {
		return &cloneError{no}
	}
	return err
}

// enlarge lets a pipe hold a megabyte, which is worth a third of the speed of a command that prints a lot.
func enlarge(f *os.File) {
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
	}
}

// conn makes a connection of a socket whose messages say from which process they come.
func conn(fd int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), "control")
	defer f.Close()
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return nil, err
	}
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return c.(*net.UnixConn), nil
}

// command prepares the launcher's process. The launcher's own environment is empty: the command's comes with the order.
func command(o order) (*exec.Cmd, []*os.File, error) {
	if o.bare {
		return &exec.Cmd{Path: "/proc/self/exe", Args: []string{launcherName, launcherFlag},
			Env: []string{"GOMAXPROCS=2"}, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}, nil, nil
	}
	if !o.own {
		return bubblewrap(o)
	}
	flags := uintptr(ownNamespaces)
	if !o.network {
		flags |= unix.CLONE_NEWNET
	}
	uid, gid := os.Geteuid(), os.Getegid()
	return &exec.Cmd{
		Path: "/proc/self/exe",
		Args: []string{launcherName, launcherFlag},
		Env:  []string{"GOMAXPROCS=2"},
		SysProcAttr: &syscall.SysProcAttr{
			Cloneflags:  flags,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
			AmbientCaps: ambient,
			Pdeathsig:   syscall.SIGKILL,
			Setsid:      true,
		},
	}, nil, nil
}

// threads counts those of a user.
func threads(uid int) int64 {
	dirs, _ := filepath.Glob("/proc/[0-9]*/task")
	var n int64
	for _, d := range dirs {
		var st unix.Stat_t
		if unix.Stat(d, &st) == nil && int(st.Uid) == uid {
			n += int64(st.Nlink) - 2
		}
	}
	return n
}

// greet waits for the launcher's greeting, learns its process id from it, and puts it into a cgroup before it has
// started anything.
func (c *child) greet(s Spec) (limited bool, err error) {
	_ = c.control.SetReadDeadline(time.Now().Add(handshake))
	var head [5]byte
	oob := make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	n, m, _, _, err := c.control.ReadMsgUnix(head[:], oob)
	if err != nil || n != len(head) || head[0] != msgHello {
		return false, errors.Join(errors.New("the launcher did not answer"), err)
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:m])
	if err != nil || len(msgs) == 0 {
		return false, errors.Join(errors.New("the launcher did not say who it is"), err)
	}
	cred, err := unix.ParseUnixCredentials(&msgs[0])
	if err != nil {
		return false, err
	}
	if c.pidfd, err = unix.PidfdOpen(int(cred.Pid), 0); err != nil {
		return false, err
	}
	c.group.settle(int(cred.Pid), s.MaxProcs)
	return c.group.limits("pids"), nil
}

// supervise gives the order and stays with the command until nothing of it is left.
func (c *child) supervise(ctx context.Context, s Spec, o order) (Result, error) {
	defer c.close()
	keep := newKeeper(s.OutputLimit)
	var drained sync.WaitGroup
	stands := make(chan bool, 1)
	drained.Go(func() { c.drain(keep, s, stands) })
	err := c.begin(s, o)
	stands <- err == nil
	var res Result
	if err == nil {
		if c.begun != nil {
			c.begun()
		}
		err = c.attend(ctx, s.Timeout, &res)
	}
	c.end()
	drained.Wait()
	res.Output, res.Bytes, res.Digest, res.Truncated = keep.bytes(), keep.total, keep.digest(), keep.cut() > 0
	res.Walls = c.walls
	if res.Limit == "" {
		res.Limit = c.passed(res)
	}
	if err != nil && len(c.walls) == 0 {
		if said := strings.TrimSpace(string(res.Output)); said != "" {
			err = errors.Join(err, errors.New(said))
		}
		return Result{}, failed(err)
	}
	if err != nil {
		err = c.notExecuted(err, s, &res)
	}
	return res, err
}

// begin sends the order and reads until the walls stand.
func (c *child) begin(s Spec, o order) error {
	limited, err := c.greet(s)
	if err != nil {
		return err
	}
	// The kernel counts processes per user namespace only for others than root, and since Linux 5.14.
	if !limited && os.Geteuid() != 0 && o.own {
		o.procs = int64(s.MaxProcs)
	}
	if !limited && os.Geteuid() != 0 && o.bare {
		// Without a user namespace, the kernel counts what else the user runs.
		o.procs = int64(s.MaxProcs) + threads(os.Geteuid())
	}
	_ = c.control.SetWriteDeadline(time.Now().Add(handshake))
	if _, err := c.control.Write(frame(msgOrder, o.encode())); err != nil {
		return err
	}
	if len(o.gates) > 0 {
		if c.shut, err = carry(c.control, c.in, s.Egress, o); err != nil {
			return err
		}
	}
	kind, body, err := receive(c.in)
	switch {
	case err != nil:
		return errors.Join(errors.New("the launcher ended early"), err)
	case kind == msgFailed:
		return errors.New(string(body))
	case kind != msgWalls:
		return errOrder
	}
	c.walls = strings.Fields(string(body))
	if c.group.holds() {
		c.walls = append(c.walls, "cgroup")
	}
	return c.control.SetReadDeadline(time.Time{})
}

// report is the launcher's last message.
type report struct {
	kind byte
	body []byte
	err  error
}

// attend waits for the command's end and brings it about when the time is up or ctx is done.
func (c *child) attend(ctx context.Context, timeout time.Duration, res *Result) error {
	last := make(chan report, 1)
	go func() {
		kind, body, err := receive(c.in)
		for ; err == nil && kind == msgLimit; kind, body, err = receive(c.in) {
			res.Limit = string(body) // read when the last message is there
		}
		last <- report{kind, body, err}
	}()
	timeUp := time.After(timeout)
	tick := time.NewTicker(crowdTime)
	defer tick.Stop()
	refused, crowded := 0, 0
	var patience <-chan time.Time
	killed := false
	stop := func(why *bool) {
		*why = true
		if patience == nil {
			_, _ = c.control.Write(frame(msgTerminate, nil))
			patience = time.After(grace)
		}
	}
	for done := ctx.Done(); ; {
		select {
		case r := <-last:
			return res.status(r)
		case <-tick.C:
			// A program that only forks goes on with it for ever where it is refused.
			n := c.group.refused()
			if n > refused {
				crowded++
			}
			if refused = n; crowded == crowds {
				c.finish()
			}
		case <-timeUp:
			stop(&res.TimedOut)
		case <-done:
			stop(&res.Canceled)
			done = nil
		case <-patience:
			// A launcher that does not end the command when it is told to is ended itself.
			if killed {
				c.kill()
			} else {
				c.finish()
				killed, patience = true, time.After(grace+endTime)
			}
		}
	}
}

// A command is ended when the kernel has refused it processes in so many spans of this length.
const (
	crowdTime = 200 * time.Millisecond
	crowds    = 10
)

// finish ends the command at once.
func (c *child) finish() {
	if c.bare {
		_, _ = c.control.Write(frame(msgKill, nil))
	} else {
		c.kill()
	}
}

// passed tells which limit of the kernel's a command has passed, "" for none. For lack of memory the kernel may end one
// process of several, and the others may take that for nothing.
func (c *child) passed(res Result) string {
	switch {
	case res.Exit == 128+int(unix.SIGXFSZ):
		return limitFile
	case c.group.starved():
		return meter.Memory
	case res.Exit != 0 && c.group.refused() > 0:
		return meter.Processes
	}
	return ""
}

// execError is a command that could not be executed.
type execError struct {
	errno syscall.Errno
	which string
}

func (e *execError) Error() string { return e.which + ": " + e.errno.Error() }

// status reads the launcher's last message. A launcher that is gone without one was killed, by pawl or by the kernel
// for lack of memory, and its command with it.
func (res *Result) status(r report) error {
	switch {
	case r.err != nil:
		res.Exit, res.Signal = 128+int(unix.SIGKILL), "SIGKILL"
	case r.kind == msgFailed:
		return errors.New(string(r.body))
	case r.kind == msgNoExec && len(r.body) >= 4:
		return &execError{syscall.Errno(binary.BigEndian.Uint32(r.body)), string(r.body[4:])}
	case r.kind == msgExit && len(r.body) == 4:
		st := syscall.WaitStatus(binary.BigEndian.Uint32(r.body))
		res.Exit = st.ExitStatus()
		if st.Signaled() {
			res.Exit, res.Signal = 128+int(st.Signal()), unix.SignalName(st.Signal())
		}
	default:
		return errOrder
	}
	return nil
}

// notExecuted gives an error after the start its code.
func (c *child) notExecuted(err error, s Spec, res *Result) error {
	var e *execError
	if !errors.As(err, &e) {
		return pawl.Fail(pawl.CodeIO, "sandbox.launcher").Because(err).In("sandbox.Run")
	}
	fail := func(code pawl.Code, key, arg string) error {
		return pawl.Fail(code, key, arg).Because(e.errno).In("sandbox.Run")
	}
	res.Exit = 126
	switch {
	case e.which == "dir":
		return fail(pawl.CodeNotFound, "sandbox.dir", s.Dir)
	case e.errno == unix.ENOENT || e.errno == unix.ENOTDIR:
		res.Exit = 127
		return fail(pawl.CodeEnvironment, "sandbox.no_command", s.Argv[0])
	case e.errno == unix.E2BIG:
		return fail(pawl.CodeInvalid, "sandbox.too_long", s.Argv[0])
	}
	return fail(pawl.CodeEnvironment, "sandbox.no_exec", s.Argv[0])
}

// drain takes in the output at full speed until nobody can write any more. Nobody sees what is said where the walls do
// not come to stand: that is bubblewrap's, and another try may follow.
func (c *child) drain(keep *keeper, s Spec, stands <-chan bool) {
	buf, see := make([]byte, 64<<10), s.OnOutput
	take := func(p []byte) {
		_, _ = keep.Write(p)
		if see != nil {
			see(p)
		}
	}
	if s.filter != nil {
		through := s.filter(take)
		defer through.Close()
		take = func(p []byte) { _, _ = through.Write(p) }
	}
	for asked := false; ; {
		n, err := c.out.Read(buf)
		if n > 0 {
			if see != nil && !asked && !<-stands {
				see = nil
			}
			asked = true
			take(buf[:n:n])
		}
		if err != nil {
			return
		}
	}
}

// kill ends process 1 of the namespace, and the kernel everything else in it.
func (c *child) kill() {
	if c.pidfd >= 0 {
		_ = unix.PidfdSendSignal(c.pidfd, unix.SIGKILL, nil, 0)
		return
	}
	_ = c.cmd.Process.Kill()
}

// end waits until the launcher is gone, which it is only after every process of its namespace. The launcher ends by
// itself after its last message; closing the socket and killing it are for one that did not get that far.
func (c *child) end() {
	_ = c.control.CloseWrite()
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = c.cmd.Wait()
	}()
	patience := grace
	if c.bare {
		patience += endTime
	}
	select {
	case <-exited:
	case <-time.After(patience):
		c.kill()
		_ = c.cmd.Process.Kill()
		<-exited
	}
	c.gone()
	if c.bare {
		c.group.clear()
	}
	// Everyone who could write is gone, unless a descriptor was handed to a process outside; that one is not waited
	// for.
	_ = c.out.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
}

// gone waits for the launcher itself where bubblewrap stood in between.
func (c *child) gone() {
	fds := []unix.PollFd{{Fd: int32(c.pidfd), Events: unix.POLLIN}}
	for deadline := time.Now().Add(handshake); c.pidfd >= 0 && time.Now().Before(deadline); c.kill() {
		if n, err := unix.Poll(fds, 100); n > 0 || err != nil && err != unix.EINTR {
			return
		}
	}
}

func (c *child) close() {
	if c.shut != nil {
		c.shut()
	}
	_ = c.control.Close()
	_ = c.out.Close()
	if c.pidfd >= 0 {
		_ = unix.Close(c.pidfd)
	}
}

// lost reports whether the launcher is gone.
func (c *child) lost() bool {
	raw, err := c.control.SyscallConn()
	if err != nil {
		return true
	}
	gone := true
	_ = raw.Control(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}, 0)
		gone = n != 0 || err != nil
	})
	return gone
}
