// Package git is pawl's own use of git. It is the one place, with package sandbox, that starts processes, and it starts
// only git.
//
// A repository is hostile input: its configuration names programs that ordinary git commands run (filters, fsmonitor, hooks,
// textconv, merge drivers, pagers, signers). So nothing here runs with the user's configuration. Three kinds of call exist:
//
//   - shadow calls work in a git directory of pawl's own, .pawl/git, with a configuration of pawl's own, on index files of
//     pawl's own; only the object store is the user's, so that nothing is copied;
//   - plumbing calls (update-ref, show-ref, symbolic-ref, check-attr, worktree add) see the user's git directory, because
//     references live there, with hooks, fsmonitor, transports and lazy fetching switched off by the environment, which
//     outranks every file;
//   - calls that talk to a remote have the user's settings and credentials, in a git directory of their own that knows of the
//     repository's configuration only where the remote is.
//
// Contents are never converted: what is in a file is what is in the blob, whatever .gitattributes says. Large-file pointers
// stay pointers, line ends stay as they are. Nested repositories and submodules are recorded if the index knows them and
// are never entered.
//
// A Memory answers without git what it can prove from the times and numbers that the file system keeps of every file; what
// it cannot prove, git is asked.
//
// The user's index is read through copies, and written only while pawl holds its lock (Checkout).
package git

import (
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
	"pawl/store/lockfile"
)

// Place says which folders a Repo works in. Both paths are absolute. Tree is Workspace itself, or lies below .pawl in it.
// Git says that the workspace is the top folder of a working tree of the user's repository; without it everything is kept
// in pawl's own repository.
type Place struct {
	Workspace string
	Tree      string
	Git       bool
}

// Repo is a tree of files and the repository that remembers it. It is safe for concurrent use: what changes the tree or
// its index takes a lock that holds across processes.
type Repo struct {
	Objects Objects // commits, trees and contents
	Refs    Refs    // references
	paths   *repoPaths
	index   treeIndex
	memory  *Memory // nil where nothing is remembered
}

// repoPaths says where everything is, and how git is called there.
type repoPaths struct {
	workspace string
	tree      string // folder that snapshots are taken of
	rel       string // tree relative to workspace, with slashes; "." in place
	git       bool
	shadow    string // pawl's own git directory
	indexFile string // pawl's own index of tree
	gitDir    string // the user's git directory for the workspace, "" without git
	commonDir string // the user's git directory that references and objects live in, "" without git
	config    userConfig
	rules     string // ignore patterns that stand outside the tree
}

// Objects reads and writes commits, trees and contents. It is got from a Repo; the zero value is of no use. It is safe for concurrent use.
type Objects struct{ paths *repoPaths }

// Refs reads and moves references. It is got from a Repo; the zero value is of no use. It is safe for concurrent use: a reference that
// somebody else has moved meanwhile is a conflict, and is left as it is.
type Refs struct{ paths *repoPaths }

// treeIndex is the index of pawl's own by which a tree is recorded. It looks at others, such as the user's, in copies that it makes.
type treeIndex struct {
	paths   *repoPaths
	objects Objects
	refs    Refs
}

func repoAt(p *repoPaths, m *Memory) *Repo {
	o, r := Objects{p}, Refs{p}
	return &Repo{Objects: o, Refs: r, paths: p, index: treeIndex{p, o, r}, memory: m}
}

// atWorkspace is the same repository with the workspace for its tree and an index of its own by that name.
func (r *Repo) atWorkspace(index string) *Repo {
	w := *r.paths
	w.tree, w.rel, w.indexFile = w.workspace, ".", w.state(filepath.Join("index", index))
	return repoAt(&w, r.memory)
}

// Open finds the repository of a place and prepares pawl's own git directory in it. It fails with CodeRepository where the
// workspace is not the top folder of a working tree, or is a bare repository, and with CodeEnvironment without git.
func Open(ctx context.Context, p Place) (*Repo, error) { return open(ctx, p, nil) }

// Recorded finds what has been recorded of a place, to be read, with the errors of Open. Where pawl's own git directory is
// still as Open leaves it, nothing is written and no process is started; elsewhere it is opened.
func Recorded(ctx context.Context, p Place) (Objects, error) {
	r, err := find(p)
	if err != nil {
		return Objects{}, err
	}
	if r.prepared() {
		return Objects{r}, nil
	}
	repo, err := Open(ctx, p)
	if err != nil {
		return Objects{}, err
	}
	return repo.Objects, nil
}

