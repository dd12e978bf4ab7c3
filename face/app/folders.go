package app

import (
	"cmp"
	"os"
	"path/filepath"
)

// stateDir is where the user's own state belongs (XDG Base Directory Specification).
func (h Host) stateDir() string {
	return cmp.Or(h.State, own("XDG_STATE_HOME", ".local", "state"))
}

// cacheDir is where what can be made anew is kept for all workspaces of the user (XDG Base Directory Specification).
func (h Host) cacheDir() string {
	if h.Cache == "" && h.State != "" {
		return filepath.Join(h.State, "cache")
	}
	return cmp.Or(h.Cache, own("XDG_CACHE_HOME", ".cache"))
}

// std is where the compiled standard library of Go is kept.
func (h Host) std() string { return filepath.Join(h.cacheDir(), "go-build-std") }

// own is pawl's own folder in the one that a variable names, or else in a usual one below the user's home.
func own(variable string, usual ...string) string {
	dir := os.Getenv(variable)
	if !filepath.IsAbs(dir) {
		home, _ := os.UserHomeDir()
		dir = filepath.Join(append([]string{home}, usual...)...)
	}
	return filepath.Join(dir, "pawl")
}
