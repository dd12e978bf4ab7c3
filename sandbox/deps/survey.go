package deps

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// candidate is a folder of the user's tree that may hold dependencies.
type candidate struct {
	path        string
	ecosystem   Ecosystem
	environment bool
	link        bool
}

// sighting is one look at a workspace: the folders in which projects may live, and the folders of dependencies in them.
type sighting struct {
	dirs    []string // with slashes, "" for the workspace itself
	folders []candidate
}

const (
	surveyDepth = 2      // folders below the root that are always looked into
	memberDepth = 6      // folders below the root that patterns of a workspace of packages may reach
	mostEntries = 20_000 // directory entries after which no more folders are looked into
)

// folderNames are the folders of dependencies by name, and the file beside them without which the name means nothing.
var folderNames = []struct {
	name      string
	ecosystem Ecosystem
	beside    string
}{
	{"node_modules", Node, ""}, {"bower_components", Node, "bower.json"}, {"vendor", Go, "go.mod"}, {"vendor", PHP,
		"composer.json"},
	{"vendor/bundle", Ruby, "Gemfile"}, {"deps", Elixir, "mix.exs"}, {".dart_tool", Dart, "pubspec.yaml"}, {"Pods",
		Swift, "Podfile"},
}

// notEntered are folders in which no project of the user's is looked for.
var notEntered = map[string]bool{
	".git": true, ".hg": true, ".svn": true, ".pawl": true, "node_modules": true, "bower_components": true,
	"vendor": true, "target": true,
	"__pycache__": true, "testdata": true, "dist": true, "build": true, "third_party": true, "site-packages": true,
}

// survey looks at a workspace. It never enters a folder of dependencies and never follows a link.
func survey(workspace string, more []string) sighting {
	s := sighting{}
	v := surveyor{root: workspace, left: mostEntries, seen: map[string]bool{}}
	v.walk("", surveyDepth)
	for _, pattern := range memberPatterns(workspace) {
		v.expand("", strings.Split(pattern, "/"))
	}
	s.dirs = v.dirs
	for _, d := range v.dirs {
		s.folders = append(s.folders, v.within(d)...)
	}
	for _, name := range more {
		p := path.Clean(filepath.ToSlash(name))
		if p == "." || !filepath.IsLocal(filepath.FromSlash(p)) || strings.HasPrefix(p+"/", ".pawl/") ||
			strings.HasPrefix(p+"/", ".git/") {
			continue
		}
		if c, ok := v.look(p, Named); ok &&
			!slices.ContainsFunc(s.folders, func(o candidate) bool { return o.path == p }) {
			s.folders = append(s.folders, c)
		}
	}
	return s
}

// surveyor collects the folders of a workspace.
type surveyor struct {
	root string
	left int // entries that may still be looked at
	seen map[string]bool
	dirs []string
	envs map[string][]string // virtual environments by the folder that they are in
}

func (v *surveyor) abs(rel string) string { return filepath.Join(v.root, filepath.FromSlash(rel)) }

// entries lists the folders in a folder that may be entered, and notes virtual environments among them.
func (v *surveyor) entries(rel string) []string {
	list, err := os.ReadDir(v.abs(rel))
	v.left -= len(list)
	if err != nil || v.left < 0 {
		return nil
	}
	var out []string
	for _, e := range list {
		p := path.Join(rel, e.Name())
		switch {
		case !e.IsDir() && e.Type()&os.ModeSymlink == 0, notEntered[e.Name()]:
		case v.environment(p, e):
			if v.envs == nil {
				v.envs = map[string][]string{}
			}
			if !slices.Contains(v.envs[rel], p) {
				v.envs[rel] = append(v.envs[rel], p)
			}
		case e.IsDir() && !strings.HasPrefix(e.Name(), "."):
			out = append(out, p)
		}
	}
	return out
}

// environment reports whether an entry is a virtual environment of Python, or a link by the usual name of one.
func (v *surveyor) environment(p string, e os.DirEntry) bool {
	if !e.IsDir() {
		return e.Name() == ".venv" || e.Name() == "venv"
	}
	info, err := os.Lstat(filepath.Join(v.abs(p), "pyvenv.cfg"))
	return err == nil && info.Mode().IsRegular()
}

// walk notes a folder and those below it.
func (v *surveyor) walk(rel string, depth int) {
	if v.seen[rel] {
		return
	}
	v.seen[rel] = true
	v.dirs = append(v.dirs, rel)
	subs := v.entries(rel)
	if depth == 0 {
		return
	}
	for _, p := range subs {
		v.walk(p, depth-1)
	}
}

// expand notes the folders that a pattern of a workspace of packages stands for.
func (v *surveyor) expand(rel string, parts []string) {
	if len(parts) == 0 {
		v.walk(rel, 0)
		return
	}
	if strings.Count(rel, "/") >= memberDepth || v.left < 0 {
		return
	}
	if parts[0] == "**" {
		v.expand(rel, parts[1:])
	}
	for _, p := range v.entries(rel) {
		if parts[0] == "**" {
			v.expand(p, parts)
		} else if ok, _ := path.Match(parts[0], path.Base(p)); ok {
			v.expand(p, parts[1:])
		}
	}
}

// memberPatterns are the patterns by which the root names the packages of its workspace (npm, yarn, bun, pnpm).
func memberPatterns(workspace string) []string {
	var out []string
	var m struct {
		Workspaces json.RawMessage `json:"workspaces"`
	}
	if json.Unmarshal(text(workspace, "package.json"), &m) == nil && m.Workspaces != nil {
		var object struct {
			Packages []string `json:"packages"`
		}
		if json.Unmarshal(m.Workspaces, &out) != nil && json.Unmarshal(m.Workspaces, &object) == nil {
			out = object.Packages
		}
	}
	var pnpm struct {
		Packages []string `yaml:"packages"`
	}
	if raw := text(workspace, "pnpm-workspace.yaml"); raw != nil && yaml.Unmarshal(raw, &pnpm) == nil {
		out = append(out, pnpm.Packages...)
	}
	for i, p := range out {
		out[i] = strings.Trim(strings.TrimPrefix(path.Clean(p), "./"), "/")
	}
	return slices.DeleteFunc(out, func(p string) bool {
		return strings.HasPrefix(p, "!") || p == "" || p == "." || strings.HasPrefix(p, "..")
	})
}

// within lists the folders of dependencies that stand directly in a folder.
func (v *surveyor) within(dir string) []candidate {
	var out []candidate
	for _, n := range folderNames {
		if n.beside != "" {
			if info, err := os.Lstat(v.abs(path.Join(dir, n.beside))); err != nil || !info.Mode().IsRegular() {
				continue
			}
		}
		if c, ok := v.look(path.Join(dir, n.name), n.ecosystem); ok &&
			!slices.ContainsFunc(out, func(o candidate) bool { return o.path == c.path }) {
			out = append(out, c)
		}
	}
	for _, p := range v.envs[dir] {
		if c, ok := v.look(p, Python); ok {
			c.environment = true
			out = append(out, c)
		}
	}
	return out
}

// look describes what is at a path, if it is a folder or a link.
func (v *surveyor) look(p string, e Ecosystem) (candidate, bool) {
	c := candidate{path: p, ecosystem: e}
	at := ""
	for part := range strings.SplitSeq(p, "/") {
		at = path.Join(at, part)
		info, err := os.Lstat(v.abs(at))
		switch {
		case err != nil:
			return c, false
		case info.Mode()&os.ModeSymlink != 0:
			c.link = true
			return c, true
		case !info.IsDir():
			return c, false
		}
	}
	return c, true
}
