package seccomp

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_X86_64
	// x32Bit marks the numbers of the x32 ABI, which share the architecture's name.
	x32Bit = 0x40000000
)

// refusedHere are refused calls that only this architecture has.
var refusedHere = []uint32{
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS,
	unix.SYS__SYSCTL,
	unix.SYS_CREATE_MODULE, unix.SYS_QUERY_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_NFSSERVCTL,
}

// The older forms of calls, which newer architectures do not have.
var (
	attributeCallsHere = []uint32{unix.SYS_CHMOD, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
	nameCallsHere      = []uint32{
		unix.SYS_CREAT, unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_MKNOD, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_LINK,
		unix.SYS_SYMLINK,
	}
	openCallsHere  = []openCall{{unix.SYS_OPEN, offArg1}}
	ownerCallsHere = []ownerCall{{unix.SYS_CHOWN, offArg1, offArg2}, {unix.SYS_LCHOWN, offArg1, offArg2}}
)
