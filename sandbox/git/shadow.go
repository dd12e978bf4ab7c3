package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"pawl"
	"pawl/store/disk"
)

// attributes switches every conversion and every driver off, for all paths, with the highest precedence that git knows.
// The diff driver is unset rather than false, so that text is still shown as text.
const attributes = "* -text -crlf !eol -ident !filter !working-tree-encoding !diff !merge !export-subst\n"

// shadowHead makes a folder a git directory in git's eyes; nothing is ever at the branch that it names.
const shadowHead = "ref: refs/heads/pawl\n"

// Mkdir makes a folder below another one, with those between them that are missing. The other one has to be there: where a workspace
// was moved or removed meanwhile, nothing of it may appear again.
func Mkdir(base, path string, perm os.FileMode) error {
	rel, err := filepath.Rel(base, path)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.MkdirAll(rel, perm)
}

// prepare makes pawl's own git directory, or brings it up to date with what the user ignores.
func (r *repoPaths) prepare() error {
	for _, dir := range []string{"objects", "refs", "info", "index", "meta", "tmp"} {
		if err := Mkdir(r.workspace, filepath.Join(r.shadow, dir), 0o700); err != nil {
			return ioError("git.prepare", err)
		}
	}
	// So that the user's git neither shows nor cleans away what is pawl's.
	if own := filepath.Join(r.workspace, ".pawl", ".gitignore"); !exists(own) {
		if err := disk.WriteFile(own, []byte("*\n")); err != nil {
			return ioError("git.prepare", err)
		}
	}
	r.rules = r.excludes()
	files := map[string]string{
		"config":          r.config.own(),
		"info/attributes": attributes,
		"info/exclude":    r.rules,
		"HEAD":            shadowHead,
	}
	for name, content := range files {
		if err := writeIfChanged(filepath.Join(r.shadow, name), content); err != nil {
			return ioError("git.prepare", err)
		}
	}
	return nil
}

// prepared reports whether pawl's own git directory is as prepare leaves it, as far as reading objects goes, and keeps the format
// of its objects. A directory that came with the repository and says anything else is not.
func (r *repoPaths) prepared() bool {
	says := func(name, want string) bool {
		raw, err := readCapped(filepath.Join(r.shadow, name), 1<<10)
		return err == nil && string(raw) == want
	}
	if !says("info/attributes", attributes) || !says("HEAD", shadowHead) {
		return false
	}
	for _, format := range []string{"sha1", "sha256"} {
		if c := (userConfig{format: format}); says("config", c.own()) {
			r.config = c
			return true
		}
	}
	return false
}

// own is the configuration of a git directory of pawl's own, on objects of the user's kind.
func (c userConfig) own() string {
	if c.format == "sha256" {
		return "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n"
	}
	return "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
}

// excludes joins the ignore patterns that stand outside the tree: the user's own, the repository's own, and .pawl.
func (r *repoPaths) excludes() string {
	var b strings.Builder
	for _, path := range []string{r.config.excludesFile, filepath.Join(r.commonDir, "info", "exclude")} {
		if raw, err := readCapped(path, 1<<20); err == nil && filepath.IsAbs(path) {
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

// readCapped reads a regular file of at most limit bytes.
func readCapped(path string, limit int64) ([]byte, error) {
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

// ioError classes a failure of the file system.
func ioError(op string, err error) error {
	code, key := pawl.CodeIO, "git.io"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		code, key = pawl.CodeDiskFull, "git.disk_full"
	case errors.Is(err, syscall.EROFS):
		code, key = pawl.CodeReadOnly, "git.read_only"
	}
	return pawl.Fail(code, key).In(op).Because(err)
}
