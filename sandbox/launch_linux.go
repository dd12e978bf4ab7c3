package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"pawl/sandbox/landlock"
	"pawl/sandbox/mediate"
	"pawl/sandbox/meter"
	"pawl/sandbox/seccomp"
)

// Child turns this process into the launcher when Box.Run started it as one, and does not return then. Otherwise it
// returns at once. It must be the first call of main, and of TestMain in packages whose tests run commands.
func Child() {
	if len(os.Args) != 2 || os.Args[1] != launcherFlag {
		return
	}
	launch()
	// Nothing has to be cleaned up, and os.Exit waits a second in a program with the race detector.
	unix.Exit(0)
}

// launch raises the walls, runs the command and reports. Landlock, seccomp and the loss of capabilities belong to a
// thread; the command is forked from the thread that took them on.
func launch() {
	runtime.LockOSThread()
	unix.CloseOnExec(controlFD)
	unix.CloseOnExec(asideFD)
	// The command gets none of what is open here. It is not closed now: Go's runtime may wait for events already.
	if unix.CloseRange(controlFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) != nil { // Linux before 5.11
		_ = unix.CloseRange(asideFD+1, ^uint(0), 0)
	}
	if os.Getpid() == 1 {
		// The kernel ends a namespace with its process 1. Elsewhere the launcher has to outlive pawl, and to end the
		// command.
		_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	}
	// A process inside could otherwise read and write the launcher's memory by way of /proc/1.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	control := os.NewFile(controlFD, "control")
	send(control, msgHello, nil)
	kind, body, err := receive(control)
	if err != nil || kind != msgOrder {
		return
	}
	o, err := decodeOrder(body)
	if err != nil {
		send(control, msgFailed, []byte(err.Error()))
		return
	}
	o.kids = new(children)
	// A handler, unlike ignoring, is not inherited by the command; process 1 survives what the command sends it.
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	walls, err := o.build()
	if err != nil {
		send(control, msgFailed, []byte(err.Error()))
		return
	}
	send(control, msgWalls, []byte(strings.Join(walls, " ")))
	if len(o.argv) == 0 {
		if o.bare {
			o.ready()
			err = o.tryBare(walls)
		} else {
			err = o.try(walls)
		}
		if err != nil {
			send(control, msgFailed, []byte(err.Error()))
			return
		}
		send(control, msgExit, binary.BigEndian.AppendUint32(nil, 0))
		return
	}
	pid, which, err := o.start()
	if err != nil {
		var no syscall.Errno
		errors.As(err, &no)
		send(control, msgNoExec, append(binary.BigEndian.AppendUint32(nil, uint32(no)), which...))
		return
	}
	o.ready()
	// From here on this thread only waits. On the floor its own calls are handed over to other threads of this process,
	// and while it waits for an answer to one that the runtime takes for instantaneous, such as kill, the runtime
	// cannot stop it to collect garbage, nor go on with those threads before it has.
	go o.obey(control)
	over := make(chan struct{})
	go func() {
		defer close(over)
		o.see(control, pid)
	}()
	<-over
}

// ready lets the calls about names be decided, which have waited until the command was started.
func (o *order) ready() {
	if o.forked != nil {
		unix.Umask(0)
		close(o.forked)
	}
}

// see waits for the command, ends what it leaves behind, and reports.
func (o *order) see(control *os.File, pid int) {
	m, over := newMeter(o), make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if limit := m.Watch(over); limit != "" {
			send(control, msgLimit, []byte(limit))
			if o.bare {
				o.kids.endAll()
			} else {
				everybody(unix.SIGKILL)
			}
		}
	}()
	st := o.kids.reap(pid)
	close(over)
	<-watched
	switch {
	case st.ExitStatus() == 0:
	case m.Full():
		send(control, msgLimit, []byte(meter.Scratch))
	case m.Near():
		send(control, msgLimit, []byte(meter.Processes))
	}
	if o.bare && !o.kids.endAll() {
		send(control, msgFailed, []byte("processes of the command cannot be ended"))
		return
	}
	send(control, msgExit, binary.BigEndian.AppendUint32(nil, uint32(st)))
}

