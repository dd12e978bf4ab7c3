package disk

import (
	"path/filepath"

	"pawl/store/owndir"
)

// RemoveAll removes a file or a directory, also one whose own directories forbid it, as module caches do. It follows no
// link below the parent of path; owndir.RemoveAll is for what has to be below a trusted directory.
func RemoveAll(path string) error { return owndir.RemoveAll(filepath.Dir(path), filepath.Base(path)) }
