package sandbox

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock, grouped as the walls need them.
const (
	llRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	llFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE
	llDir = llRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	llDevice = llFile | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	llProc   = llFile | unix.LANDLOCK_ACCESS_FS_READ_DIR

	llScopes = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
)

// landlockABI is the kernel's version, 0 where Landlock is missing or switched off. Version 1 counts as missing: under it
// nothing can be moved between directories, which ordinary builds do.
func landlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || v < 2 {
		return 0
	}
	return int(v)
}

// handled lists the rights that a version knows. What is handled is denied unless a rule grants it; making device nodes is
// granted nowhere, and nor is connecting to a socket that was made outside.
func handled(abi int) (fs, scopes uint64) {
	fs = llDir | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	if abi < 3 {
		fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 5 {
		fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		scopes = llScopes
	}
	if abi >= 9 {
		fs |= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	return fs, scopes
}

// landlock takes the calling thread into a domain in which only the writable paths of the layout, /dev and /proc can be
// written to. It reports false where the kernel has no Landlock: the mounts hold without it.
func (o *order) landlock() (bool, error) {
	abi := landlockABI()
	if abi == 0 {
		return false, nil
	}
	var attr unix.LandlockRulesetAttr
	attr.Handled_access_fs, attr.Scoped = handled(abi)
	size := unsafe.Sizeof(attr)
	switch {
	case abi < 4:
		size = 8
	case abi < 6:
		size = 16
	default:
		size = 24
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return false, errno
	}
	ruleset := int(fd)
	defer unix.Close(ruleset)
	grants := []struct {
		path   string
		rights uint64
	}{{"/", llRead}, {"/dev", llDevice}, {"/dev/shm", llDir}, {"/proc", llProc}}
	for _, m := range o.mounts {
		if m.kind == mountWrite || m.kind == mountScratch {
			grants = append(grants, struct {
				path   string
				rights uint64
			}{m.path, llDir})
		}
	}
	for _, g := range grants {
		if err := grant(ruleset, g.path, g.rights&attr.Handled_access_fs); err != nil {
			return false, &os.PathError{Op: "grant", Path: g.path, Err: err}
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return false, errno
	}
	return true, nil
}

// grant adds a rule for everything at and below path. Rights that a file cannot have are left out for one.
func grant(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= llFile | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
