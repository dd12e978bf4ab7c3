package sandbox

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_AARCH64
	x32Bit     = 0
)

// refusedHere are refused calls that only this architecture has.
var refusedHere = []uint32{unix.SYS_NFSSERVCTL}
