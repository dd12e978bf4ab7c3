package layout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pawl/sandbox/git/program"
	"pawl/store/disk"
)

// attributes switches every conversion and every driver off, for all paths, with the highest precedence that git knows.
// The diff driver is unset rather than false, so that text is still shown as text.
const attributes = "* -text -crlf !eol -ident !filter !working-tree-encoding !diff !merge !export-subst\n"

// shadowHead makes a folder a git directory in git's eyes; nothing is ever at the branch that it names.
const shadowHead = "ref: refs/heads/pawl\n"

// Prepare makes pawl's own git directory, or brings it up to date with what the user ignores.
func (r *Layout) Prepare() error {
	if err := os.MkdirAll(r.Base, 0o700); err != nil {
		return program.IOError("git.prepare", err)
	}
	for _, dir := range []string{"objects", "objects/pack", "refs", "info", "index", "meta", "tmp"} {
		if err := disk.Mkdir(r.Base, filepath.Join(r.Shadow, dir), 0o700); err != nil {
			return program.IOError("git.prepare", err)
		}
	}
	// Objects come from the store of the repository, and from nowhere else.
	others := filepath.Join(r.ObjectDir(), "info", "alternates")
	if err := os.Remove(others); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return program.IOError("git.prepare", err)
	}
	r.Rules = r.Config.excludes(r.CommonDir)
	files := map[string]string{
		"config":          r.Config.Own(),
		"info/attributes": attributes,
		"info/exclude":    r.Rules,
		"HEAD":            shadowHead,
	}
	for name, content := range files {
		if err := writeIfChanged(filepath.Join(r.Shadow, name), content); err != nil {
			return program.IOError("git.prepare", err)
		}
	}
	return nil
}

// Prepared reports whether pawl's own git directory is as Prepare leaves it, as far as reading objects goes, and keeps
// the format of its objects. A directory that came with the repository and says anything else is not.
func (r *Layout) Prepared() bool {
	text := func(name string) string {
		raw, err := ReadCapped(filepath.Join(r.Shadow, name), 1<<10)
		if err != nil {
			return "" // what cannot be read to its end says nothing
		}
		return string(raw)
	}
	if text("info/attributes") != attributes || text("HEAD") != shadowHead {
		return false
	}
	own := text("config")
	for _, format := range []string{"sha1", "sha256"} {
		if c := (Config{Format: format}); own == c.Own() {
			r.Config = c
			return true
		}
	}
	return false
}

// Own is the configuration of a git directory of pawl's own, on objects of the user's kind.
func (c Config) Own() string {
	if c.Format == "sha256" {
		return "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n"
	}
	return "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
}

// excludes joins the ignore patterns that stand outside the tree: the user's own, those in the repository's common
// directory, and .pawl.
func (c Config) excludes(common string) string {
	var b strings.Builder
	for _, path := range []string{c.excludesFile, filepath.Join(common, "info", "exclude")} {
		if raw, err := ReadCapped(path, 1<<20); err == nil && filepath.IsAbs(path) {
			b.Write(raw)
			b.WriteByte('\n')
		}
	}
	b.WriteString("/.pawl\n")
	return b.String()
}

func writeIfChanged(path, content string) error {
	old, err := os.ReadFile(path)
	if err == nil && string(old) == content {
		return nil
	}
	return disk.WriteFile(path, []byte(content))
}

// ReadCapped reads a regular file of at most limit bytes.
func ReadCapped(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s is not a regular file of at most %d bytes", path, limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	_, err = io.Copy(&b, io.LimitReader(f, limit))
	return b.Bytes(), err
}

// Record runs git on the tree and its index to write objects. It knows those of pawl's own store alone, so that what is
// recorded is there, whatever the user's store has and loses.
func Record(ctx context.Context, r *Layout, stdin string, args ...string) (string, error) {
	call := r.On(r.IndexFile, stdin, args...)
	call.Env = append(call.Env, "GIT_ALTERNATE_OBJECT_DIRECTORIES=")
	out, _, err := call.Run(ctx)
	return string(out), err
}
