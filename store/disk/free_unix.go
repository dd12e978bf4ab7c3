//go:build linux || darwin

package disk

import "golang.org/x/sys/unix"

// Free returns the bytes that are free for this user on the file system of a folder; false when that is not known.
func Free(dir string) (uint64, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}
