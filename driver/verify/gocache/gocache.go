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

// Packages is the file beside the cache of a generation that lists the packages in it, one a line.
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
	all, _ := filepath.Glob(filepath.Join(std, prefix+"*", Packages)) // without a pattern nothing is found
	for _, p := range all {
		if info, err := os.Stat(p); err == nil && filepath.IsAbs(p) {
			out = append(out, Generation{filepath.Dir(p), info.ModTime()})
		}
	}
	slices.SortFunc(out, func(a, b Generation) int { return a.Made.Compare(b.Made) })
	return out
}

// Seal gives what is in a build cache a time that has not come yet. The go command notes the use of what is older than
// an hour, for which a layer over the cache would have to copy it, and removes what was not used for days.
func Seal(cache string) error {
	later := time.Now().AddDate(20, 0, 0)
	return fs.WalkDir(os.DirFS(cache), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && Entry().MatchString(e.Name()) {
			err = os.Chtimes(filepath.Join(cache, name), later, later)
		}
		return err
	})
}

// Copy copies the entries of a build cache that another one has not, and that were used since some time, the data
// before what refers to it. An entry
// appears whole or not at all, because a go command may be at work in the workspace. Where the file system can, the
// copies share their blocks until one of them is written to.
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
