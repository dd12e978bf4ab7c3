package deps

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"pawl/effect"
)

// Store is where prepared dependencies are kept, relative to the workspace.
const Store = ".pawl/cache/deps"

// readyFile is written last into a prepared set, so that one that a crash left half done counts for nothing.
const readyFile = "ready.json"

// Ready is what a prepared set says of itself.
type Ready struct {
	Ecosystem Ecosystem `json:"ecosystem"`
	Root      string    `json:"root"`
	Digest    string    `json:"digest"`
	Platform  string    `json:"platform"`
	Tool      string    `json:"tool"`
	// Folders are the folders of dependencies, relative to the tree; they stand at the same paths in the set's folder tree.
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
func (f Folder) Set(workspace string) string {
	return filepath.Join(workspace, filepath.FromSlash(Store), f.Key())
}

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
		set := f.Set(place.Workspace)
		r, ok := ReadReady(set)
		if !ok || r.Digest != f.Digest || r.Root != f.Root {
			continue
		}
		for _, p := range r.Folders {
			from := filepath.Join(set, "tree", filepath.FromSlash(p))
			if info, err := os.Lstat(from); err != nil || !info.IsDir() || !filepath.IsLocal(filepath.FromSlash(p)) {
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
	return len(m.Dependencies)+len(m.DevDependencies) > 0 || m.Workspaces != nil || text(tree, path.Join(dir, "pnpm-workspace.yaml")) != nil
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
