package deps

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"pawl/kernel/effect"
	"pawl/store/owndir"
)

// Store is the directory of prepared dependencies in the workspace's state.
const Store = "cache/deps"

// readyFile is written last into a prepared set, so that one that a crash left half done counts for nothing.
const readyFile = "ready.json"

// Ready is what a prepared set says of itself.
type Ready struct {
	Ecosystem Ecosystem `json:"ecosystem"`
	Root      string    `json:"root"`
	Digest    string    `json:"digest"`
	Platform  string    `json:"platform"`
	Tool      string    `json:"tool"`
	// Folders are the folders of dependencies, relative to the tree; they stand at the same paths in the set's folder
	// tree.
	Folders []string `json:"folders"`
	// Scripts are the packages that wanted to run a program when they were installed, and Ran says that they were let.
	Scripts []string `json:"scripts,omitempty"`
	Ran     bool     `json:"ran,omitempty"`
}

// Platform is what prepared dependencies were made for.
func Platform() string {
	libc := "gnu"
	if musl() {
		libc = "musl"
	}
	return runtime.GOOS + "-" + runtime.GOARCH + "-" + libc
}

// Key names the prepared set for a folder of dependencies: by what decides it, where it belongs, and the platform.
func (f Folder) Key() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(f.Ecosystem), f.Root, f.Digest, Platform()}, "\x00")))
	return string(f.Ecosystem) + "-" + hex.EncodeToString(sum[:10])
}

// Set is the folder of the prepared set for a folder of dependencies. Its tree is below "tree".
func (f Folder) Set(place effect.Place) string { return place.Own(Store, f.Key()) }

// ReadReady reads what a prepared set says of itself; false where there is none, or only a part of one.
func ReadReady(set string) (Ready, bool) {
	var r Ready
	raw := text(set, readyFile)
	return r, raw != nil && json.Unmarshal(raw, &r) == nil
}

// prepared puts prepared folders in the place of those that cannot be used.
func prepared(place effect.Place, folders []Folder) []Folder {
	out := folders
	for _, f := range folders {
		if f.Shows() || f.State == Link || f.Digest == "" {
			continue
		}
		set := f.Set(place)
		r, ok := ReadReady(set)
		if !ok || r.Digest != f.Digest || r.Root != f.Root {
			continue
		}
		for _, p := range r.Folders {
			from := filepath.Join(set, "tree", filepath.FromSlash(p))
			if !filepath.IsLocal(filepath.FromSlash(p)) || !own(place.Own(), from) {
				continue
			}
			n := f
			n.Path, n.From, n.State, n.Detail = p, from, Prepared, ""
			n.Environment = f.Ecosystem == Python
			if i := slices.IndexFunc(out, func(o Folder) bool { return o.Path == p }); i < 0 {
				out = append(out, n)
			} else if !out[i].Shows() {
				out[i] = n
			}
		}
	}
	return out
}

// own reports whether a path below the state of a workspace is a directory to which no link leads.
func own(state, path string) bool {
	rel, err := filepath.Rel(state, path)
	if err != nil {
		return false
	}
	d, err := owndir.Open(state, rel)
	return err == nil && d.Close() == nil
}

// lacking lists the folders that a project needs by its manifests, and that the user's tree has nowhere.
func (f *Finder) lacking(place effect.Place, s sighting, have map[string]bool) []Folder {
	var out []Folder
	for _, dir := range s.dirs {
		if needsNode(place.Tree, dir) && !anyAbove(have, dir, "node_modules") {
			if d := decideNode(place.Tree, dir); d.root == dir {
				out = append(out, lack(d, path.Join(dir, "node_modules"), Node))
			}
		}
		if f.Activated || anyEnvironment(s, dir) {
			continue
		}
		if d := decidePython(place.Tree, dir); d.root == dir && needsPython(d) {
			n := lack(d, path.Join(dir, ".venv"), Python)
			n.Environment = true
			out = append(out, n)
		}
	}
	return out
}

func lack(d decision, p string, e Ecosystem) Folder {
	return Folder{Path: p, Ecosystem: e, State: Missing, Root: d.root, Locks: d.names(), Digest: d.digest()}
}

// anyAbove reports whether a folder by a name stands in a folder of the tree or above it.
func anyAbove(have map[string]bool, dir, name string) bool {
	for at := dir; ; at = up(at) {
		if have[path.Join(at, name)] {
			return true
		}
		if at == "" {
			return false
		}
	}
}

// anyEnvironment reports whether a virtual environment stands in a folder of the tree or above it.
func anyEnvironment(s sighting, dir string) bool {
	return slices.ContainsFunc(s.folders, func(c candidate) bool {
		in := up(c.path)
		return c.environment && (in == "" || in == dir || strings.HasPrefix(dir, in+"/"))
	})
}

