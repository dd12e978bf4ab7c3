package mediate

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// address is where a socket is to be bound or connected to.
type address struct {
	family uint16
	at     netip.AddrPort
	// name is that of a unix socket; an abstract one begins with a zero byte.
	name string
}

// address reads an argument.
func (t *task) address(at, n uint64) (address, error) {
	if n < 2 || n > unix.SizeofSockaddrAny+16 {
		return address{}, unix.EINVAL
	}
	b, err := t.program.memory(at, int(n))
	if err != nil {
		return address{}, err
	}
	if uint64(len(b)) < n {
		return address{}, unix.EFAULT
	}
	a := address{family: binary.NativeEndian.Uint16(b)}
	switch {
	case a.family == unix.AF_INET && n >= unix.SizeofSockaddrInet4:
		a.at = netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), binary.BigEndian.Uint16(b[2:]))
	case a.family == unix.AF_INET6 && n >= unix.SizeofSockaddrInet6-4:
		a.at = netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), binary.BigEndian.Uint16(b[2:]))
	case a.family == unix.AF_UNIX:
		a.name = unixName(b)
	default:
		return a, unix.EAFNOSUPPORT
	}
	return a, nil
}

// sockaddr is the address in the form of a family.
func sockaddr(family int, at netip.AddrPort) unix.Sockaddr {
	if family == unix.AF_INET6 {
		return &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
	}
	return &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().Unmap().As4()}
}

// replace puts a socket in the place of the program's, with the flags that this one has.
func (t *task) replace(s, fd int) verdict {
	flags := t.program.flags(fd)
	if err := unix.SetNonblock(s, flags&unix.O_NONBLOCK != 0); err != nil {
		return of(err)
	}
	return of(t.s.Calls.Replace(t.program.call, s, fd, flags&unix.O_CLOEXEC != 0))
}

// connect connects a socket to what the command may reach.
func (t *task) connect(fd int, at, n uint64) verdict {
	if t.s.Namespaces {
		return t.connectWithin(fd, at, n)
	}
	a, err := t.address(at, n)
	switch {
	case err != nil:
		return of(err)
	case a.family == unix.AF_UNIX:
		return of2(t.connectUnix(fd, a.name))
	case t.s.Network:
		return t.join(fd, a, a.at)
	}
	to, err := t.s.reach(a.at)
	if err != nil {
		return of(err)
	}
	if gate, ok := t.s.Gates[to.Port()]; ok {
		return t.through(fd, a, gate)
	}
	return t.join(fd, a, to)
}

// connectWithin judges a socket with a name, and carries every other connection out, which the namespaces hold: the
// kernel would read the address a second time.
func (t *task) connectWithin(fd int, at, n uint64) verdict {
	if n < 2 || n > unix.SizeofSockaddrAny+16 {
		return of(unix.EINVAL)
	}
	b, err := t.program.memory(at, int(n))
	switch {
	case err != nil:
		return of(err)
	case uint64(len(b)) < n:
		return of(unix.EFAULT)
	case binary.NativeEndian.Uint16(b) == unix.AF_UNIX:
		return of2(t.connectUnix(fd, unixName(b)))
	}
	s := t.program.socket(fd)
	if s < 0 {
		return of(unix.EBADF)
	}
	defer unix.Close(s)
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(s), uintptr(unsafe.Pointer(&b[0])), uintptr(n))
	return verdict{errno: errno}
}

// unixName is the name in the address of a unix socket. An abstract one begins with a zero byte.
func unixName(b []byte) string {
	name := string(b[2:])
	if i := strings.IndexByte(name, 0); i > 0 {
		name = name[:i]
	}
	return name
}

// of2 lets a verdict that is one already pass.
func of2(v verdict, err error) verdict {
	if err != nil {
		return of(err)
	}
	return v
}

// join connects the program's own socket, or puts a connected one in its place.
func (t *task) join(fd int, a address, to netip.AddrPort) verdict {
	if s := t.program.socket(fd); s >= 0 {
		defer unix.Close(s)
		return of(unix.Connect(s, sockaddr(domain(s), to)))
	}
	s, err := unix.Socket(int(a.family), unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return of(err)
	}
	defer unix.Close(s)
	if err := unix.Connect(s, sockaddr(int(a.family), to)); err != nil {
		return of(err)
	}
	return t.replace(s, fd)
}

