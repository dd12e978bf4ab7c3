package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// devices are the nodes of the private /dev.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// procCovered are the parts of /proc through which root outside could be reached by root inside, who is the same user
// to the kernel.
var procCovered = []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"}

// procHidden are those that tell about the machine or its keys.
var procHidden = []string{"kcore", "keys", "latency_stats", "timer_list", "sched_debug"}

// furnish makes the file system of the layout out of the copy of the mounts that a new mount namespace starts with.
// What stays visible is taken hold of first, then everything becomes read-only at once, then the rest is put on top;
// nothing of it can be taken off without capabilities, which the command does not have.
func (o *order) furnish() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	steps, err := hold(o.mounts)
	if err != nil {
		return err
	}
	nodes := map[string]int{}
	for _, d := range devices {
		fd, err := clone("/dev/"+d, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
		if err != nil {
			return fmt.Errorf("hold /dev/%s: %w", d, err)
		}
		nodes[d] = fd
	}
	if err := setattr(unix.AT_FDCWD, "/", true,
		unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
		return fmt.Errorf("read-only /: %w", err)
	}
	if err := mountProc(); err != nil {
		return err
	}
	if err := mountDev(nodes); err != nil {
		return err
	}
	if err := attach(steps, o.scratch); err != nil {
		return err
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	if o.network {
		return nil
	}
	return loopbackUp()
}

// step is a mount of the layout, with what it shows taken hold of.
type step struct {
	mount
	held  int // a detached mount, or -1 where attach makes one
	layer int // a detached mount of the layer, or -1
}

// hold takes hold of what the mounts show, before anything covers it. Other programs go on while the walls are built:
// what was to be shown read-only and is gone by now is left out, because the command can only see less without it. In a
// writable directory it could make the path anew and write to it, so there a missing one is an error.
func hold(mounts []mount) ([]step, error) {
	steps := make([]step, 0, len(mounts))
	for _, m := range mounts {
		fd, err := m.hold()
		switch {
		case err != nil && gone(err) && m.kind == mountRead && !writable(mounts, m.path):
		case err != nil:
			return nil, fmt.Errorf("hold %s: %w", m.path, err)
		default:
			s := step{m, fd, -1}
			if m.layer != "" {
				s.layer, _ = clone(m.layer, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV) // else the layer ends with it
			}
			steps = append(steps, s)
		}
	}
	return steps, nil
}

// writable reports whether a path lies in a directory that the command may write to.
func writable(mounts []mount, path string) bool {
	return slices.ContainsFunc(mounts, func(m mount) bool { return m.kind == mountWrite && within(path, m.path) })
}

// gone reports whether an error says that there is nothing at a path.
func gone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) }

// hold takes hold of what one mount shows.
func (m mount) hold() (int, error) {
	const plain = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	switch m.kind {
	case mountRead, mountShow:
		return clone(m.source(), plain|unix.MOUNT_ATTR_RDONLY)
	case mountWrite, mountKeep:
		return clone(m.source(), plain)
	}
	return -1, nil
}

// attach puts the steps where they belong. What was to be hidden and is gone by now is tried once more at the end,
// because a program that writes a file anew may remove it for a moment; what is gone then as well has nothing to hide.
func attach(steps []step, size int64) error {
	for range 2 {
		var missing []step
		for _, s := range steps {
			err := s.attach(size)
			switch {
			case err != nil && gone(err) && s.hides():
				missing = append(missing, s)
			case err != nil:
				return fmt.Errorf("mount %s: %w", s.path, err)
			}
		}
		// Hidden directories become read-only after the other steps, which may need mount points in them.
		for _, s := range steps {
			if s.kind != mountHideDir || slices.Contains(missing, s) {
				continue
			}
			if err := setattr(unix.AT_FDCWD, s.path, false, unix.MOUNT_ATTR_RDONLY); err != nil {
				return fmt.Errorf("seal %s: %w", s.path, err)
			}
		}
		steps = missing
	}
	return nil
}