// newMeter watches what the command of an order uses.
func newMeter(o *order) *meter.Meter {
	m := &meter.Meter{Root: os.Getpid(), Memory: o.use.Memory, Threads: int64(o.use.Processes), Disk: o.use.Disk,
		Files: o.use.Files}
	if !o.bare {
		m.Scratch = append(m.Scratch, shm)
	}
	for _, w := range o.mounts {
		switch w.kind {
		case mountScratch:
			m.Scratch = append(m.Scratch, w.path)
		case mountWrite:
			m.Trees = append(m.Trees, w.path)
		}
	}
	return m
}

// build raises the walls and opens the gates in them.
func (o *order) build() ([]string, error) {
	if o.bare {
		if len(o.gates) > 0 {
			if err := o.openWays(); err != nil {
				return nil, err
			}
		}
		return o.raiseBare()
	}
	walls, err := o.raise()
	if err == nil && len(o.gates) > 0 {
		err = o.openGates()
	}
	return walls, err
}

// leave ends what a namespace would end by itself, when pawl is not there to see it: all processes of the command, and
// its private folder.
func (o *order) leave() {
	if o.bare {
		o.kids.endAll()
		discard(o.private)
	}
}

// obey carries out what pawl says while the command runs, and ends the launcher, and with it the command, when pawl is
// gone.
func (o *order) obey(control *os.File) {
	for {
		kind, _, err := receive(control)
		switch {
		case err != nil:
			o.leave()
			unix.Exit(1)
		case o.bare && kind == msgTerminate:
			terminateAll()
		case o.bare && kind == msgKill:
			o.kids.endAll()
		case kind == msgTerminate:
			everybody(unix.SIGTERM)
		}
	}
}

// everybody sends a signal to all processes of a command. All that process 1 of a namespace can reach is the command's;
// from any other process it would be the whole machine.
func everybody(signal unix.Signal) {
	if os.Getpid() == 1 {
		_ = unix.Kill(-1, signal)
	}
}

// raise puts up every wall in its order and looks at the result from inside.
func (o *order) raise() ([]string, error) {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("900"), 0)
	if o.own {
		if err := o.furnish(); err != nil {
			return nil, err
		}
	}
	if err := o.inspect(); err != nil {
		return nil, err
	}
	o.makeHome()
	if err := o.limit(); err != nil {
		return nil, err
	}
	walls := []string{string(MechanismBubblewrap)}
	if o.own {
		walls[0] = string(MechanismNamespaces)
	}
	if err := dropCapabilities(o.own); err != nil {
		return nil, fmt.Errorf("capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("no_new_privs: %w", err)
	}
	held, err := o.landlock()
	if err != nil {
		return nil, fmt.Errorf("landlock: %w", err)
	}
	if held {
		walls = append(walls, "landlock")
	}
	if err := filter(o.mounts, held); err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	return append(walls, "seccomp"), nil
}

// filter puts the filter of namespaces on the calling thread. No namespace holds sockets with a name in the file
// system: where Landlock does not know of them either, connecting is judged on other threads, and where that is not
// possible, as below another program that judges calls, there are no such sockets.
func filter(mounts []mount, domain bool) error {
	if domain && landlock.ABI() >= landlock.ABISockets {
		return seccomp.Install(seccomp.Namespaces(seccomp.SocketsByKernel))
	}
	if !mediate.Possible() {
		return seccomp.Install(seccomp.Namespaces(seccomp.SocketsNone))
	}
	fd, err := seccomp.Listen(seccomp.Namespaces(seccomp.SocketsJudged))
	if err != nil {
		return seccomp.Install(seccomp.Namespaces(seccomp.SocketsNone))
	}
	f := newFloor(mounts)
	go mediate.Run(mediate.Config{Calls: seccomp.NewListener(fd), Enter: enterBare, Namespaces: true,
		Writable: func(p string) bool {
			return slices.Contains([]mountKind{mountWrite, mountScratch, mountShow, mountKeep}, f.kind(p))
		}})
	return nil
}

