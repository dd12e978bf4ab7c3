// Package gocache handles directories of Go's build cache: generations of the compiled standard library, and copies.
package gocache

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Packages is the file next to the cache of a generation that lists the packages in it, one a line.
const Packages = "packages"

// Entry matches the name of an entry of Go's build cache.
var Entry = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}-[ad]$`) })

// Generation is a directory of the compiled standard library: the build cache, and the list of the packages in it.
type Generation struct {
	Dir  string
	Made time.Time
}

// Generations returns those below std whose names begin with a prefix, the oldest first.
func Generations(std, prefix string) (out []Generation) {
	all, _ := os.ReadDir(std) // a directory that is missing has none
	for _, e := range all {
		dir := filepath.Join(std, e.Name())
		if info, err := os.Stat(filepath.Join(dir, Packages)); err == nil && strings.HasPrefix(e.Name(), prefix) {
			out = append(out, Generation{dir, info.ModTime()})
		}
	}
	slices.SortFunc(out, func(a, b Generation) int { return a.Made.Compare(b.Made) })
	return out
}

// Seal sets the times of the entries of a build cache to a date in the future. The go command updates the time of an
// entry that is older than an hour, for which a layer over the cache would have to copy it, and removes old entries.
func Seal(cache string) error {
	later := time.Now().AddDate(20, 0, 0)
	return fs.WalkDir(os.DirFS(cache), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && Entry().MatchString(e.Name()) {
			err = os.Chtimes(filepath.Join(cache, name), later, later)
		}
		return err
	})
}

// Copy copies into go-build below a directory the entries of another build cache that it lacks and that were used since
// some time. Data comes before the entry that refers to it. An entry appears whole or not at all, because a go command
// may be at work there. If the file system can, the copies share their blocks until one of them is written to.
func Copy(ctx context.Context, caches *os.Root, from string, since time.Time) error {
	part := "seed-" + rand.Text()
	if err := caches.Mkdir(part, 0o755); err != nil {
		return err
	}
	defer caches.RemoveAll(part)
	for _, kind := range []string{"-d", "-a"} {
		err := filepath.WalkDir(from, func(p string, e fs.DirEntry, err error) error {
			name := filepath.Base(p)
			switch {
			case err != nil:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case !e.Type().IsRegular() || !Entry().MatchString(name) || !strings.HasSuffix(name, kind):
				return nil
			}
			if info, err := e.Info(); err != nil || info.ModTime().Before(since) {
				return nil //nolint:nilerr // the go command may remove what is old meanwhile
			}
			to := path.Join("go-build", name[:2], name)
			if _, err := caches.Lstat(to); err == nil {
				return nil
			}
			if err := caches.MkdirAll(path.Dir(to), 0o755); err != nil {
				return err
			}
			if err := copyInto(caches, p, path.Join(part, name)); err != nil {
				return err
			}
			return caches.Rename(path.Join(part, name), to)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func copyInto(root *os.Root, from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
