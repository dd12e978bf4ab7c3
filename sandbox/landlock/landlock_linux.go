package landlock

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights to what is at and below a path, grouped as they are granted.
const (
	Read  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	Write = Read | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	Device = file | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	file   = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// TCP are the rights to bind and to connect sockets of TCP, which ABI 4 knows.
const TCP = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP

// ABIs by what they add.
const (
	ABINetwork = 4 // TCP
	ABIScopes  = 6 // abstract sockets and signals stay within the domain
	ABISockets = 9 // sockets with a name in the file system
)

// ABI is the kernel's version, 0 where Landlock is missing or switched off. Version 1 counts as missing: under it
// nothing can be moved between directories, which ordinary builds do.
func ABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || v < 2 {
		return 0
	}
	return int(v)
}

// Missing is why ABI says 0: ENOSYS where the kernel has no Landlock, EOPNOTSUPP where it is switched off, EPERM where
// something refuses the call, and nil where it is there.
func Missing() error {
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return errno
	}
	return nil
}

// Ruleset is a domain that is being described. It belongs to one goroutine.
type Ruleset struct {
	fd      int
	handled uint64
}

// New describes a domain that denies all that a version of the kernel can judge about files, and, when network is
// given, TCP. Making device nodes can be granted nowhere, and nor can connecting to a socket with a name that was made
// outside. Signals and abstract sockets stay within the domain where the version knows it.
func New(abi int, network bool) (*Ruleset, error) {
	var attr unix.LandlockRulesetAttr
	attr.Handled_access_fs = Write | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	if abi < 3 {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi < 5 {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= ABISockets {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	size := uintptr(8)
	if abi >= ABINetwork {
		size = 16
		if network {
			attr.Handled_access_net = TCP
		}
	}
	if abi >= ABIScopes {
		size = 24
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, errno
	}
	return &Ruleset{int(fd), attr.Handled_access_fs}, nil
}

// Grant adds a rule for everything at and below what a descriptor shows, which may be one that was opened with O_PATH.
// Rights that the version does not know, and those that a file cannot have, are left out.
func (r *Ruleset) Grant(fd int, rights uint64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= file | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if rights &= r.handled; rights == 0 {
		return nil
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// GrantPath is Grant for a path, whose links are followed.
func (r *Ruleset) GrantPath(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return r.Grant(fd, rights)
}

// Restrict takes the calling thread into the domain for good. It needs no_new_privs.
func (r *Ruleset) Restrict() error {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// Close gives the description up; a domain that a thread was taken into stays.
func (r *Ruleset) Close() { _ = unix.Close(r.fd) }
