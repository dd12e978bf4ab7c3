package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// try does from inside what no command may do, and fails when any of it works.
func (o *order) try(walls []string) error {
	const name = "/tmp/.pawl-try"
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		return fmt.Errorf("private /tmp: %w", err)
	}
	defer os.Remove(name)
	// Asking is enough to know, and changes nothing should one of them be writable.
	for _, dir := range []string{"/", "/etc", "/usr"} {
		if unix.Access(dir, unix.W_OK) == nil {
			return fmt.Errorf("%s is writable", dir)
		}
	}
	// Opening is enough to know, and writing nothing changes nothing should it work.
	const knob = "/proc/sys/kernel/core_pattern"
	if fd, err := unix.Open(knob, unix.O_WRONLY|unix.O_CLOEXEC, 0); err == nil {
		_ = unix.Close(fd)
		return fmt.Errorf("%s is writable", knob)
	}
	if slices.Contains(walls, "landlock") {
		// Landlock answers before the file system misses the capability, and with another error.
		if err := unix.Mknod(name+"-node", unix.S_IFBLK, 0); err != unix.EACCES {
			_ = unix.Unlink(name + "-node")
			return fmt.Errorf("landlock lets mknod pass: %v", err)
		}
	}
	if err := tryFilter(); err != nil {
		return err
	}
	return o.tryNetwork()
}

// tryFilter makes calls that every filter refuses.
func tryFilter() error {
	if err := unix.Unshare(unix.CLONE_NEWUSER); err != unix.EPERM {
		return fmt.Errorf("seccomp lets unshare pass: %v", err)
	}
	if fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0); err != unix.EPERM {
		_ = unix.Close(fd)
		return fmt.Errorf("seccomp lets a vsock pass: %v", err)
	}
	return nil
}

// tryBare does the same where there are no namespaces. Where the machine around is the wall, it tries only what is said
// to hold.
func (o *order) tryBare(walls []string) error {
	if slices.Contains(walls, "landlock") {
		// A file without a name changes nothing should it be made.
		for _, dir := range []string{"/", "/etc", "/usr", "/tmp"} {
			if fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600); err == nil {
				_ = unix.Close(fd)
				return fmt.Errorf("%s is writable", dir)
			}
		}
		name := filepath.Join(o.private, "try")
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			return fmt.Errorf("private folder: %w", err)
		}
		if err := unix.Mknod(name+"-node", unix.S_IFBLK, 0); err != unix.EACCES {
			_ = unix.Unlink(name + "-node")
			return fmt.Errorf("landlock lets mknod pass on the floor: %v", err)
		}
	}
	if !slices.Contains(walls, "seccomp") {
		return nil
	}
	// What is tried below is read out of this process, as it is out of a command's. Nothing else is in here that could
	// be read.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("dumpable: %w", err)
	}
	if err := tryFilter(); err != nil {
		return err
	}
	if udp, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0); err != unix.EPERM {
		_ = unix.Close(udp)
		return fmt.Errorf("seccomp lets UDP pass: %v", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{192, 0, 2, 1}}); err != unix.ENETUNREACH {
		return fmt.Errorf("a connection is not judged: %v", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{}); err != nil {
		return fmt.Errorf("a server of its own: %w", err)
	}
	return nil
}

// tryNetwork sends a datagram towards an address that is reserved for documentation.
func (o *order) tryNetwork() error {
	if o.network {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	err = unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{192, 0, 2, 1}})
	if err == nil {
		return errors.New("a datagram left the network namespace")
	}
	return nil
}
