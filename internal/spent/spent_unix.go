//go:build unix

// Package spent measures what tests bound that have to end soon: the time of processors, which a machine with other
// things to do does not lengthen as it does that of the clock.
package spent

import (
	"syscall"
	"time"
)

// Processor is the time that this process has spent on processors. Tests that compare it must not run beside others.
func Processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
