package sandbox

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_X86_64
	// x32Bit marks the numbers of the x32 ABI, which share the architecture's name.
	x32Bit = 0x40000000
)

// refusedHere are refused calls that only this architecture has.
var refusedHere = []uint32{
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL,
	unix.SYS_CREATE_MODULE, unix.SYS_QUERY_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_NFSSERVCTL,
}
