package deps

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pawl/sandbox/safeopen"
)

// maxLock bounds a file that decides; a larger one decides by its size and time alone, which never agree between two
// trees.
const maxLock = 64 << 20

// decision is what decides the content of a folder of dependencies in one tree.
type decision struct {
	root  string // folder of the files, "" for the tree itself
	files []decidingFile
}

// decidingFile is one file, and the part of it that decides.
type decidingFile struct {
	name string // path in the tree
	text []byte
}

func (d decision) names() []string {
	var out []string
	for _, f := range d.files {
		out = append(out, f.name)
	}
	return out
}

// digest is the sha256 of all that decides, in hexadecimal digits, "" where nothing does.
func (d decision) digest() string {
	if len(d.files) == 0 {
		return ""
	}
	h := sha256.New()
	for _, f := range d.files {
		sum := sha256.Sum256(f.text)
		h.Write([]byte(f.name + "\x00" + hex.EncodeToString(sum[:]) + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (d decision) equal(o decision) bool {
	return d.root == o.root && slices.EqualFunc(d.files, o.files,
		func(a, b decidingFile) bool { return a.name == b.name && bytes.Equal(a.text, b.text) })
}

// nodeLocks are the lock files of Node's package managers, the one that counts first.
var nodeLocks = []string{"npm-shrinkwrap.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock",
	"bun.lockb"}

// pythonLocks are those of Python's.
var pythonLocks = []string{"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"}

// otherLocks are those of the rest: the lock file, and what decides without one.
var otherLocks = map[Ecosystem][2][]string{
	Go: {{"go.sum"}, {}}, PHP: {{"composer.lock"}, {"composer.json"}}, Ruby: {{"Gemfile.lock"},
		{"Gemfile"}}, Elixir: {{"mix.lock"}, {"mix.exs"}},
	Dart: {{"pubspec.lock"}, {"pubspec.yaml"}}, Swift: {{"Podfile.lock"}, {"Podfile"}},
}

// decide reads what decides the dependencies of an ecosystem in a folder of a tree.
func decide(tree string, e Ecosystem, dir string) decision {
	if dir == "." {
		dir = ""
	}
	switch e {
	case Named:
		return decision{}
	case Node:
		return decideNode(tree, dir)
	case Python:
		return decidePython(tree, dir)
	}
	if e == Ruby {
		dir = strings.TrimSuffix(strings.TrimSuffix(dir, "vendor"), "/") // the folder is vendor/bundle
	}
	d := decision{root: dir}
	d.add(tree, otherLocks[e][0]...)
	if e == Go {
		d.part(tree, "go.mod", whole)
	} else if len(d.files) == 0 {
		d.add(tree, otherLocks[e][1]...)
	}
	return d
}

func decideNode(tree, dir string) decision {
	for at := dir; ; at = up(at) {
		d := decision{root: at}
		d.add(tree, nodeLocks...)
		if len(d.files) > 0 {
			return d
		}
		if at == "" {
			break
		}
	}
	d := decision{root: dir}
	d.part(tree, "package.json", nodeSections)
	return d
}

func decidePython(tree, dir string) decision {
	for at := dir; ; at = up(at) {
		d := decision{root: at}
		if d.add(tree, pythonLocks...); len(d.files) > 0 {
			return d
		}
		for _, pattern := range []string{"requirements*.txt", "requirements/*.txt"} {
			found, _ := filepath.Glob(filepath.Join(escaped(filepath.Join(tree, filepath.FromSlash(at))),
				filepath.FromSlash(pattern)))
			slices.Sort(found)
			for _, f := range found {
				if rel, err := filepath.Rel(filepath.Join(tree, filepath.FromSlash(at)), f); err == nil {
					d.add(tree, filepath.ToSlash(rel))
				}
			}
		}
		d.part(tree, "pyproject.toml", pythonSections)
		d.add(tree, "setup.py", "Pipfile")
		d.part(tree, "setup.cfg", setupSections)
		if len(d.files) > 0 || at == "" {
			return d
		}
	}
}

// up is the folder above a folder of the tree, "" for the tree itself.
func up(dir string) string {
	if d := path.Dir(dir); d != "." {
		return d
	}
	return ""
}

// escaped makes a path match only itself.
func escaped(p string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(p)
}

// add adds whole files that are there.
func (d *decision) add(tree string, names ...string) {
	for _, n := range names {
		d.part(tree, n, whole)
	}
}

// part adds the part of a file that decides, where the file is there.
func (d *decision) part(tree, name string, cut func([]byte) []byte) {
	p := path.Join(d.root, name)
	if raw := text(tree, p); raw != nil {
		d.files = append(d.files, decidingFile{p, cut(raw)})
	}
}

func whole(raw []byte) []byte { return raw }

// nodeSections are the parts of a package.json that name dependencies, in a form that does not depend on how they are
// written.
func nodeSections(raw []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return raw
	}
	kept := map[string]any{}
	for _, k := range []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies",
		"bundleDependencies", "bundledDependencies",
		"overrides", "resolutions", "workspaces", "pnpm", "packageManager"} {
		var v any
		if all[k] != nil && json.Unmarshal(all[k], &v) == nil {
			kept[k] = v
		}
	}
	out, err := json.Marshal(kept)
	if err != nil {
		return raw
	}
	return out
}

var (
	tomlHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*\[+[^\]\n]*\]+[^\n]*$`) })
	// tomlKept are the tables of a pyproject.toml in which dependencies stand; of the table project only some keys do.
	tomlKept = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\[+\s*(build-system|dependency-groups|project\.optional-dependencies|tool\.poetry\.(dependencies|dev-dependencies|group\b.*|extras|source)|` +
			`tool\.(uv|pdm|flit|hatch)\b.*|tool\.setuptools\b.*)\s*\]+`)
	})
	tomlProject = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?ms)^[ \t]*(dependencies|optional-dependencies|requires-python|dynamic)[ \t]*=[ \t]*(\[.*?^?[^\n]*\][ \t]*(#[^\n]*)?$|[^\n]*$)`)
	})
	iniKept = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\[\s*(options(\..*)?|metadata\.requires.*)\s*\]`)
	})
)

// pythonSections are the tables of a pyproject.toml that name dependencies. Telling two texts apart that mean the same
// costs an environment that would have fitted, so the settings of tools are left out, and nothing more.
func pythonSections(raw []byte) []byte {
	return tables(raw, func(head, body string) string {
		switch {
		case tomlKept().MatchString(head):
			return head + body
		case strings.HasPrefix(head, "[project]"):
			return head + strings.Join(tomlProject().FindAllString(body, -1), "\n")
		}
		return ""
	})
}

// setupSections are those of a setup.cfg.
func setupSections(raw []byte) []byte {
	return tables(raw, func(head, body string) string {
		if iniKept().MatchString(head) {
			return head + body
		}
		return ""
	})
}

// tables goes through the tables of a text and keeps what keep returns of each.
func tables(raw []byte, keep func(head, body string) string) []byte {
	s := strings.ReplaceAll(string(raw), "\r\n", "\n")
	at := tomlHead().FindAllStringIndex(s, -1)
	var out strings.Builder
	for i, h := range at {
		end := len(s)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		if part := keep(strings.TrimSpace(s[h[0]:h[1]]), s[h[1]:end]); part != "" {
			out.WriteString(strings.TrimSpace(part) + "\n")
		}
	}
	return []byte(out.String())
}

// text reads a regular file of a tree, nil where there is none. It never leaves the tree, through a link or otherwise.
func text(tree, name string) []byte {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return nil
	}
	defer root.Close()
	name = filepath.FromSlash(name)
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if info.Size() > maxLock {
		return []byte(tree + info.ModTime().String())
	}
	// What stands there may be exchanged for a pipe meanwhile, for whose other end nobody waits.
	f, err := safeopen.Unmarked(root, name)
	if err != nil {
		return nil
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxLock))
	if err != nil {
		return nil
	}
	if raw == nil {
		raw = []byte{}
	}
	return raw
}
