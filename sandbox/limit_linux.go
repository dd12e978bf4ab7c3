package sandbox

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// makeHome makes the directory that HOME names where it lies in a scratch directory.
func (o *order) makeHome() {
	for _, kv := range o.env {
		if home, ok := strings.CutPrefix(kv, "HOME="); ok && within(filepath.Clean(home), cmp.Or(o.private, "/tmp")) {
			_ = os.MkdirAll(filepath.Clean(home), 0o700)
		}
	}
}

// limit sets the resource limits that do not need a cgroup. There is none on address space, because Go and Node reserve
// far more than they use.
func (o *order) limit() error {
	set := func(res int, want uint64) error {
		var l unix.Rlimit
		if err := unix.Getrlimit(res, &l); err != nil {
			return err
		}
		l.Max = min(l.Max, want)
		l.Cur = min(l.Cur, l.Max)
		return unix.Setrlimit(res, &l)
	}
	err := errors.Join(set(unix.RLIMIT_CORE, 0), set(unix.RLIMIT_FSIZE, 10<<30))
	if o.procs > 0 {
		err = errors.Join(err, set(unix.RLIMIT_NPROC, uint64(o.procs)))
	}
	return err
}

// dropCapabilities leaves the calling thread, and what it executes, without capabilities, also when it is root. With
// bounding it gives up those that could be gained, too, for which it needs CAP_SETPCAP.
func dropCapabilities(bounding bool) error {
	if bounding {
		for c := uintptr(0); c <= 63; c++ {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
				if err == unix.EINVAL && c > 0 { // past the kernel's last one
					break
				}
				return err
			}
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&hdr, &none[0])
}

// mayBound reports whether this process may give up capabilities that it could gain.
func mayBound() bool {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&hdr, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SETPCAP) != 0
}
