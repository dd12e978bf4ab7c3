package object

import (
	"os"

	"golang.org/x/sys/unix"
)

// local are the file systems whose times of change can be relied on. True says that syncing one file there makes
// durable what was written to others before.
var local = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true, unix.F2FS_SUPER_MAGIC: false,
	unix.BTRFS_SUPER_MAGIC: false, unix.OVERLAYFS_SUPER_MAGIC: false,
}

// FileSystem tells of the file system of a path: whether its times of change can be relied on (known), and whether
// syncing one file makes durable what was written to others before (ordered).
func FileSystem(path string) (ordered, known bool) {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return false, false
	}
	ordered, known = local[int64(st.Type)] //nolint:unconvert // 32 bits on some systems
	return ordered, known
}

// begin lets the content of a file be written to the disk, without waiting for it.
func begin(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // flush finds out what went wrong
}

// flush makes the content of a file durable: by itself, or as soon as any file there is synced.
func flush(f *os.File, alone bool) error {
	if alone {
		return f.Sync()
	}
	return unix.SyncFileRange(int(f.Fd()), 0, 0,
		unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
}
