// Package withheld knows the secrets of a workspace: what stands in its files that nobody is to read, such as .env.
package withheld

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl/text/policy"
	"pawl/text/secret"
)

// Bounds of what is looked at. Files with secrets stand high in a tree; folders of packages hold those of others.
const (
	maxDepth   = 5
	maxEntries = 20_000
	maxFiles   = 200
	maxSize    = 256 << 10
	fresh      = 5 * time.Second // for how long what was found counts
)

// passed are folders that are not entered.
var passed = []string{".git", ".pawl", "node_modules", "vendor", ".venv", "venv", "target", "dist", "build"}

// Values finds the secrets of workspaces. Its zero value is ready, and may be used by many at once.
type Values struct {
	mu    sync.Mutex
	found map[string]looked
}

type looked struct {
	at       time.Time
	redactor *secret.Redactor
}

// Of returns what knows the secrets of a workspace. What cannot be read is no secret that could get anywhere.
func (v *Values) Of(workspace string) *secret.Redactor {
	v.mu.Lock()
	defer v.mu.Unlock()
	if l, ok := v.found[workspace]; ok && time.Since(l.at) < fresh {
		return l.redactor
	}
	if v.found == nil {
		v.found = map[string]looked{}
	}
	l := looked{time.Now(), secret.New(values(workspace)...)}
	v.found[workspace] = l
	return l.redactor
}

func values(workspace string) (out []string) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil
	}
	defer root.Close()
	entries, files := 0, 0
	_ = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if entries++; entries > maxEntries || files >= maxFiles {
			return fs.SkipAll
		}
		switch {
		case err != nil || p == ".":
			return nil
		case d.IsDir() && (slices.Contains(passed, d.Name()) || strings.Count(p, "/") >= maxDepth):
			return fs.SkipDir
		case !d.Type().IsRegular() || !policy.IsSecret(p):
			return nil
		}
		f, err := root.Open(filepath.FromSlash(p))
		if err != nil {
			return nil
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		text, _ := io.ReadAll(io.LimitReader(f, maxSize))
		files++
		out = append(out, secret.Values(string(text))...)
		return nil
	})
	return out
}