func open(ctx context.Context, p Place, m *Memory) (*Repo, error) {
	r, err := find(p)
	if err != nil {
		return nil, err
	}
	if r.config, err = m.readConfig(ctx, r); err != nil {
		return nil, err
	}
	if r.config.bare && r.gitDir == r.commonDir && r.git {
		return nil, pawl.Fail(pawl.CodeRepository, "git.bare", r.workspace)
	}
	return repoAt(r, m), r.prepare()
}

// find says where everything of a place is, without the user's configuration.
func find(p Place) (*repoPaths, error) {
	workspace, err := filepath.EvalSymlinks(p.Workspace)
	if err != nil {
		return nil, ioError("git.open", err)
	}
	rel, err := filepath.Rel(p.Workspace, p.Tree)
	if err != nil || !inside(filepath.ToSlash(rel)) {
		return nil, pawl.Fail(pawl.CodeInvalid, "git.outside", p.Tree, p.Workspace)
	}
	r := &repoPaths{workspace: workspace, tree: filepath.Join(workspace, rel), rel: filepath.ToSlash(rel), git: p.Git}
	r.shadow = filepath.Join(workspace, ".pawl", "git")
	r.indexFile = filepath.Join(r.shadow, "index", indexName(r.rel))
	if r.git {
		if r.gitDir, r.commonDir, err = locate(workspace); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// indexName names the index of a tree.
func indexName(rel string) string {
	sum := sha256.Sum256([]byte(rel))
	return hex.EncodeToString(sum[:8])
}

// inside reports whether a tree may stand at a path relative to the workspace: the workspace itself, or below .pawl but not
// in pawl's own git directory.
func inside(rel string) bool {
	below, ok := strings.CutPrefix(rel, ".pawl/")
	return rel == "." || ok && below != "git" && !strings.HasPrefix(below, "git/") && below != ""
}

// Top returns the top folder of the working tree that dir belongs to, without starting a process. ok is false where there
// is none.
func Top(dir string) (top string, ok bool) {
	dir = filepath.Clean(dir)
	for {
		if _, _, err := locate(dir); err == nil {
			return dir, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

// Bare looks for a git directory that dir is or lies in: a bare repository, where Top found no working tree around it. It
// returns its path, or false when there is none.
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

// locate returns the git directory of a working tree's top folder, and the common directory behind it: the same one, except
// in a linked worktree.
func locate(top string) (gitDir, commonDir string, err error) {
	gitDir = filepath.Join(top, ".git")
	info, err := os.Stat(gitDir)
	if errors.Is(err, fs.ErrNotExist) {
		if isGitDir(top) {
			return "", "", pawl.Fail(pawl.CodeRepository, "git.bare", top)
		}
		return "", "", pawl.Fail(pawl.CodeRepository, "git.not_repository", top)
	}
	if err != nil {
		return "", "", ioError("git.open", err)
	}
	if info.Mode().IsRegular() {
		target, ok := readLine(gitDir, "gitdir: ")
		if !ok {
			return "", "", pawl.Fail(pawl.CodeRepository, "git.not_repository", top)
		}
		gitDir = absolute(top, target)
	}
	commonDir = gitDir
	if target, ok := readLine(filepath.Join(gitDir, "commondir"), ""); ok {
		commonDir = absolute(gitDir, target)
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

// readLine returns the single line of a small file of git's, without its prefix.
func readLine(path, prefix string) (string, bool) {
	raw, err := readCapped(path, 64<<10)
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(strings.TrimRight(string(raw), "\r\n"), prefix)
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// InPlace reports whether the tree is the workspace itself.
func (r *Repo) InPlace() bool { return r.paths.inPlace() }

func (r *repoPaths) inPlace() bool { return r.rel == "." }

// Git reports whether the workspace belongs to the user's repository.
func (r *Repo) Git() bool { return r.paths.git }

// Workspace returns the same repository with the workspace for its tree.
func (r *Repo) Workspace() *Repo { return r.atWorkspace(indexName(".")) }

// GitDirs lists the user's git directories, which nothing that runs in the tree may write to. Without git it is empty.
func (r *Repo) GitDirs() []string {
	if !r.paths.git {
		return nil
	}
	if r.paths.gitDir == r.paths.commonDir {
		return []string{r.paths.gitDir}
	}
	return []string{r.paths.gitDir, r.paths.commonDir}
}

// State returns the folder for files that a driver keeps beside the repository, below .pawl. The caller makes it.
func (r *Repo) State(name string) string { return r.paths.state(name) }

// state is a place below pawl's own git directory.
func (r *repoPaths) state(name string) string { return filepath.Join(r.shadow, name) }

// shadowEnv is the environment of a call on pawl's own git directory. The folder may have come with the repository, so a file
// in it that names another folder for the configuration and the attributes must not count.
func (r *repoPaths) shadowEnv(tree, index string) []string {
	env := append(bareEnv(r.config.filesystem()...), "GIT_DIR="+r.shadow, "GIT_COMMON_DIR="+r.shadow, "GIT_WORK_TREE="+tree, "GIT_INDEX_FILE="+index)
	if r.git {
		env = append(env, "GIT_OBJECT_DIRECTORY="+filepath.Join(r.commonDir, "objects"))
	}
	return env
}

// userEnv is the environment of a plumbing call on the user's git directory. The index that it names does not exist, so
// that no such call reads or writes the user's. Without git it is pawl's own directory.
func (r *repoPaths) userEnv() []string {
	if !r.git {
		return r.shadowEnv(r.workspace, r.state("no-index"))
	}
	env := append(bareEnv(r.config.filesystem()...), "GIT_DIR="+r.gitDir, "GIT_WORK_TREE="+r.workspace,
		"GIT_INDEX_FILE="+r.state("no-index"))
	return append(env, r.config.identity.env(time.Now())...)
}

// shadowRun runs git in pawl's own directory on the tree and its index.
func (r *repoPaths) shadowRun(ctx context.Context, stdin string, args ...string) (string, error) {
	out, _, err := r.on(r.indexFile, stdin, args...).run(ctx)
	return string(out), err
}

// on is a shadow call on the tree with any index.
func (r *repoPaths) on(index, stdin string, args ...string) call {
	return call{args: args, env: r.shadowEnv(r.tree, index), dir: r.tree, stdin: strings.NewReader(stdin)}
}

// withoutTree is a shadow call that needs no working tree: on objects alone.
func (r *repoPaths) withoutTree(stdin string, args ...string) call {
	return call{args: args, env: r.shadowEnv(r.shadow, r.state("no-index")), dir: r.shadow, stdin: strings.NewReader(stdin)}
}

// plumbing is a call on the user's git directory.
func (r *repoPaths) plumbing(stdin string, args ...string) call {
	return call{args: args, env: r.userEnv(), dir: r.shadow, stdin: strings.NewReader(stdin)}
}

// gitHome is the git directory with the references: the user's, or pawl's own where there is none.
func (r *repoPaths) gitHome() string {
	if r.git {
		return r.gitDir
	}
	return r.shadow
}

// fromTop is a plumbing call on a git directory of the user's, or on pawl's own where there is none, from the workspace itself and
// with paths relative to it: git makes folders that are missing, and where the workspace is moved meanwhile they are made where it is
// then, not where it was. Git keeps the name of its directory as it is given only in the top folder of the working tree.
func (r *repoPaths) fromTop(gitDir, stdin string, args ...string) call {
	c := r.plumbing(stdin, args...)
	c.dir = r.workspace
	if rel, err := filepath.Rel(r.workspace, gitDir); err == nil && filepath.IsLocal(rel) {
		gitDir = rel
		c.env = append(c.env, "GIT_WORK_TREE=.")
	}
	c.env = append(c.env, "GIT_DIR="+gitDir)
	if !r.git {
		c.env = append(c.env, "GIT_COMMON_DIR="+gitDir)
	}
	return c
}

// holding is how long the lock of a tree is waited for. Whoever has it works on many files at most; one that is stopped does not.
var holding = lockfile.Patience{Halted: 10 * time.Second, One: 10 * time.Minute}

// hold runs do under the lock of a file, which excludes every other holder in any process. Whoever holds the lock may remove the
// file; who waits for it then has the next one. It fails with code busy where the lock is not to be had, naming its holder.
func hold(ctx context.Context, path string, do func(context.Context) error) error {
	l, err := lockfile.Wait(ctx, path, holding)
	switch {
	case err != nil && ctx.Err() != nil:
		return pawl.Fail(pawl.CodeBusy, "git.busy").Because(err)
	case pawl.CodeOf(err) == pawl.CodeBusy:
		return pawl.Fail(pawl.CodeBusy, "git.tree_held").Because(err)
	case err != nil:
		return ioError("git.lock", err)
	}
	defer l.Release() //nolint:errcheck // it ends with the file
	return do(context.WithValue(ctx, heldKey{}, l.File()))
}

// locked runs do under the lock of the tree. A git that was killed leaves the lock file of its index behind; whoever holds
// our lock knows that no git of ours is alive, and removes it.
func (r treeIndex) locked(ctx context.Context, do func(context.Context) error) error {
	return hold(ctx, r.paths.indexFile+".flock", func(ctx context.Context) error {
		if err := os.Remove(r.paths.indexFile + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return ioError("git.lock", err)
		}
		return do(ctx)
	})
}
