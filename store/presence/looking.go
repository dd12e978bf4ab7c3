package presence

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"

	"pawl/store/lockfile"
)

// lookingDir, below .pawl, is where screens that a person has before them say so.
const lookingDir = "looking"

// Look says that a person has something of the workspace of dir, a .pawl folder, before them, until done is called. It
// ends with the process as well. Where that cannot be said, nobody looks.
func Look(dir string) (done func()) {
	folder := filepath.Join(dir, lookingDir)
	if os.MkdirAll(folder, 0o700) != nil {
		return func() {}
	}
	lock, err := lockfile.Try(filepath.Join(folder, strconv.Itoa(os.Getpid())+"~"+rand.Text()[:6]+".lock"))
	if err != nil || lock == nil {
		return func() {}
	}
	return func() {
		_ = lock.Remove()
		_ = os.Remove(folder) // the last one; what does not go is empty or in use
	}
}

// Looked reports whether a person looks, and removes what processes left that have ended.
func Looked(dir string) (looked bool) {
	locks, _ := filepath.Glob(filepath.Join(dir, lookingDir, "*.lock")) // a bad pattern finds nothing
	for _, l := range locks {
		if lockfile.Held(l) {
			looked = true
		} else {
			_ = lockfile.Clear(l)
		}
	}
	return looked
}
