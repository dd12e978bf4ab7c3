package verify

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"pawl"
	"pawl/kernel/effect"
)

// LookPath says where a program is installed and whether it is. It must not run anything.
type LookPath func(program string) (string, bool)

const (
	maxDepth   = 2       // folders below the root in which an ecosystem is looked for
	maxEntries = 500_000 // directory entries after which a tree is not walked further
	maxMarker  = 1 << 20 // bytes of a file that are read to decide what checks a folder has
)

// Detect finds the ecosystems of a tree, the commands that check it and the files that define those commands. It fills
// Ecosystems, Checks, Files and Definitions of the answer and nothing else. Checks are ordered by level, then as found:
// the root before its folders. A check whose program is not installed carries that program in Missing; it is never left
// out silently. A file that cannot be read or parsed makes its folder have fewer checks; only a root that cannot be
// listed is an error (CodeIO).
func Detect(tree fs.FS, look LookPath) (effect.ContextResult, error) {
	return detect(tree, look, func(*scan, string, *folder) []effect.Need { return nil })
}

// detect is Detect with what is asked of each folder that has checks of an ecosystem.
func detect(tree fs.FS, look LookPath, needs func(s *scan, ecosystem string, d *folder) []effect.Need) (effect.ContextResult, error) {
	s, err := survey(tree)
	if err != nil {
		return effect.ContextResult{}, err
	}
	s.look = look
	out := effect.ContextResult{Files: s.files, Definitions: map[string]string{}}
	for _, d := range s.folders {
		found := false
		for _, e := range ecosystems {
			checks, is := e.detect(s, d)
			if !is || (e.fallback && found) {
				continue
			}
			found = true
			if !slices.Contains(out.Ecosystems, e.name) {
				out.Ecosystems = append(out.Ecosystems, e.name)
			}
			for _, c := range checks {
				out.Checks = append(out.Checks, d.place(c))
			}
			if len(checks) > 0 {
				out.Needs = append(out.Needs, needs(s, e.name, d)...)
			}
		}
	}
	slices.SortStableFunc(out.Checks, func(a, b effect.Check) int { return a.Level - b.Level })
	define(s, out.Definitions)
	return out, nil
}

// ecosystem is one row of the table: how a folder of that ecosystem is recognised and what checks it.
type ecosystem struct {
	name string
	// detect returns the checks of a folder and whether the folder belongs to the ecosystem at all.
	detect func(*scan, *folder) ([]effect.Check, bool)
	// fallback rows apply only where no earlier row did: a Makefile beside a go.mod wraps the same commands.
	fallback bool
}

var ecosystems = []ecosystem{
	{name: "go", detect: detectGo},
	{name: "node", detect: detectNode},
	{name: "python", detect: detectPython},
	{name: "rust", detect: detectRust},
	{name: "java", detect: detectJava},
	{name: "dart", detect: detectDart},
	{name: "dotnet", detect: detectDotnet},
	{name: "ruby", detect: detectRuby},
	{name: "php", detect: detectPHP},
	{name: "cmake", detect: detectCMake, fallback: true},
	{name: "make", detect: detectMake, fallback: true},
	{name: "shell", detect: detectShell, fallback: true},
}

// scan is one look at a tree.
type scan struct {
	tree    fs.FS
	look    LookPath
	files   int
	folders []*folder // the root and the folders to depth two, parents first
}

// folder is a directory in which an ecosystem may live.
type folder struct {
	tree   fs.FS
	rel    string // "" for the root, slash-separated
	parent *folder
	names  map[string]bool // name → is a directory
	claims map[string]bool // ecosystems that this folder also covers for the folders below it
}

// skipped names folders that hold other people's code, products of a build, or inputs of tests.
var skipped = map[string]bool{
	"node_modules": true, "vendor": true, "third_party": true, "testdata": true, "fixtures": true, "__fixtures__": true,
	"__pycache__": true, "venv": true, "target": true, "dist": true, "build": true, "out": true, "bin": true,
	"obj":      true,
	"examples": true, "example": true, "Pods": true,
}