func domain(s int) int {
	d, _ := unix.GetsockoptInt(s, unix.SOL_SOCKET, unix.SO_DOMAIN)
	return d
}

// loopback is the address of the loopback that a connection to an address of this machine goes to.
func loopback(a netip.Addr) (netip.Addr, bool) {
	switch v := a.Unmap(); {
	case v.IsLoopback():
		return v, true
	case v == netip.IPv4Unspecified():
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	case v == netip.IPv6Unspecified():
		return netip.IPv6Loopback(), true
	}
	return a, false
}

// reach finds where a connection may go: to a gate, or to a server that the command itself listens with.
func (s *Supervisor) reach(to netip.AddrPort) (netip.AddrPort, error) {
	addr, ok := loopback(to.Addr())
	if !ok {
		return to, unix.ENETUNREACH
	}
	if _, gate := s.Gates[to.Port()]; gate {
		return to, nil
	}
	four := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	candidates := []netip.Addr{addr}
	s.mu.Lock()
	if addr == netip.IPv6Loopback() && s.wild[to.Port()] {
		candidates = append(candidates, four)
	}
	s.mu.Unlock()
	listening := listeners(to.Port())
	for _, c := range candidates {
		if s.own(listening[c]) {
			return netip.AddrPortFrom(c, to.Port()), nil
		}
	}
	return to, unix.ECONNREFUSED
}

// own reports whether all of at least one socket are the command's.
func (s *Supervisor) own(inodes []uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range inodes {
		if !s.bound[i] {
			return false
		}
	}
	return len(inodes) > 0
}

// listeners are the sockets that listen at a port, by address.
func listeners(port uint16) map[netip.Addr][]uint64 {
	out := map[netip.Addr][]uint64{}
	for _, table := range []string{"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"} {
		b, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != "0A" { // TCP_LISTEN
				continue
			}
			host, p, _ := strings.Cut(f[1], ":")
			if n, err := strconv.ParseUint(p, 16, 16); err != nil || uint16(n) != port {
				continue
			}
			inode, err := strconv.ParseUint(f[9], 10, 64)
			if a, ok := tableAddress(host); ok && err == nil {
				out[a] = append(out[a], inode)
			}
		}
	}
	return out
}

// tableAddress reads an address as the kernel prints it: words of four bytes in the order of the machine.
func tableAddress(text string) (netip.Addr, bool) {
	b, err := hex.DecodeString(text)
	if err != nil {
		return netip.Addr{}, false
	}
	for i := 0; i+4 <= len(b); i += 4 {
		b[i], b[i+1], b[i+2], b[i+3] = b[i+3], b[i+2], b[i+1], b[i]
	}
	a, ok := netip.AddrFromSlice(b)
	return a.Unmap(), ok
}

// handTime bounds how long a connection within this process may take.
const handTime = 10 * time.Second

// through connects the program's socket to one of this process, on a listener that is there for this one connection
// alone, and hands its other end to pawl. Nobody else can get there: what is accepted must come from the port that was
// connected.
func (t *task) through(fd int, a address, gate int) verdict {
	family := int(a.family)
	mine := t.program.socket(fd)
	replaced := mine < 0
	if replaced {
		var err error
		if mine, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
			return of(err)
		}
	}
	defer unix.Close(mine)
	family = domain(mine)
	l, at, err := listen()
	if err != nil {
		return of(err)
	}
	defer unix.Close(l)
	result := unix.Connect(mine, sockaddr(family, at))
	if result != nil && result != unix.EINPROGRESS {
		return of(result)
	}
	far, err := accept(l, mine)
	if err != nil {
		return of(err)
	}
	defer unix.Close(far)
	if err := unix.Sendmsg(gate, []byte{0}, unix.UnixRights(far), nil, unix.MSG_NOSIGNAL); err != nil {
		return of(unix.ECONNREFUSED)
	}
	if replaced {
		return t.replace(mine, fd)
	}
	return of(result)
}

