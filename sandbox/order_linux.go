package sandbox

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// The launcher's name and only argument. The argument is a flag that no program knows, so an executable whose main does
// not call Child ends at once instead of doing its own work.
const (
	launcherName = "init"
	launcherFlag = "--behind-walls"
	// controlFD is the launcher's end of the control socket.
	controlFD = 3
)

// Messages on the control socket, each a byte, four bytes of length and a body. The launcher says hello first, so that
// pawl learns its process id before it sends the order.
const (
	msgHello     = 'h' // launcher: alive
	msgOrder     = 'o' // pawl: an order
	msgGates     = 'g' // launcher: the sockets of the gates go along
	msgWalls     = 'w' // launcher: the walls stand; body: their names
	msgFailed    = 'f' // launcher: a wall could not be raised; body: why
	msgNoExec    = 'e' // launcher: the command could not be executed; body: errno and which part
	msgExit      = 'x' // launcher: the command ended; body: wait status
	msgLimit     = 'l' // launcher: the command passed a limit, for which it is ended or has failed; body: its name
	msgTerminate = 't' // pawl: send SIGTERM to the command
	msgKill      = 'k' // pawl: kill all that is left of the command; only where no namespace ends with the launcher
)

// maxMessage bounds a message; arguments and environment together may be at most 2 MiB to the kernel.
const maxMessage = 16 << 20

// mountKind says what becomes of a path.
type mountKind byte

const (
	mountRead     mountKind = 'r' // readable, read-only
	mountWrite    mountKind = 'w' // as it is, writable
	mountScratch  mountKind = 's' // an empty private directory
	mountHideDir  mountKind = 'd' // an empty read-only directory
	mountHideFile mountKind = 'f' // a null device
	mountShow     mountKind = 'o' // another directory, under a private layer for what is written
	mountKeep     mountKind = 'k' // another directory, as it is, writable
)

// mount is one step of the layout; steps are taken in order.
type mount struct {
	kind mountKind
	path string
	from string // what is shown there; "" for what is at the path itself
	// layer stores what is written over from; "" for a layer that ends with the command.
	layer string
}

// source is where what is shown is on the machine.
func (m mount) source() string { return cmp.Or(m.from, m.path) }

// hides reports whether a step takes what is at its path away from the command.
func (m mount) hides() bool { return m.kind == mountHideDir || m.kind == mountHideFile }

// order is all that the launcher has to know.
type order struct {
	argv, env []string // without arguments the walls are tried instead
	dir       string
	mounts    []mount
	scratch   int64 // bytes a scratch directory may hold
	own       bool  // make the mounts and drop the capabilities; bubblewrap has done both otherwise
	network   bool
	procs     int64    // RLIMIT_NPROC, or zero
	gates     []uint16 // ports of the loopback to listen on for pawl
	secret    []byte   // what the command finds in a pipe at descriptor secretFD, where there is something
	secretFD  int
	use       Limits // what the command may use, which the launcher watches
	apart     bool   // the command's errors go to asideFD, because its launcher's own stream is bubblewrap's
	bare      bool   // there are no namespaces: Landlock and a filter hold alone
	outer     bool   // what cannot be raised is left out
	level     int    // the newest version of Landlock to use on the floor, or zero
	private   string // the folder that stands in for /tmp where there are no mounts

	// Pawl's own and the launcher's own, which do not travel.
	claim *os.File       // the lock on the private folder
	ways  map[uint16]int // ends of the gates' sockets
	kids  *children      // who descends from the launcher
	// closed when the command was forked, or none is to be, and nothing of this process has a umask
	forked chan struct{}
}

var errOrder = errors.New("malformed order")

func (o order) encode() []byte {
	var b []byte
	str := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	list := func(l []string) {
		b = binary.AppendUvarint(b, uint64(len(l)))
		for _, s := range l {
			str(s)
		}
	}
	list(o.argv)
	list(o.env)
	str(o.dir)
	b = binary.AppendUvarint(b, uint64(len(o.mounts)))
	for _, m := range o.mounts {
		b = append(b, byte(m.kind))
		str(m.path)
		str(m.from)
		str(m.layer)
	}
	b = binary.AppendUvarint(b, uint64(o.scratch))
	b = append(b, flag(o.own), flag(o.network))
	b = binary.AppendUvarint(b, uint64(o.procs))
	b = binary.AppendUvarint(b, uint64(len(o.gates)))
	for _, port := range o.gates {
		b = binary.AppendUvarint(b, uint64(port))
	}
	str(string(o.secret))
	b = binary.AppendUvarint(b, uint64(o.secretFD))
	for _, n := range []int64{o.use.Memory, int64(o.use.Processes), o.use.Disk, o.use.Files} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = append(b, flag(o.apart), flag(o.bare), flag(o.outer))
	b = binary.AppendUvarint(b, uint64(o.level))
	str(o.private)
	return b
}

func flag(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// reader takes an order apart. After the first fault it yields zero values and keeps err.
type reader struct {
	b   []byte
	err error
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.err = nil, errOrder
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.err = nil, errOrder
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) byte() byte {
	if b := r.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) str() string { return string(r.bytes(r.uint())) }

// count reads the length of a list whose elements take at least one byte each.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.b, r.err = nil, errOrder
		return 0
	}
	return int(n)
}

func (r *reader) list() []string {
	out := make([]string, r.count())
	for i := range out {
		out[i] = r.str()
	}
	return out
}

func decodeOrder(b []byte) (order, error) {
	r := &reader{b: b}
	o := order{argv: r.list(), env: r.list(), dir: r.str()}
	o.mounts = make([]mount, r.count())
	for i := range o.mounts {
		o.mounts[i] = mount{mountKind(r.byte()), r.str(), r.str(), r.str()}
	}
	o.scratch = int64(r.uint())
	o.own, o.network = r.byte() == 1, r.byte() == 1
	o.procs = int64(r.uint())
	for range r.count() {
		o.gates = append(o.gates, uint16(r.uint()))
	}
	if secret := r.bytes(r.uint()); len(secret) > 0 {
		o.secret = secret
	}
	o.secretFD = int(r.uint())
	o.use = Limits{Memory: int64(r.uint()), Processes: int(r.uint()), Disk: int64(r.uint()), Files: int64(r.uint())}
	o.apart, o.bare, o.outer = r.byte() == 1, r.byte() == 1, r.byte() == 1
	o.level = int(r.uint())
	o.private = r.str()
	if len(r.b) > 0 {
		r.err = errOrder
	}
	return o, r.err
}

// frame makes a message of a kind and a body.
func frame(kind byte, body []byte) []byte {
	b := append(make([]byte, 0, 5+len(body)), kind)
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

// Descriptors that bubblewrap hands through, after the control socket.
const (
	argsFD = controlFD + 1
	exeFD  = controlFD + 2
	// asideFD is the command's stream for errors, where bubblewrap has another one.
	asideFD = controlFD + 3
)

// send writes a message. A failure means that pawl is gone, which the next receive notices.
func send(w io.Writer, kind byte, body []byte) { _, _ = w.Write(frame(kind, body)) }

// receive reads a message.
func receive(r io.Reader) (byte, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxMessage {
		return 0, nil, errOrder
	}
	body := make([]byte, n)
	_, err := io.ReadFull(r, body)
	return head[0], body, err
}
