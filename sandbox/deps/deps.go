// Package deps finds the dependencies that a project keeps in folders which no commit holds (node_modules, virtual
// environments, vendor), and says which of them belong into a task's worktree.
//
// A folder belongs there only where the files that decide what is in it (lock files, or the parts of manifests that
// name dependencies where there is no lock) say the same in the worktree as in the user's tree, byte for byte, and
// where it was made for this machine. Everything else is named with its reason and is not used. What is found is shown
// to commands by the sandbox; nothing is copied, and no folder of dependencies is walked.
//
// What `pawl prepare` fetched is kept below .pawl/cache/deps by the digest of what decided it, and is found in the same
// way.
package deps

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pawl/kernel/effect"
	"pawl/sandbox"
)

// Ecosystem names what dependencies are for, in the words that a plan's network grant uses where there are any.
type Ecosystem string

// The ecosystems whose dependencies are known. Named stands for folders that the user's settings name.
const (
	Node   Ecosystem = "npm"
	Python Ecosystem = "pypi"
	Go     Ecosystem = "go"
	PHP    Ecosystem = "packagist"
	Ruby   Ecosystem = "rubygems"
	Elixir Ecosystem = "hex"
	Dart   Ecosystem = "pub"
	Swift  Ecosystem = "cocoapods"
	Named  Ecosystem = "named"
)

// State says whether a folder of dependencies is used.
type State string

// The states. Only Used and Prepared ones are shown to commands.
const (
	// Used is the user's own folder, and fits.
	Used State = "used"
	// Prepared is one that `pawl prepare` fetched for exactly these lock files.
	Prepared State = "prepared"
	// Changed says that the worktree's lock files are not those of the user's tree, so that the user's folder is of no
	// use.
	Changed State = "changed"
	// Own says that the worktree has a folder of its own that commands filled, which no lock file vouches for.
	Own State = "own"
	// Missing says that there is no folder although there are dependencies.
	Missing State = "missing"
	// Foreign says that the folder was made for another system, or that the interpreter that it was made for is gone.
	Foreign State = "foreign"
	// Link says that the folder, or one above it, is a symbolic link, which is never followed.
	Link State = "link"
)

// Folder is a folder of dependencies of a project.
type Folder struct {
	Path      string // in the tree, with slashes
	Ecosystem Ecosystem
	State     State
	// From is where the folder is on this machine; "" where there is none that can be used.
	From string
	// Root is the folder of the tree whose files decide, with slashes, "" for the tree itself. Locks are these files,
	// by their paths in the tree, and Digest is the sha256 of what they say in this tree; both are empty where nothing
	// decides.
	Root   string
	Locks  []string
	Digest string
	// Detail is what makes it Foreign.
	Detail string
	// Environment says that it is a virtual environment of Python.
	Environment bool
}

// Shows reports whether commands are shown the folder.
func (f Folder) Shows() bool { return f.State == Used || f.State == Prepared }

// Found is what was found for one place.
type Found struct {
	Place   effect.Place
	Folders []Folder // in the order of paths
}

// Finder finds dependencies. Its fields are fixed once it is in use; it is then safe for concurrent use.
type Finder struct {
	// Tracked returns those of the paths, relative to the workspace, at which a commit, or the record of a workspace
	// without git, holds something: these are in every worktree as they are. Nil knows of none.
	Tracked func(ctx context.Context, place effect.Place, paths []string) (map[string]bool, error)
	// More are folders relative to the workspace that the user's settings name. They are used whatever lock files say.
	More []string
	// Activated says that the user works in a virtual environment, wherever it is, so that none is missing.
	Activated bool

	mu    sync.Mutex
	looks map[string]look
}