// inspect refuses to go on when the outer walls are not what they should be, whoever made them.
func (o *order) inspect() error {
	if os.Getpid() != 1 {
		return errors.New("not process 1 of a pid namespace")
	}
	var fs unix.Statfs_t
	if err := unix.Statfs("/", &fs); err != nil {
		return fmt.Errorf("statfs /: %w", err)
	}
	if fs.Flags&unix.ST_RDONLY == 0 {
		return errors.New("/ is writable")
	}
	if o.network {
		return nil
	}
	dev, err := os.ReadFile("/proc/net/dev")
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(dev), "\n") {
		name, _, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); ok && name != "lo" {
			return fmt.Errorf("network interface %s is visible", name)
		}
	}
	return nil
}

// start finds and forks the command. On an error it says which part failed: "exec" or "dir".
func (o *order) start() (int, string, error) {
	var st unix.Stat_t
	if err := unix.Stat(o.dir, &st); err != nil {
		return 0, "dir", err
	}
	path, err := o.find()
	if err != nil {
		return 0, "exec", err
	}
	files, spent, err := o.descriptors()
	if err != nil {
		return 0, "exec", err
	}
	defer spent()
	pid, err := syscall.ForkExec(path, o.argv, &syscall.ProcAttr{
		Dir:   o.dir,
		Env:   o.env,
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	return pid, "exec", err
}

// descriptors are what the command is started with: its three streams, and the pipe with its secret where it has one. A
// pipe is emptied by who reads it, so that nothing can be had from it twice. What the launcher knows of the secret is
// wiped; spent closes what is left with it.
func (o *order) descriptors() (files []uintptr, spent func(), err error) {
	files, spent = []uintptr{0, 1, 2}, func() {}
	if o.apart {
		files[2] = asideFD
	}
	if len(o.secret) == 0 {
		return files, spent, nil
	}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	_, err = unix.Write(ends[1], o.secret)
	clear(o.secret)
	_ = unix.Close(ends[1])
	if err != nil {
		_ = unix.Close(ends[0])
		return nil, nil, err
	}
	for len(files) < o.secretFD {
		files = append(files, ^uintptr(0)) // a descriptor that stays closed
	}
	return append(files, uintptr(ends[0])), func() { _ = unix.Close(ends[0]) }, nil
}

// find looks the command up as execvp does, but never in a relative entry of PATH.
func (o *order) find() (string, error) {
	name := o.argv[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	search := ""
	for _, kv := range o.env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			search = v
		}
	}
	err := error(syscall.ENOENT)
	for _, dir := range filepath.SplitList(search) {
		if !filepath.IsAbs(dir) {
			continue
		}
		p := filepath.Join(dir, name)
		info, serr := os.Stat(p)
		switch {
		case serr != nil || info.IsDir():
		case unix.Access(p, unix.X_OK) != nil:
			err = syscall.EACCES
		default:
			return p, nil
		}
	}
	return "", err
}

// landlock takes the calling thread into a domain in which only the writable paths of the layout and /dev can be
// written to. Of /proc nothing can: through /proc/PID/mem a command could write the memory of the agent that started
// it, and have it say anything. It reports false where the kernel has no Landlock: the mounts hold without it.
func (o *order) landlock() (bool, error) {
	abi := landlock.ABI()
	if abi == 0 {
		return false, nil
	}
	rules, err := landlock.New(abi, false)
	if err != nil {
		return false, err
	}
	defer rules.Close()
	type rule struct {
		path   string
		rights uint64
	}
	grants := []rule{{"/", landlock.Read}, {"/dev", landlock.Device}, {"/dev/shm", landlock.Write}}
	for _, m := range o.mounts {
		if m.kind == mountWrite || m.kind == mountScratch || m.kind == mountKeep {
			grants = append(grants, rule{m.path, landlock.Write})
		}
	}
	for _, g := range grants {
		if err := rules.GrantPath(g.path, g.rights); err != nil {
			return false, &os.PathError{Op: "grant", Path: g.path, Err: err}
		}
	}
	return true, rules.Restrict()
}