// attach puts one step where it belongs. What hides something stands on what it hides, and never makes a place for
// itself.
func (s step) attach(size int64) error {
	switch s.kind {
	case mountScratch:
		if err := makePoint(s.path, true); err != nil {
			return err
		}
		return unix.Mount("tmpfs", s.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV,
			"mode=1777,nr_inodes=1m,size="+strconv.FormatInt(size, 10))
	case mountHideDir:
		return unix.Mount("tmpfs", s.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755,size=64k")
	case mountHideFile:
		if _, err := os.Lstat(s.path); err != nil {
			return err
		}
		empty, err := clone(emptyFile, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_RDONLY)
		if err != nil {
			return fmt.Errorf("hold %s: %v", emptyFile, err) // never to be taken for a hidden path that is gone
		}
		return move(empty, s.path)
	case mountShow:
		return s.show(size)
	}
	var st unix.Stat_t
	if err := unix.Fstat(s.held, &st); err != nil {
		return err
	}
	if err := makePoint(s.path, st.Mode&unix.S_IFMT == unix.S_IFDIR); err != nil {
		return err
	}
	return move(s.held, s.path)
}

// staging is where the layers of what is shown are put together. It is private, and covered only meanwhile.
const staging = "/dev/shm"

// show puts a directory at another path, below a layer that takes what the command writes and ends with it. Where the
// kernel cannot lay one over the directory, the directory is read-only.
func (s step) show(size int64) error {
	var st unix.Stat_t
	if err := unix.Fstat(s.held, &st); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", staging, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,nr_inodes=1m,size="+
		strconv.FormatInt(size, 10)); err != nil {
		return err
	}
	fd, err := layered(s.held, s.layer, st.Mode&0o777)
	// The layers live on below the result, where there is one.
	err = errors.Join(err, unix.Chdir("/"), unix.Unmount(staging, unix.MNT_DETACH))
	if err == nil {
		err = makePoint(s.path, true)
	}
	if err != nil {
		return err
	}
	return move(fd, s.path)
}

// layered returns a detached mount of a directory with a layer over it, or of the directory alone. The layer is in the
// mount given, where there is one and the kernel can lay it, and else in memory.
func layered(held, layer int, mode uint32) (int, error) {
	defer unix.Close(held)
	err := unix.Chdir(staging) // so that no path has to be written as an option
	for _, name := range []string{"lower", "both", "memory", "layer"} {
		err = errors.Join(err, unix.Mkdir(name, 0o755))
	}
	uppers := []string{"memory"}
	if layer >= 0 {
		defer unix.Close(layer)
		uppers = []string{"layer", "memory"}
		err = errors.Join(err, unix.MoveMount(layer, "", unix.AT_FDCWD, "layer", unix.MOVE_MOUNT_F_EMPTY_PATH))
	}
	if err != nil {
		return -1, err
	}
	if err := unix.MoveMount(held, "", unix.AT_FDCWD, "lower", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return -1, err
	}
	result := "lower"
	for _, at := range uppers {
		for _, name := range []string{"/upper", "/work"} {
			_ = unix.Mkdir(at+name, 0o700)
			_ = unix.Chmod(at+name, mode|0o700) // what is missing has no layer laid
		}
		// An index would tie the layer to one directory below it.
		if unix.Mount("overlay", "both", "overlay", unix.MS_NOSUID|unix.MS_NODEV,
			"userxattr,index=off,lowerdir=lower,upperdir="+at+"/upper,workdir="+at+"/work") == nil {
			result = "both"
			break
		}
	}
	return unix.OpenTree(unix.AT_FDCWD, result, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
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

// mountProc shows the processes of the namespace, read-only, and covers what is not theirs.
func mountProc() error {
	const flags = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", "/proc", "proc", flags, ""); err != nil {
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

// emptyFile is what hidden files appear as.
const emptyFile = "/dev/empty"

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
		unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC,
			"newinstance,ptmxmode=0666,mode=0620"),
		unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=25%"),
		makePoint(emptyFile, false), setattr(unix.AT_FDCWD, "/dev", false, unix.MOUNT_ATTR_RDONLY),
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
