package sqlite

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// bell rings at the first write to a file after it was set. The system gives a user only so many; a nil one never
// rings.
type bell struct {
	of    string
	told  *os.File
	rung  chan struct{}
	ended chan struct{}
}

func newBell(of string) *bell {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	b := &bell{of: of, told: os.NewFile(uintptr(fd), "inotify"), rung: make(chan struct{}, 1),
		ended: make(chan struct{})}
	go b.listen()
	return b
}

// listen rings until the bell is closed.
func (b *bell) listen() {
	defer close(b.ended)
	raw := make([]byte, 4096)
	for {
		n, err := b.told.Read(raw)
		if err != nil {
			return
		}
		for at := raw[:n]; len(at) >= unix.SizeofInotifyEvent; {
			mask, name := binary.NativeEndian.Uint32(at[4:]), binary.NativeEndian.Uint32(at[12:])
			if mask&unix.IN_IGNORED == 0 { // which follows each ring
				select {
				case b.rung <- struct{}{}:
				default:
				}
			}
			at = at[min(unix.SizeofInotifyEvent+int(name), len(at)):]
		}
	}
}

// set has it ring once more, and reports whether it will.
func (b *bell) set() bool {
	if b == nil {
		return false
	}
	select {
	case <-b.rung: // for what was written before
	default:
	}
	set := false
	raw, err := b.told.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			_, wrong := unix.InotifyAddWatch(int(fd), b.of, unix.IN_MODIFY|unix.IN_ONESHOT)
			set = wrong == nil
		})
	}
	return set && err == nil
}

func (b *bell) rings() <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.rung
}

func (b *bell) close() {
	if b != nil {
		_ = b.told.Close()
		<-b.ended
	}
}
