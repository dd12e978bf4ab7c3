package seccomp

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_AARCH64
	x32Bit     = 0
)

// refusedHere are refused calls that only this architecture has.
var refusedHere = []uint32{unix.SYS_NFSSERVCTL}

// The older forms of calls, which this architecture does not have.
var (
	attributeCallsHere []uint32
	nameCallsHere      []uint32
	openCallsHere      []openCall
	ownerCallsHere     []ownerCall
)
