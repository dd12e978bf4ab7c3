package reads

import (
	"io/fs"
	"syscall"
	"time"
)

// stampOf is when a file was read and changed.
func stampOf(info fs.FileInfo) (stamp, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, false
	}
	//nolint:unconvert // the fields are of other types elsewhere
	access, change := time.Unix(int64(s.Atim.Sec), int64(s.Atim.Nsec)), time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec))
	return stamp{access, change}, true
}