// survey walks the tree once: it counts files and lists the folders that may hold an ecosystem.
func survey(tree fs.FS) (*scan, error) {
	s := &scan{tree: tree}
	byRel := map[string]*folder{}
	entries := 0
	err := fs.WalkDir(tree, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			if p == "." {
				return err
			}
			return fs.SkipDir
		}
		if entries++; entries > maxEntries {
			return fs.SkipAll
		}
		name := path.Base(p)
		if e.IsDir() {
			if uncounted[name] {
				return fs.SkipDir
			}
			s.enter(byRel, p)
			return nil
		}
		if !e.Type().IsRegular() {
			return nil
		}
		s.files++
		if d := byRel[path.Dir(p)]; d != nil {
			d.names[name] = false
		}
		return nil
	})
	if err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "verify.tree_unreadable").Because(err).In("verify.Detect")
	}
	return s, nil
}

// uncounted names folders that are no part of the work: their files are not counted and they are not entered.
var uncounted = map[string]bool{
	".git": true, ".hg": true, ".svn": true, ".pawl": true, "node_modules": true, ".venv": true, "venv": true,
	"__pycache__": true, ".gradle": true, ".dart_tool": true,
}

// enter records a directory as a folder of its parent and, near the root, as a folder to look into.
func (s *scan) enter(byRel map[string]*folder, p string) {
	if p == "." {
		root := &folder{tree: s.tree, names: map[string]bool{}, claims: map[string]bool{}}
		byRel["."] = root
		s.folders = append(s.folders, root)
		return
	}
	name := path.Base(p)
	parent := byRel[path.Dir(p)]
	if parent != nil {
		parent.names[name] = true
	}
	if parent == nil || strings.Count(p, "/") >= maxDepth || skipped[name] || !plainName(name) {
		return
	}
	d := &folder{tree: s.tree, rel: p, parent: parent, names: map[string]bool{}, claims: map[string]bool{}}
	byRel[p] = d
	s.folders = append(s.folders, d)
}

// plainName refuses folders that tools skip (a leading dot or underscore) and names that could not be shown to a person
// as they are.
func plainName(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar })
}

// place binds a check to the folder: its directory, and its name where the folder is not the root.
func (d *folder) place(c effect.Check) effect.Check {
	if d.rel != "" {
		c.Dir = d.rel
		c.Name += " (" + d.rel + ")"
	}
	return c
}

// file reports whether the folder has a file of that name; folders and symbolic links do not count.
func (d *folder) file(name string) bool { dir, ok := d.names[name]; return ok && !dir }

// anyFile returns the first of the names that is a file of the folder, or "".
func (d *folder) anyFile(names ...string) string {
	for _, n := range names {
		if d.file(n) {
			return n
		}
	}
	return ""
}

// dir reports whether the folder has a directory of that name.
func (d *folder) dir(name string) bool { return d.names[name] }

// match reports whether a file of the folder matches one of the patterns of path.Match.
func (d *folder) match(patterns ...string) bool {
	for n, isDir := range d.names {
		for _, p := range patterns {
			if ok, _ := path.Match(p, n); ok && !isDir {
				return true
			}
		}
	}
	return false
}

// text returns the beginning of a file of the folder, or "" when there is no such regular file or it cannot be read.
func (d *folder) text(name string) string {
	if !d.file(name) {
		return ""
	}
	b, err := readLimited(d.tree, path.Join(d.rel, name), maxMarker)
	if err != nil {
		return ""
	}
	return string(b)
}

// exists reports whether a path below the folder is there, without following it out of the tree.
func (d *folder) exists(name string) bool {
	_, err := fs.Stat(d.tree, path.Join(d.rel, name))
	return err == nil
}

// claimed reports whether a folder above covers this one for an ecosystem.
func (d *folder) claimed(ecosystem string) bool {
	for up := d.parent; up != nil; up = up.parent {
		if up.claims[ecosystem] {
			return true
		}
	}
	return false
}

// missing returns the first of the programs that is not installed, or "".
func (s *scan) missing(programs ...string) string {
	for _, p := range programs {
		if _, ok := s.look(p); !ok {
			return p
		}
	}
	return ""
}

// installed reports whether a program is there.
func (s *scan) installed(program string) bool { return s.missing(program) == "" }

// readLimited reads at most limit bytes of a regular file.
func readLimited(tree fs.FS, name string, limit int64) ([]byte, error) {
	f, err := openRegular(tree, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// openRegular opens a file that is a regular one. The kind is asked for first, because opening a named pipe waits.
func openRegular(tree fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(tree, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return tree.Open(name)
}
