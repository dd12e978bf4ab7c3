package sandbox

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pawl/text/policy"
)

// Bounds of a hint.
const (
	maxHintLines = 2000 // lines of output, from its end
	maxHints     = 3    // paths
)

var (
	// missing matches a line in which a program reports what it could not open, and named a path in it.
	missing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)no such file|permission denied|cannot (find|open|load)|can't open|not found|does not exist|ENOENT|EACCES`)
	})
	named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?:\\.\\.)?(?:/[^/\\s:'\"`(),;<>\\[\\]]+)+") })
)

// hint says which hidden paths the output of a failed command names, and how they are shown. The output is not
// trusted: it never has pawl propose what holds secrets, or the user's own files of the workspace.
func (b *Box) hint(l *layout, s Spec, output string) string {
	lines := strings.Split(output, "\n")
	var paths []string
	for _, line := range lines[max(0, len(lines)-maxHintLines):] {
		if !missing().MatchString(line) {
			continue
		}
		for _, p := range named().FindAllString(line, -1) {
			if strings.HasPrefix(p, "..") {
				p = filepath.Join(s.Dir, p)
			}
			p = filepath.Clean(p)
			if len(paths) < maxHints && !slices.Contains(paths, p) && b.offered(l.covered, s.Workspace, p) {
				paths = append(paths, p)
			}
		}
	}
	if len(paths) == 0 {
		return ""
	}
	return "The sandbox hides " + strings.Join(paths, ", ") + ". To let commands read it: " + b.Allow(paths...)
}

// Allow is the command that lets commands read paths besides those that they may read now.
func (b *Box) Allow(paths ...string) string {
	return "pawl config set readable " + strings.Join(append(slices.Clone(b.readable), paths...), " ")
}

// manifests are the files of a project that name directories beside it.
var manifests = []string{"go.mod", "go.work", "package.json", "Cargo.toml", "pyproject.toml"}

// Hidden lists what a project may need and commands cannot read: directories of PATH, and what links and manifests at
// its top lead to.
func (b *Box) Hidden(ctx context.Context, workspace string) []string {
	m, err := b.choose(ctx)
	ws, _, ok := real(workspace)
	if err != nil || !ok {
		return nil
	}
	l, err := b.layout(Spec{Dir: ws, Workspace: ws, Writable: []string{ws}, Env: Environ(os.Environ(), nil)}, m)
	if err != nil {
		return nil
	}
	defer l.close()
	needed := filepath.SplitList(os.Getenv("PATH"))
	for _, pattern := range []string{"*", "*/*"} {
		names, _ := fs.Glob(os.DirFS(ws), pattern)
		for _, name := range names {
			if info, err := os.Lstat(filepath.Join(ws, name)); err == nil && info.Mode()&os.ModeSymlink != 0 {
				needed = append(needed, filepath.Join(ws, name))
			}
		}
	}
	for _, name := range manifests {
		raw, _ := os.ReadFile(filepath.Join(ws, name)) // one that is not there names nothing
		for _, p := range named().FindAllString(string(raw), -1) {
			if strings.HasPrefix(p, "..") {
				needed = append(needed, filepath.Join(ws, p))
			}
		}
	}
	var out []string
	for _, p := range needed {
		if r, _, ok := real(p); ok && !slices.Contains(out, r) && len(out) < maxHints && b.offered(l.covered, ws, r) {
			out = append(out, r)
		}
	}
	return out
}

// offered reports whether a path exists, is hidden, and may be proposed for the setting readable.
func (b *Box) offered(covered func(string) bool, workspace, p string) bool {
	r, _, ok := real(p)
	rel := r
	for _, h := range b.homes {
		if below := strings.TrimPrefix(r, h); len(below) < len(rel) {
			rel = below
		}
	}
	return ok && covered(r) && rel != "" && !strings.Contains(rel, "/.") && !policy.Secret(r) &&
		strings.Count(r, "/") > 1 && !within(r, "/tmp") && !within(r, "/proc") && (workspace == "" || !within(r, workspace))
}
