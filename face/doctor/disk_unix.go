//go:build unix

package doctor

import "syscall"

// freeSpace returns the bytes that an ordinary user may still write to the file system of dir.
func freeSpace(dir string) (uint64, bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	return fs.Bavail * uint64(fs.Bsize), true
}
