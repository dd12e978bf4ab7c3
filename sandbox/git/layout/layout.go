// Package layout says where everything of a repository is (gitrepository-layout(5)), what of its configuration and of
// the user's counts, and in which git directory, on which tree and index a call of git works. Pawl's own git directory
// is in the state of the workspace, which nobody else writes. It starts git only to have configuration parsed.
package layout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git/program"
)

// Place says which directories a Repo works in. Paths are absolute. State is pawl's own directory for the workspace;
// empty, it is .pawl in it. Tree is Workspace itself, or is below State. Git says that the workspace is the top
// directory of a working tree of the user's repository; without it everything is stored in pawl's own repository.
type Place struct {
	Workspace string
	Tree      string
	State     string
	Git       bool
}

// Of is the place of an effect.
func Of(p effect.Place) Place {
	return Place{Workspace: p.Workspace, Tree: p.Tree, State: p.Own(), Git: p.Git}
}

// Top is the same place with the workspace for its tree.
func (p Place) Top() Place {
	p.Tree = p.Workspace
	return p
}

// Layout says where everything is, and how git is called there.
type Layout struct {
	Workspace string
	Base      string // pawl's own directory for the workspace
	Tree      string // directory that snapshots are taken of
	Rel       string // tree relative to Base, with slashes; "." in place
	Git       bool
	Shadow    string // pawl's own git directory
	IndexFile string // pawl's own index of tree
	GitDir    string // the user's git directory for the workspace, "" without git
	CommonDir string // the user's git directory that references and objects live in, "" without git
	Config    Config
	Rules     string // ignore patterns that stand outside the tree
}

// Find says where everything of a place is, without the user's configuration.
func Find(p Place) (*Layout, error) {
	workspace, err := filepath.EvalSymlinks(p.Workspace)
	if err != nil {
		return nil, program.IOError("git.open", err)
	}
	state := cmp.Or(p.State, filepath.Join(p.Workspace, ".pawl"))
	r := &Layout{Workspace: workspace, Base: resolved(state), Tree: workspace, Rel: ".", Git: p.Git}
	if p.Tree != p.Workspace {
		rel, err := filepath.Rel(state, p.Tree)
		if err != nil || !inside(filepath.ToSlash(rel)) {
			return nil, pawl.Fail(pawl.CodeInvalid, "git.outside", p.Tree, state)
		}
		r.Tree, r.Rel = filepath.Join(r.Base, rel), filepath.ToSlash(rel)
	}
	r.Shadow = filepath.Join(r.Base, "git")
	r.IndexFile = filepath.Join(r.Shadow, "index", IndexName(r.Rel))
	if r.Git {
		if r.GitDir, r.CommonDir, err = Locate(workspace); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// IndexName names the index of a tree.
func IndexName(rel string) string {
	sum := sha256.Sum256([]byte(rel))
	return hex.EncodeToString(sum[:8])
}

// resolved follows the links of a path as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if up := filepath.Dir(path); up != path {
		return filepath.Join(resolved(up), filepath.Base(path))
	}
	return path
}

// inside reports whether a tree may be at a path relative to the state: below it, but not in pawl's own git directory.
func inside(rel string) bool {
	return rel != "." && filepath.IsLocal(rel) && rel != "git" && !strings.HasPrefix(rel, "git/")
}