// Find says what there is for a place. A worktree is given what the user's tree has; the user's own tree has it
// already, and is given what was prepared for it where it lacks something. A workspace that cannot be read has nothing.
// A nil Finder knows of no settings.
func (f *Finder) Find(ctx context.Context, place effect.Place) (Found, error) {
	out := Found{Place: place}
	if f == nil {
		f = &Finder{}
	}
	if !filepath.IsAbs(place.Workspace) || !filepath.IsAbs(place.Tree) {
		return out, nil
	}
	s := survey(place.Workspace, f.More)
	var paths []string
	for _, c := range s.folders {
		paths = append(paths, c.path)
	}
	tracked := map[string]bool{}
	if len(paths) > 0 && f.Tracked != nil {
		var err error
		if tracked, err = f.Tracked(ctx, place, paths); err != nil {
			return out, fmt.Errorf("find dependencies: %w", err)
		}
	}
	have := map[string]bool{}
	for _, c := range s.folders {
		have[c.path] = true
		if !tracked[c.path] {
			out.Folders = append(out.Folders, f.judge(place, c))
		}
	}
	out.Folders = prepared(place, append(out.Folders, f.lacking(place, s, have)...))
	for i := range out.Folders {
		out.Folders[i].own(place)
	}
	slices.SortFunc(out.Folders, func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// judge says whether a folder of the user's tree can be used at a place.
func (f *Finder) judge(place effect.Place, c candidate) Folder {
	d := Folder{Path: c.path, Ecosystem: c.ecosystem, Environment: c.environment, State: Used,
		From: filepath.Join(place.Workspace, filepath.FromSlash(c.path))}
	if c.link {
		d.State, d.From = Link, ""
		return d
	}
	mine := decide(place.Workspace, c.ecosystem, path.Dir(c.path))
	theirs := mine
	if place.Tree != place.Workspace {
		theirs = decide(place.Tree, c.ecosystem, path.Dir(c.path))
	}
	d.Root, d.Locks, d.Digest = theirs.root, theirs.names(), theirs.digest()
	switch detail := f.foreign(d); {
	case !mine.equal(theirs):
		d.State = Changed
	case detail != "":
		d.State, d.Detail = Foreign, detail
	}
	return d
}

// own notes that the worktree has a folder of its own, where no other is used.
func (f *Folder) own(place effect.Place) {
	if place.Tree == place.Workspace || f.State != Changed && f.State != Missing && f.State != Foreign {
		return
	}
	at := filepath.Join(place.Tree, filepath.FromSlash(f.Path))
	info, err := os.Lstat(at)
	if err != nil || !plainParent(place.Tree, f.Path) || info.IsDir() && len(readNames(at)) == 0 {
		return
	}
	f.State, f.From, f.Detail = Own, at, ""
}

// Shown are the folders that a command at the place is to be shown, and where. In the user's own tree these are the
// user's own, too: what a command writes into them must not be there for the next one.
func (f Found) Shown() []sandbox.Shown {
	var out []sandbox.Shown
	for _, d := range f.Folders {
		at := filepath.Join(f.Place.Tree, filepath.FromSlash(d.Path))
		if d.Shows() && plainParent(f.Place.Tree, d.Path) {
			out = append(out, sandbox.Shown{From: d.From, At: at})
		}
	}
	return out
}

// Readable are folders that a command must find at their own path as well: programs of a virtual environment name the
// place that it was made at.
func (f Found) Readable() []string {
	var out []string
	for _, d := range f.Folders {
		if d.Shows() && d.Environment {
			out = append(out, d.From)
		}
	}
	return out
}

// Hidden are the user's own folders that a command in a worktree must not find: programs look for packages in the
// folders above theirs, too, and would take what belongs to another lock file, or what is linked to the user's own
// code.
func (f Found) Hidden() []string {
	if f.Place.Tree == f.Place.Workspace {
		return nil
	}
	var out []string
	for _, d := range f.Folders {
		if own := filepath.Join(f.Place.Workspace, filepath.FromSlash(d.Path)); !(d.Environment && d.From == own &&
			d.Shows()) {
			out = append(out, own)
		}
	}
	return out
}

// Environment is the virtual environment whose programs go before the machine's, "" for none: one at the top of the
// project that is the user's or was prepared, never one that something in the tree made.
func (f Found) Environment() string {
	best := ""
	for _, d := range f.Folders {
		if !d.Environment || !d.Shows() || strings.Contains(d.Path, "/") {
			continue
		}
		if best == "" || d.Path == ".venv" {
			best = d.From
		}
	}
	return best
}

// Locate returns where a path of the tree is on this machine when it lies in a folder that is shown.
func (f Found) Locate(rel string) (string, bool) {
	for _, d := range f.Folders {
		if rest, ok := strings.CutPrefix(rel, d.Path+"/"); ok && d.Shows() {
			return filepath.Join(d.From, filepath.FromSlash(rest)), true
		}
	}
	return "", false
}

// Program finds a program that packages of the project bring.
func (f Found) Program(name string) (string, bool) {
	for _, d := range f.Folders {
		if !d.Shows() || strings.ContainsAny(name, `/\`) {
			continue
		}
		dir := ""
		switch {
		case d.Environment:
			dir = "bin"
		case d.Ecosystem == Node:
			dir = ".bin"
		case d.Ecosystem == PHP:
			dir = "bin"
		default:
			continue
		}
		p := filepath.Join(d.From, dir, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			return p, true
		}
	}
	return "", false
}

// Lacks returns the folders that commands would need and are not shown.
func (f Found) Lacks() []Folder {
	var out []Folder
	for _, d := range f.Folders {
		if !d.Shows() {
			out = append(out, d)
		}
	}
	return out
}

// plainParent reports whether the folder around a path of the tree is there and is no link, nor behind one.
func plainParent(tree, rel string) bool {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return false
	}
	defer root.Close()
	at := ""
	for part := range strings.SplitSeq(path.Dir(rel), "/") {
		if part == "." {
			break
		}
		at = path.Join(at, part)
		if info, err := root.Lstat(at); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// absolutePath matches a path between quotes, or one that is alone on its line.
var absolutePath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(/[^\n]*)$|'(/[^'\n]*)'|"(/[^"\n]*)"`) })

// Editable are the folders of the tree from which Python must import before anything else: a virtual environment in
// which the project itself is installed for editing names the user's tree, and what is judged is this one.
func (f Found) Editable() []string {
	env := f.Environment()
	if env == "" || f.Place.Tree == f.Place.Workspace {
		return nil
	}
	var out []string
	for _, pattern := range []string{"*.pth", "__editable__*.py"} {
		files, _ := filepath.Glob(filepath.Join(escaped(env), "lib", "python*", "site-packages", pattern))
		for _, p := range files {
			raw := text(filepath.Dir(p), filepath.Base(p))
			for _, m := range absolutePath().FindAllStringSubmatch(string(raw), 1000) {
				from := m[1] + m[2] + m[3]
				if pattern != "*.pth" {
					from = filepath.Dir(from) // a finder names the packages themselves
				}
				rel, err := filepath.Rel(f.Place.Workspace, filepath.Clean(from))
				if err != nil || !filepath.IsLocal(rel) || rel == ".pawl" ||
					strings.HasPrefix(rel, ".pawl"+string(filepath.Separator)) ||
					strings.Contains(rel, "site-packages") {
					continue
				}
				if at := filepath.Join(f.Place.Tree, rel); !slices.Contains(out, at) {
					out = append(out, at)
				}
			}
		}
	}
	return out
}