// listen opens a listener on a free port of the loopback.
func listen() (int, netip.AddrPort, error) {
	l, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, netip.AddrPort{}, err
	}
	if err = unix.Bind(l, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = unix.Listen(l, 8)
	}
	at, ok := localAddress(l)
	if err != nil || !ok {
		_ = unix.Close(l)
		return -1, at, unix.EADDRNOTAVAIL
	}
	return l, at, nil
}

// accept takes the connection that comes from a socket, and closes any other.
func accept(l, from int) (int, error) {
	for end := time.Now().Add(handTime); time.Now().Before(end); {
		fds := []unix.PollFd{{Fd: int32(l), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, 1000); err != nil && err != unix.EINTR {
			return -1, err
		}
		far, peer, err := unix.Accept4(l, unix.SOCK_CLOEXEC)
		if err != nil {
			continue
		}
		if p, ok := peer.(*unix.SockaddrInet4); ok {
			if at, ok := localAddress(from); ok && int(at.Port()) == p.Port && at.Addr().As4() == p.Addr {
				return far, nil
			}
		}
		_ = unix.Close(far)
	}
	return -1, unix.ETIMEDOUT
}

// localAddress is where a socket is bound, with a mapped address as what it stands for.
func localAddress(s int) (netip.AddrPort, bool) {
	sa, err := unix.Getsockname(s)
	if err != nil {
		return netip.AddrPort{}, false
	}
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)), true
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port)), true
	}
	return netip.AddrPort{}, false
}

// bind binds a socket to the loopback. One that is to be heard everywhere is heard there.
func (t *task) bind(fd int, at, n uint64) verdict {
	a, err := t.address(at, n)
	switch {
	case err != nil:
		return of(err)
	case a.family == unix.AF_UNIX:
		return t.bindUnix(fd, a.name)
	case t.s.Network:
		return pass
	}
	if _, gate := t.s.Gates[a.at.Port()]; gate {
		return of(unix.EADDRINUSE)
	}
	to, wild := a.at.Addr(), a.at.Addr() == netip.IPv6Unspecified()
	switch v := to.Unmap(); {
	case v == netip.IPv4Unspecified() || wild:
		to = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case !v.IsLoopback():
		return of(unix.EADDRNOTAVAIL)
	}
	s := t.program.socket(fd)
	replaced := s < 0
	if replaced {
		if s, err = unix.Socket(int(a.family), unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
			return of(err)
		}
		_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	defer unix.Close(s)
	if only, err := unix.GetsockoptInt(s, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY); wild && err == nil && only != 0 {
		to, wild = netip.IPv6Loopback(), false
	}
	if err := t.s.bindTo(s, netip.AddrPortFrom(to, a.at.Port()), wild); err != nil {
		return of(err)
	}
	if replaced {
		return t.replace(s, fd)
	}
	return verdict{}
}

// bindTo binds a socket and remembers it as the command's.
func (s *Supervisor) bindTo(fd int, to netip.AddrPort, wild bool) error {
	if err := unix.Bind(fd, sockaddr(domain(fd), to)); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	at, _ := localAddress(fd)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bound[st.Ino] = true
	if wild {
		s.wild[at.Port()] = true
	}
	return nil
}

// listen lets a socket take connections.
func (t *task) listen(fd, backlog int) verdict {
	s := t.program.socket(fd)
	if s < 0 {
		// The process is known by itself: what connects to its sockets is let through by that.
		t.s.mu.Lock()
		t.s.servers[number(t.program.id, "Tgid", 10)] = true
		t.s.mu.Unlock()
		return pass
	}
	defer unix.Close(s)
	if d := domain(s); !t.s.Network && (d == unix.AF_INET || d == unix.AF_INET6) {
		// A socket that is not bound would be bound to every address.
		if at, ok := localAddress(s); ok && at.Port() == 0 {
			if err := t.s.bindTo(s, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0), false); err != nil {
				return of(err)
			}
		}
	}
	return of(unix.Listen(s, backlog))
}