// Top returns the top folder of the working tree that dir belongs to, without starting a process. ok is false where
// there is none.
func Top(dir string) (top string, ok bool) {
	dir = filepath.Clean(dir)
	for {
		if _, _, err := Locate(dir); err == nil {
			return dir, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

// Bare looks for a git directory that dir is or lies in: a bare repository, where Top found no working tree around it.
// It returns its path, or false when there is none.
func Bare(dir string) (path string, ok bool) {
	dir = filepath.Clean(dir)
	for !isGitDir(dir) {
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
	return dir, true
}

// Locate returns the git directory of a working tree's top folder, and the common directory behind it: the same one,
// except in a linked worktree.
func Locate(top string) (gitDir, commonDir string, err error) {
	gitDir = filepath.Join(top, ".git")
	info, err := os.Stat(gitDir)
	if errors.Is(err, fs.ErrNotExist) {
		if isGitDir(top) {
			return "", "", pawl.Fail(pawl.CodeRepository, "git.bare", top)
		}
		return "", "", pawl.Fail(pawl.CodeRepository, "git.not_repository", top)
	}
	if err != nil {
		return "", "", program.IOError("git.open", err)
	}
	if info.Mode().IsRegular() {
		target, ok := ReadLine(gitDir, "gitdir: ")
		if !ok {
			return "", "", pawl.Fail(pawl.CodeRepository, "git.not_repository", top)
		}
		gitDir = Absolute(top, target)
	}
	commonDir = gitDir
	if target, ok := ReadLine(filepath.Join(gitDir, "commondir"), ""); ok {
		commonDir = Absolute(gitDir, target)
	}
	if !isGitDir(commonDir) {
		return "", "", pawl.Fail(pawl.CodeRepository, "git.not_repository", top)
	}
	return gitDir, commonDir, nil
}

func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	objects, err := os.Stat(filepath.Join(dir, "objects"))
	return err == nil && objects.IsDir()
}

// ReadLine returns the single line of a small file of git's, without its prefix.
func ReadLine(path, prefix string) (string, bool) {
	raw, err := ReadCapped(path, 64<<10)
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(strings.TrimRight(string(raw), "\r\n"), prefix)
}

func Absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

func (r *Layout) InPlace() bool { return r.Rel == "." }

// State is a place below pawl's own git directory.
func (r *Layout) State(name string) string { return filepath.Join(r.Shadow, name) }

// ShadowEnv is the environment of a call on pawl's own git directory. It names every directory that git could otherwise
// learn from a file.
func (r *Layout) ShadowEnv(tree, index string) []string {
	env := append(program.Environment(r.Config.filesystem()...), "GIT_DIR="+r.Shadow, "GIT_COMMON_DIR="+r.Shadow,
		"GIT_WORK_TREE="+tree, "GIT_INDEX_FILE="+index)
	if r.Git {
		env = append(env, Alternate(r.SharedObjects()))
	}
	return env
}

// Alternate has a call of git read objects of another store as well. The last one of an environment counts.
func Alternate(objects string) string {
	// In quotes, because a colon ends a path here.
	return `GIT_ALTERNATE_OBJECT_DIRECTORIES="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(objects) + `"`
}

// userEnv is the environment of a plumbing call on the user's git directory. The index that it names does not exist, so
// that no such call reads or writes the user's. Without git it is pawl's own directory.
func (r *Layout) userEnv(more ...[2]string) []string {
	if !r.Git {
		return r.ShadowEnv(r.Workspace, r.State("no-index"))
	}
	env := append(program.Environment(append(r.Config.filesystem(), more...)...), "GIT_DIR="+r.GitDir,
		"GIT_WORK_TREE="+r.Workspace, "GIT_INDEX_FILE="+r.State("no-index"))
	return append(env, r.Config.Identity.Env(time.Now())...)
}

// ShadowRun runs git in pawl's own directory on the tree and its index.
func (r *Layout) ShadowRun(ctx context.Context, stdin string, args ...string) (string, error) {
	out, _, err := r.On(r.IndexFile, stdin, args...).Run(ctx)
	return string(out), err
}

// On is a shadow call on the tree with any index.
func (r *Layout) On(index, stdin string, args ...string) program.Call {
	return program.Call{Args: args, Env: r.ShadowEnv(r.Tree, index), Dir: r.Tree, Stdin: strings.NewReader(stdin)}
}

// WithoutTree is a shadow call that needs no working tree: on objects alone.
func (r *Layout) WithoutTree(stdin string, args ...string) program.Call {
	return program.Call{Args: args, Env: r.ShadowEnv(r.Shadow, r.State("no-index")), Dir: r.Shadow,
		Stdin: strings.NewReader(stdin)}
}

// Plumbing is a call on the user's git directory.
func (r *Layout) Plumbing(stdin string, args ...string) program.Call {
	return program.Call{Args: args, Env: r.userEnv(), Dir: r.Shadow, Stdin: strings.NewReader(stdin)}
}

// CheckAttr is a call that lists attributes of paths as the user's git finds them: by the files in the workspace, or in
// the tree that an index holds, the repository's, the user's and the system's. It runs none of the programs they name.
func CheckAttr(r *Layout, index string, paths []string, names ...string) program.Call {
	args := append([]string{"check-attr", "-z", "--stdin"}, names...)
	c := r.Plumbing(strings.Join(paths, "\x00")+"\x00", args...)
	c.Env = append(r.userEnv([2]string{"core.attributesFile", r.Config.attributes}), "GIT_ATTR_NOSYSTEM=0")
	c.Dir = r.Workspace
	if index != "" {
		c.Args = append([]string{"check-attr", "--cached"}, args[1:]...)
		c.Env = append(c.Env, "GIT_INDEX_FILE="+index, Alternate(r.ObjectDir()))
	}
	return c
}

// Both is a call on the user's git directory that also reads objects of pawl's own store.
func (r *Layout) Both(stdin string, args ...string) program.Call {
	c := r.Plumbing(stdin, args...)
	if r.Git {
		c.Env = append(c.Env, Alternate(r.ObjectDir()))
	}
	return c
}

// Alone is a shadow call that knows only the objects of pawl's own store.
func (r *Layout) Alone(stdin string, args ...string) program.Call {
	c := r.WithoutTree(stdin, args...)
	c.Env = append(c.Env, "GIT_ALTERNATE_OBJECT_DIRECTORIES=")
	return c
}

// FromTop is a plumbing call on a git directory of the user's, or on pawl's own where there is none, from the workspace
// itself and with paths relative to it: git makes folders that are missing, and where the workspace is moved meanwhile
// they are made where it is then, not where it was. Git keeps the name of its directory as it is given only in the top
// folder of the working tree.
func (r *Layout) FromTop(gitDir, stdin string, args ...string) program.Call {
	c, shadow := r.Plumbing(stdin, args...), gitDir == r.Shadow
	c.Dir = r.Workspace
	if rel, err := filepath.Rel(r.Workspace, gitDir); err == nil && filepath.IsLocal(rel) {
		gitDir = rel
		c.Env = append(c.Env, "GIT_WORK_TREE=.")
	}
	c.Env = append(c.Env, "GIT_DIR="+gitDir)
	if shadow {
		c.Env = append(c.Env, "GIT_COMMON_DIR="+gitDir)
	}
	return c
}

// Exists reports whether something has a name, a broken link included.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Files is the directory through which the files of the tree are changed, with the tree and the stage relative to it,
// with slashes. In the stage new contents are collected before they take their places: on the file system of the tree,
// outside of what is recorded of it, and emptied before each use.
func (r *Layout) Files() (base, tree, stage string) {
	if r.InPlace() {
		return r.Workspace, ".", ".pawl/tmp/" + filepath.Base(r.IndexFile)
	}
	return r.Base, r.Rel, "git/tmp/" + filepath.Base(r.IndexFile)
}

// Stage is the path of the stage.
func (r *Layout) Stage() string {
	base, _, stage := r.Files()
	return filepath.Join(base, filepath.FromSlash(stage))
}

// Exported is a store with those objects of the tree that commands in it cannot find in the user's.
func Exported(r *Layout) string { return r.IndexFile + ".objects" }

// Worktrees is the directory of pawl's worktrees.
func (r *Layout) Worktrees() string { return filepath.Join(r.Base, "worktrees") }

func (r *Layout) MetaFile(tree string) string { return filepath.Join(r.State("meta"), tree) }

// OrZero is how update-ref is told that a reference must not exist.
func (r *Layout) OrZero(id string) string {
	if id != "" {
		return id
	}
	if r.Config.Format == "sha256" {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}

// Removals is an edit that removes entries.
func (r *Layout) Removals(paths []string) string {
	var b strings.Builder
	for _, path := range paths {
		b.WriteString("0 " + r.OrZero("") + "\t" + path + "\x00")
	}
	return b.String()
}

// Registration finds the folder in which the user's repository keeps what it knows of the tree as a linked worktree, ""
// when it knows nothing. The tree's own .git file is not asked: what runs in the tree may have written it.
func (r *Layout) Registration() string {
	if !r.Git || r.InPlace() {
		return ""
	}
	want := filepath.Join(r.Tree, ".git")
	dirs, _ := filepath.Glob(filepath.Join(EscapeGlob(r.CommonDir), "worktrees", "*", "gitdir"))
	for _, path := range dirs {
		target := Backlink(path)
		if target == want || filepath.Base(filepath.Dir(target)) == filepath.Base(r.Tree) && SameFile(target, want) {
			return filepath.Dir(path)
		}
	}
	return ""
}

// Backlink is what a registration says where its worktree's .git is.
func Backlink(path string) string {
	target, _ := ReadLine(path, "")
	return Absolute(filepath.Dir(path), target)
}

// SameFile reports whether two names are those of one file, by whatever way they lead to it.
func SameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// EscapeGlob makes a path match only itself.
func EscapeGlob(path string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(path)
}

// ObjectDir is where new objects are written: into a store of pawl's own, which has all that references of pawl's name
// and which no garbage collection of the user's touches.
func (r *Layout) ObjectDir() string { return r.State("objects") }

// SharedObjects is the user's object store, "" without git.
func (r *Layout) SharedObjects() string {
	if !r.Git {
		return ""
	}
	return filepath.Join(r.CommonDir, "objects")
}
