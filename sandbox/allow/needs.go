package allow

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// maxManifest is how many bytes of a file of a project are read.
const maxManifest = 1 << 20

// maxLines is how many lines of an output are read, from its end.
const maxLines = 2000

var (
	// missing matches a line in which a program reports what it could not open, and named a path in it.
	missing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)no such file|permission denied|cannot (find|open|load)|` +
			`can't open|not found|does not exist|ENOENT|EACCES`)
	})
	named = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?:\\.\\.)?(?:/[^/\\s:'\"`(),;<>\\[\\]]+)+")
	})
)

// Missed lists the paths of which an output says that they could not be opened, by a command that works in a directory.
func Missed(output, dir string) []string {
	var out []string
	lines := strings.Split(output, "\n")
	for _, line := range lines[max(0, len(lines)-maxLines):] {
		if !missing().MatchString(line) {
			continue
		}
		for _, p := range named().FindAllString(line, -1) {
			if strings.HasPrefix(p, "..") {
				p = filepath.Join(dir, p)
			}
			out = append(out, filepath.Clean(p))
		}
	}
	return out
}

// manifests are the files of a project that name directories beside it, and installed those of its packages that name
// where a package is that was installed in place.
var (
	manifests = []string{"go.mod", "go.work", "package.json", "Cargo.toml", "pyproject.toml", "requirements*.txt"}
	installed = []string{".venv/lib/*/site-packages/*.pth", "venv/lib/*/site-packages/*.pth"}
)

// Needs lists what a project may need outside of it: directories of PATH, and what is Beside it.
func Needs(project string) []string {
	return append(filepath.SplitList(os.Getenv("PATH")), Beside(project)...)
}

// Beside lists what links and manifests at the top of a project lead to, and packages that are installed in place.
func Beside(project string) []string {
	var out []string
	tree := os.DirFS(project)
	for _, pattern := range []string{"*", "*/*"} {
		names, _ := fs.Glob(tree, pattern)
		for _, name := range names {
			if info, err := os.Lstat(filepath.Join(project, name)); err == nil && info.Mode()&os.ModeSymlink != 0 {
				out = append(out, filepath.Join(project, name))
			}
		}
	}
	for _, pattern := range slices.Concat(manifests, installed) {
		names, _ := fs.Glob(tree, pattern)
		for _, name := range names {
			for _, p := range named().FindAllString(manifest(filepath.Join(project, name)), -1) {
				switch {
				case strings.HasPrefix(p, ".."):
					out = append(out, filepath.Join(project, p))
				case strings.HasSuffix(name, ".pth"):
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// manifest is the beginning of a regular file. Any other one, and one that cannot be read, names nothing.
func manifest(name string) string {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // not to wait for the other end of a pipe
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	raw, _ := io.ReadAll(io.LimitReader(f, maxManifest))
	return string(raw)
}

// maxOffered is how many paths are proposed at a time.
const maxOffered = 3

// Offered are those of some paths that exist, are hidden, and may be proposed for the setting readable: nothing in a
// hidden directory of a home or below /etc, and none of the user's own files of the workspace.
func Offered(paths, homes []string, workspace string, hidden func(string) bool) []string {
	var out []string
	for _, p := range paths {
		r, err := filepath.EvalSymlinks(p)
		rel := r
		for _, h := range homes {
			if below := strings.TrimPrefix(r, h); len(below) < len(rel) {
				rel = below
			}
		}
		offered := slices.ContainsFunc(out, func(o string) bool { return within(r, o) })
		if err == nil && len(out) < maxOffered && filepath.IsAbs(r) && hidden(r) && rel != "" &&
			!strings.Contains(rel, "/.") && strings.Count(r, "/") > 1 && !within(rel, "/tmp") && !unoffered(r) &&
			!offered && (workspace == "" || !within(r, workspace)) {
			out = append(out, r)
		}
	}
	return out
}

// unoffered reports whether a path lies where nothing is proposed, whatever it is.
func unoffered(p string) bool { return within(p, "/proc") || within(p, "/etc") }

// Command is the command that lets commands read paths besides those that they may read now.
func Command(paths, readable []string) string {
	return "pawl config set readable " + strings.Join(slices.Concat(readable, paths), " ")
}

// Hint tells somebody whose command missed paths what shows them, "" for none.
func Hint(paths, readable []string) string {
	if len(paths) == 0 {
		return ""
	}
	return "The sandbox hides " + strings.Join(paths, ", ") + ". To let commands read it: " + Command(paths, readable)
}
