package allow

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Astray returns the first path that leads through a link to what is hidden, "" for none: out of one of the directories
// of others, who may have made the link, or into a home that it is not in itself.
func Astray(asked, others, homes []string, hidden func(string) bool) string {
	entries, _ := os.ReadDir("/home")
	for _, e := range entries {
		homes = append(slices.Clip(homes), "/home/"+e.Name())
	}
	others = slices.Clone(others)
	for i, o := range others {
		if r, err := filepath.EvalSymlinks(o); err == nil {
			others[i] = r
		}
	}
	for _, p := range asked {
		r, err := filepath.EvalSymlinks(p)
		if err != nil || r == p || !hidden(r) {
			continue
		}
		// The deepest known directory that the path is in, before a link that others may have made.
		around, at, d := "/", "/", "/"
		for name := range strings.SplitSeq(p[1:], "/") {
			d = filepath.Join(d, name)
			next, err := filepath.EvalSymlinks(d)
			if err != nil || next != filepath.Join(at, name) && slices.Contains(others, around) {
				break
			}
			if at = next; slices.Contains(others, at) || slices.Contains(homes, at) {
				around = at
			}
		}
		if !within(r, around) && slices.Contains(others, around) || slices.ContainsFunc(append(homes, "/root"),
			func(h string) bool { return within(r, h) && !within(around, h) }) {
			return p
		}
	}
	return ""
}

// within reports whether p is dir or in it. Both are clean and absolute.
func within(p, dir string) bool { return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/") }

// Own lists pawl's own directories for state and settings, wherever the user keeps them.
func Own(homes []string) []string {
	var out []string
	for name, dir := range map[string]string{"XDG_STATE_HOME": ".local/state", "XDG_CONFIG_HOME": ".config"} {
		if base := os.Getenv(name); filepath.IsAbs(base) {
			out = append(out, filepath.Join(base, "pawl"))
		}
		for _, h := range homes {
			out = append(out, filepath.Join(h, dir, "pawl"))
		}
	}
	return out
}
