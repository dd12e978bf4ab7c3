package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// devices are the nodes of the private /dev.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// procCovered are the parts of /proc through which root outside could be reached by root inside, who is the same user to
// the kernel.
var procCovered = []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"}

// procHidden are those that tell about the machine or its keys.
var procHidden = []string{"kcore", "keys", "latency_stats", "timer_list", "sched_debug"}

// furnish makes the file system of the layout out of the copy of the mounts that a new mount namespace starts with. What
// stays visible is taken hold of first, then everything becomes read-only at once, then the rest is put on top; nothing of
// it can be taken off without capabilities, which the command does not have.
func (o *order) furnish() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	held := make([]int, len(o.mounts))
	for i, m := range o.mounts {
		fd, err := m.hold()
		if err != nil {
			return fmt.Errorf("hold %s: %w", m.path, err)
		}
		held[i] = fd
	}
	nodes := map[string]int{}
	for _, d := range devices {
		fd, err := clone("/dev/"+d, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
		if err != nil {
			return fmt.Errorf("hold /dev/%s: %w", d, err)
		}
		nodes[d] = fd
	}
	if err := setattr(unix.AT_FDCWD, "/", true, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
		return fmt.Errorf("read-only /: %w", err)
	}
	if err := mountProc(); err != nil {
		return err
	}
	if err := mountDev(nodes); err != nil {
		return err
	}
	for i, m := range o.mounts {
		if err := m.place(held[i], o.scratch); err != nil {
			return fmt.Errorf("mount %s: %w", m.path, err)
		}
	}
	for _, m := range o.mounts {
		if m.kind != mountHideDir {
			continue
		}
		if err := setattr(unix.AT_FDCWD, m.path, false, unix.MOUNT_ATTR_RDONLY); err != nil {
			return fmt.Errorf("seal %s: %w", m.path, err)
		}
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	if o.network {
		return nil
	}
	return loopbackUp()
}

// hold takes hold of what a step shows, before anything covers it.
func (m mount) hold() (int, error) {
	const plain = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	switch m.kind {
	case mountRead:
		return clone(m.path, plain|unix.MOUNT_ATTR_RDONLY)
	case mountWrite:
		return clone(m.path, plain)
	case mountHideFile:
		return clone("/dev/null", plain|unix.MOUNT_ATTR_RDONLY)
	}
	return -1, nil
}

// place puts a step where it belongs.
func (m mount) place(held int, size int64) error {
	switch m.kind {
	case mountScratch:
		return unix.Mount("tmpfs", m.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV,
			"mode=1777,nr_inodes=1m,size="+strconv.FormatInt(size, 10))
	case mountHideDir:
		if err := makePoint(m.path, true); err != nil {
			return err
		}
		// It becomes read-only at the end, because a deeper step may need a mount point in it.
		return unix.Mount("tmpfs", m.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755,size=64k")
	}
	var st unix.Stat_t
	if err := unix.Fstat(held, &st); err != nil {
		return err
	}
	if err := makePoint(m.path, st.Mode&unix.S_IFMT == unix.S_IFDIR); err != nil {
		return err
	}
	return move(held, m.path)
}

// makePoint makes a mount point where it is missing, which can only be in a scratch or hidden directory.
func makePoint(path string, dir bool) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if dir {
		return os.Mkdir(path, 0o755)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o444)
	if err != nil {
		return err
	}
	return f.Close()
}

// clone returns a detached copy of the mounts at path, whose last component must not be a link.
func clone(path string, attr uint64) (int, error) {
	at, err := openNoLinks(path)
	if err != nil {
		return -1, err
	}
	defer unix.Close(at)
	fd, err := unix.OpenTree(at, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return -1, err
	}
	if err := setattr(fd, "", true, attr); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// openNoLinks opens a path that holds no links. The layout has resolved them; one that appears since then is an attack.
func openNoLinks(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
}

// move puts a detached mount at path and gives up the descriptor.
func move(fd int, path string) error {
	defer unix.Close(fd)
	to, err := openNoLinks(path)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	return unix.MoveMount(fd, "", to, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

func setattr(fd int, path string, recursive bool, attr uint64) error {
	flags := uint(0)
	if path == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	if recursive {
		flags |= unix.AT_RECURSIVE
	}
	return unix.MountSetattr(fd, path, flags, &unix.MountAttr{Attr_set: attr})
}

// mountProc shows the processes of the namespace and covers what is not theirs.
func mountProc() error {
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	for _, p := range procCovered {
		fd, err := clone("/proc/"+p, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err == nil {
			err = move(fd, "/proc/"+p)
		}
		if err != nil {
			return fmt.Errorf("cover /proc/%s: %w", p, err)
		}
	}
	for _, p := range procHidden {
		if _, err := os.Lstat("/proc/" + p); err != nil {
			continue
		}
		fd, err := clone("/dev/null", unix.MOUNT_ATTR_RDONLY)
		if err == nil {
			err = move(fd, "/proc/"+p)
		}
		if err != nil {
			return fmt.Errorf("hide /proc/%s: %w", p, err)
		}
	}
	return nil
}

// mountDev makes a /dev with nothing in it but what every program may have.
func mountDev(nodes map[string]int) error {
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=64k"); err != nil {
		return fmt.Errorf("mount /dev: %w", err)
	}
	for name, fd := range nodes {
		err := makePoint("/dev/"+name, false)
		if err == nil {
			err = move(fd, "/dev/"+name)
		}
		if err != nil {
			return fmt.Errorf("/dev/%s: %w", name, err)
		}
	}
	err := errors.Join(
		os.Symlink("/proc/self/fd", "/dev/fd"), os.Symlink("/proc/self/fd/0", "/dev/stdin"),
		os.Symlink("/proc/self/fd/1", "/dev/stdout"), os.Symlink("/proc/self/fd/2", "/dev/stderr"),
		os.Symlink("pts/ptmx", "/dev/ptmx"), os.Mkdir("/dev/pts", 0o755), os.Mkdir("/dev/shm", 0o755),
		unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"),
		unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=25%"),
		setattr(unix.AT_FDCWD, "/dev", false, unix.MOUNT_ATTR_RDONLY),
	)
	if err != nil {
		return fmt.Errorf("fill /dev: %w", err)
	}
	return nil
}

// loopbackUp switches on the namespace's own loopback, so that tests can talk to servers that they start.
func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(s)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}
