package main

import (
	"os"
	"syscall"
	"time"
)

// flush brings the data of a file to the disk, as a database does it.
func flush(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }

// cpuTime is the processor time that this process has used so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