// needsNode reports whether a package.json names dependencies, or packages of a workspace.
func needsNode(tree, dir string) bool {
	var m struct {
		Dependencies    map[string]string `json:"dependencies"`
		DevDependencies map[string]string `json:"devDependencies"`
		Workspaces      json.RawMessage   `json:"workspaces"`
	}
	raw := text(tree, path.Join(dir, "package.json"))
	if raw == nil || json.Unmarshal(raw, &m) != nil {
		return false
	}
	return len(m.Dependencies)+len(m.DevDependencies) > 0 || m.Workspaces != nil ||
		text(tree, path.Join(dir, "pnpm-workspace.yaml")) != nil
}

// requirement matches a line of a requirements file that names something.
var requirement = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*[A-Za-z0-9.]`) })

// projectDependencies matches a list of dependencies that is not empty.
var projectDependencies = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*dependencies[ \t]*=[ \t]*\[\s*["']`) })

// needsPython reports whether what decides an environment names anything to install.
func needsPython(d decision) bool {
	return slices.ContainsFunc(d.files, func(f decidingFile) bool {
		base := path.Base(f.name)
		switch {
		case slices.Contains(pythonLocks, base):
			return bytes.Contains(f.text, []byte("name")) || base == "Pipfile.lock"
		case strings.HasSuffix(base, ".txt"):
			return requirement().Match(f.text)
		case base == "pyproject.toml":
			return projectDependencies().Match(f.text)
		}
		return false
	})
}

// besideLocks are files that the tools of an ecosystem read beside manifests and lock files.
var besideLocks = map[Ecosystem][]string{
	Node:   {"package.json", ".npmrc", ".yarnrc.yml", "pnpm-workspace.yaml", "bunfig.toml"},
	Python: {"pyproject.toml", "setup.cfg", "requirements.in", "constraints.txt", "README.md", "uv.toml"},
	PHP:    {"composer.json"},
}

// patchDirs are folders whose files change packages when they are installed.
var patchDirs = []string{"patches", ".yarn/patches"}

// Manifests lists the files of a tree that the tools need to fetch a set: what decides it, the manifests of the
// packages of a workspace, settings and patches. Nothing of the project's code is among them.
func Manifests(tree string, f Folder) []string {
	var out []string
	add := func(name string) {
		if text(tree, name) != nil && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, l := range f.Locks {
		add(l)
	}
	for _, n := range besideLocks[f.Ecosystem] {
		add(path.Join(f.Root, n))
	}
	if f.Ecosystem != Node {
		return out
	}
	for _, dir := range survey(tree, nil).dirs {
		if f.Root == "" || dir == f.Root || strings.HasPrefix(dir, f.Root+"/") {
			add(path.Join(dir, "package.json"))
		}
	}
	for _, d := range patchDirs {
		list, _ := os.ReadDir(filepath.Join(tree, filepath.FromSlash(path.Join(f.Root, d))))
		for _, e := range list {
			if e.Type().IsRegular() {
				add(path.Join(f.Root, d, e.Name()))
			}
		}
	}
	return out
}

// Again is the digest of what decides a folder of dependencies in a tree by now.
func Again(tree string, f Folder) string { return decide(tree, f.Ecosystem, f.Root).digest() }

// Filled lists the folders of dependencies that the tools made in a tree of manifests.
func Filled(tree string, f Folder) []string {
	var out []string
	for _, c := range survey(tree, nil).folders {
		if !c.link && c.ecosystem == f.Ecosystem && (f.Root == "" || strings.HasPrefix(c.path, f.Root+"/")) {
			out = append(out, c.path)
		}
	}
	return out
}

// Wanting lists the packages in folders of dependencies of Node that run a program when they are installed, by name.
func Wanting(tree string, folders []string) []string {
	var out []string
	look := func(dir, name string) {
		var m struct {
			Scripts map[string]string `json:"scripts"`
		}
		raw := text(dir, "package.json")
		if raw == nil || json.Unmarshal(raw, &m) != nil {
			return
		}
		_, err := os.Lstat(filepath.Join(dir, "binding.gyp"))
		if (m.Scripts["preinstall"]+m.Scripts["install"]+m.Scripts["postinstall"] != "" || err == nil) &&
			!slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, f := range folders {
		at := filepath.Join(tree, filepath.FromSlash(f))
		stores := []string{at}
		for _, s := range readNames(filepath.Join(at, ".pnpm")) {
			stores = append(stores, filepath.Join(at, ".pnpm", s, "node_modules"))
		}
		for _, s := range stores {
			for _, n := range packageNames(s) {
				if info, err := os.Lstat(filepath.Join(s, filepath.FromSlash(n))); err == nil && info.IsDir() {
					look(filepath.Join(s, filepath.FromSlash(n)), n)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// Mark says of a set that it is ready. It is the last thing that is written, and is on the disk when Mark returns.
func (r Ready) Mark(set string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(set)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(readyFile+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return root.Rename(readyFile+".new", readyFile)
}
