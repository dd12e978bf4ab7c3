package mediate

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"pawl/sandbox/seccomp"
)

// program is what is read of the thread that made a call.
type program struct {
	calls *seccomp.Listener
	call  *seccomp.Call
	id    string // of the thread, as /proc names it
}

// valid reports whether the thread still waits, so that what was opened under its name is its own.
func (p *program) valid() bool { return p.calls.Valid(p.call) }

// memory reads what an argument points to. Less than was asked for is no error.
func (p *program) memory(at uint64, n int) ([]byte, error) {
	fd, err := unix.Open("/proc/"+p.id+"/mem", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, unix.EPERM
	}
	defer unix.Close(fd)
	if !p.valid() {
		return nil, unix.ESRCH
	}
	buf := make([]byte, n)
	for got := 0; ; {
		m, err := unix.Pread(fd, buf[got:], int64(at)+int64(got))
		if err == unix.EINTR {
			continue
		}
		got += max(m, 0)
		if m <= 0 || got == n {
			if got == 0 && n > 0 {
				return nil, unix.EFAULT
			}
			return buf[:got], nil
		}
	}
}

// text reads a path. What lies behind its end may not be there to be read.
func (p *program) text(at uint64) (string, error) {
	if at == 0 {
		return "", unix.EFAULT
	}
	for _, n := range []int{256, unix.PathMax} {
		// A read does not go over the end of what is mapped with an error, but with what was there.
		b, err := p.memory(at, n)
		if err != nil {
			return "", err
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(b[:i]), nil
		}
	}
	return "", unix.ENAMETOOLONG
}

// numbers reads 64-bit numbers.
func (p *program) numbers(at uint64, n int) ([]int64, error) {
	b, err := p.memory(at, 8*n)
	if err != nil || len(b) < 8*n {
		return nil, unix.EFAULT
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(binary.NativeEndian.Uint64(b[8*i:]))
	}
	return out, nil
}

// status returns a line of what the kernel tells about the thread.
func status(id, name string) (string, bool) {
	b, err := os.ReadFile("/proc/" + id + "/status")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

// number is a line that is a number in a base, or -1.
func number(id, name string, base int) int {
	v, ok := status(id, name)
	n, err := strconv.ParseUint(v, base, 31)
	if !ok || err != nil {
		return -1
	}
	return int(n)
}

// masked takes away from a mode what the program's umask says.
func (p *program) masked(mode uint32) uint32 {
	mask := number(p.id, "Umask", 8)
	if mask < 0 {
		mask = 0o077
	}
	return mode &^ uint32(mask) & 0o7777
}

// base opens the directory that a path of the program begins at.
func (p *program) base(dirfd int32, name string) (int, error) {
	from := "/"
	switch {
	case strings.HasPrefix(name, "/"):
	case dirfd == unix.AT_FDCWD:
		from = "/proc/" + p.id + "/cwd"
	default:
		from = "/proc/" + p.id + "/fd/" + strconv.Itoa(int(dirfd))
	}
	fd, err := unix.Open(from, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil && from != "/" {
		return -1, unix.EBADF
	}
	if err == nil && !p.valid() {
		_ = unix.Close(fd)
		return -1, unix.ESRCH
	}
	return fd, err
}

// own turns a name that means something else in every process into that of the program's.
func (p *program) own(name string) string {
	for _, self := range []string{"/proc/self/", "/proc/thread-self/", "/dev/fd/"} {
		if rest, ok := strings.CutPrefix(name, self); ok {
			if self == "/dev/fd/" {
				rest = "fd/" + rest
			}
			return "/proc/" + p.id + "/" + rest
		}
	}
	return name
}

// entry takes hold of the directory of a path, following links on the way there.
func (p *program) entry(dirfd int32, name string) (entry, error) {
	name = p.own(name)
	trimmed := strings.TrimRight(name, "/")
	if name == "" {
		return entry{}, unix.ENOENT
	}
	from, err := p.base(dirfd, name)
	if err != nil {
		return entry{}, err
	}
	defer unix.Close(from)
	return enter(from, trimmed)
}

// object takes hold of what a path leads to; an empty one leads to the descriptor itself, where that is allowed.
func (p *program) object(dirfd int32, name string, follow, empty bool) (int, error) {
	if name == "" {
		if !empty {
			return -1, unix.ENOENT
		}
		return p.base(dirfd, "")
	}
	from, err := p.base(dirfd, name)
	if err != nil {
		return -1, err
	}
	defer unix.Close(from)
	flags := unix.O_PATH | unix.O_CLOEXEC
	if !follow {
		flags |= unix.O_NOFOLLOW
	}
	return unix.Openat(from, p.own(name), flags, 0)
}

// descriptor takes hold of what a descriptor of the program shows, -1 for none.
func (p *program) descriptor(fd uint64) int {
	held, err := p.base(int32(fd), "")
	if err != nil || int32(fd) == unix.AT_FDCWD {
		return -1
	}
	return held
}

// socket takes hold of the program's own socket. Where that is not allowed, as in many containers, it is -1.
func (p *program) socket(fd int) int {
	leader := int(p.call.PID)
	pidfd, err := unix.PidfdOpen(leader, 0)
	if err != nil {
		if pidfd, err = unix.PidfdOpen(number(p.id, "Tgid", 10), 0); err != nil {
			return -1
		}
	}
	defer unix.Close(pidfd)
	s, err := unix.PidfdGetfd(pidfd, fd, 0)
	if err != nil || !p.valid() {
		return -1
	}
	return s
}

// Possible reports whether sockets can be taken hold of, which many containers refuse. Without it a connection that was
// judged cannot be carried out on the program's own socket.
func Possible() bool {
	pidfd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return false
	}
	defer unix.Close(pidfd)
	fd, err := unix.PidfdGetfd(pidfd, pidfd, 0)
	_ = unix.Close(fd)
	return err == nil
}

// flags are the file status flags of a descriptor of the program.
func (p *program) flags(fd int) int {
	b, _ := os.ReadFile("/proc/" + p.id + "/fdinfo/" + strconv.Itoa(fd))
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "flags:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(v), 8, 32)
			return int(n)
		}
	}
	return 0
}
