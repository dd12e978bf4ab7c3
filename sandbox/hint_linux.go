package sandbox

import (
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
			if p = filepath.Clean(p); len(paths) < maxHints && !slices.Contains(paths, p) && b.offered(l.covered, s.Workspace, p) {
				paths = append(paths, p)
			}
		}
	}
	if len(paths) == 0 {
		return ""
	}
	return "The sandbox hides " + strings.Join(paths, ", ") + ". To let commands read it: pawl config set readable " +
		strings.Join(append(slices.Clone(b.readable), paths...), " ")
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
