package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"pawl/driver/verify/judges"
)

const maxDefinitions = 2000

// define hashes the files that define the checks of a scan into out, path → sha256 hex. A file that cannot be read is
// recorded as "unreadable", so that making it unreadable is seen as a change.
func define(s *scan, out map[string]string) {
	add := func(name string) {
		if _, ok := out[name]; !ok && len(out) < maxDefinitions {
			out[name] = hashFile(s.tree, name)
		}
	}
	for _, d := range s.folders {
		for name, isDir := range d.names {
			if !isDir && judges.Defines(name) {
				add(path.Join(d.rel, name))
			}
		}
		if says := judges.Module([]byte(d.text("go.mod"))); says != "" {
			out[path.Join(d.rel, "go.mod")] = says
		}
		for _, script := range d.scripts() {
			add(script)
		}
	}
	for _, dir := range judges.Dirs {
		_ = fs.WalkDir(s.tree, dir, func(p string, e fs.DirEntry, err error) error {
			if err != nil {
				return fs.SkipDir
			}
			if e.Type().IsRegular() {
				add(p)
			}
			return nil
		})
	}
}

// scripts returns the files of the tree that the recipes of the folder name: a check that runs scripts/test.sh is
// defined by that file as much as by the Makefile that calls it.
func (d *folder) scripts() []string {
	var recipes []string
	var m manifest
	if json.Unmarshal([]byte(d.text("package.json")), &m) == nil {
		for _, body := range m.Scripts {
			recipes = append(recipes, body)
		}
	}
	for _, name := range []string{"Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "composer.json",
		"tox.ini", "Taskfile.yml", "Taskfile.yaml"} {
		recipes = append(recipes, d.text(name))
	}
	var out []string
	take := func(names []string) {
		for _, p := range names {
			info, err := fs.Stat(d.tree, p)
			if err == nil && info.Mode().IsRegular() && !slices.Contains(out, p) && len(out) < maxScripts {
				out = append(out, p)
			}
		}
	}
	for _, recipe := range recipes {
		take(judges.Scripts(d.rel, recipe))
	}
	for i := 0; i < len(out); i++ { // which grows with what they name
		if text, err := readLimited(d.tree, out[i], maxMarker); err == nil {
			take(judges.Inner(out[i], string(text)))
		}
	}
	return out
}

// maxScripts bounds the scripts of a folder.
const maxScripts = 200

// exists reports whether there is anything of the name.
func exists(tree fs.FS, name string) bool {
	_, err := fs.Stat(tree, name)
	return !errors.Is(err, fs.ErrNotExist)
}

// tampered compares the definitions that were pinned when the plan was made with those of the tree now, and returns the
// paths that were changed, added or removed, sorted. Without pinned definitions there is nothing to compare.
func tampered(pinned, now map[string]string) []string {
	if len(pinned) == 0 {
		return nil
	}
	var out []string
	for p, h := range pinned {
		if now[p] != h {
			out = append(out, p)
		}
	}
	for p := range now {
		if _, ok := pinned[p]; !ok {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// hashFile returns the sha256 of a regular file, in hex.
func hashFile(tree fs.FS, name string) string {
	f, err := openRegular(tree, name)
	if err != nil {
		return unreadable
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return unreadable
	}
	return hex.EncodeToString(h.Sum(nil))
}

// unreadable stands for the digest of a file that cannot be read.
const unreadable = "unreadable"

// oneLine joins what is shown on one line and keeps it short.
func oneLine(items []string, most int) string {
	if len(items) > most {
		items = append(slices.Clone(items[:most]), "…")
	}
	return strings.Join(items, ", ")
}
