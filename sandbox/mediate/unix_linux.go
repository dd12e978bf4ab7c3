package mediate

import (
	"golang.org/x/sys/unix"
)

// bindUnix gives a unix socket its name. The kernel's walls judge where a name may be made, but for a writable
// directory that they cannot grant.
func (t *task) bindUnix(fd int, name string) verdict {
	if name == "" || name[0] == 0 {
		t.s.mu.Lock()
		t.s.abstract[name] = true
		t.s.mu.Unlock()
		return pass
	}
	e, err := t.program.entry(unix.AT_FDCWD, name)
	if err != nil {
		return pass
	}
	defer e.close()
	if !t.s.movable(e) || t.s.Granted(e.path) {
		return pass
	}
	s := t.program.socket(fd)
	if s < 0 || domain(s) != unix.AF_UNIX {
		return pass
	}
	defer unix.Close(s)
	return of(unix.Bind(s, &unix.SockaddrUnix{Name: held(e.dir) + "/" + e.name}))
}

// connectUnix connects to a socket of the command's own. The connection is made and looked at before the program has
// it, so that nothing can be sent to anybody else.
func (t *task) connectUnix(fd int, name string) (verdict, error) {
	if name == "" {
		return refused, nil
	}
	target := name
	if name[0] == 0 {
		t.s.mu.Lock()
		own := t.s.abstract[name] || t.s.Namespaces
		t.s.mu.Unlock()
		if !own {
			return verdict{}, unix.ECONNREFUSED
		}
		target = "@" + name[1:]
	} else {
		o, err := t.program.object(unix.AT_FDCWD, name, true, false)
		if err != nil {
			return verdict{}, err
		}
		defer unix.Close(o)
		if !t.s.changeable(o, false) {
			return verdict{}, unix.EACCES
		}
		target = held(o)
	}
	kind := unix.SOCK_STREAM
	if own := t.program.socket(fd); own >= 0 {
		if k, err := unix.GetsockoptInt(own, unix.SOL_SOCKET, unix.SO_TYPE); err == nil {
			kind = k
		}
		_ = unix.Close(own)
	}
	s, err := unix.Socket(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return verdict{}, err
	}
	defer unix.Close(s)
	_ = unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: int64(handTime.Seconds())})
	if err := unix.Connect(s, &unix.SockaddrUnix{Name: target}); err != nil {
		return verdict{}, err
	}
	_ = unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{})
	peer, err := unix.GetsockoptUcred(s, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || !t.s.serves(int(peer.Pid)) {
		return verdict{}, unix.EACCES
	}
	return t.replace(s, fd), nil
}

// serves reports whether a process listens for the command: one of its own, or this one in the place of one. In a
// namespace of processes whoever is outside has no number.
func (s *Supervisor) serves(pid int) bool {
	if s.Namespaces {
		return pid > 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return pid == s.self || s.servers[pid]
}
