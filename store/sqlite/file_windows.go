package sqlite

import (
	"errors"

	"golang.org/x/sys/windows"
)

// syncDir does nothing: Windows has no handle on a folder that could be flushed, and orders its metadata itself.
func syncDir(string) error { return nil }

func isReadOnlyFS(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

func isDiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
