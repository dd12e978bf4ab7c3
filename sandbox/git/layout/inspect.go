package layout

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pawl/sandbox/git/program"
	"pawl/text/policy"
)

// Dirs lists the git directories of the repository whose working tree's top is a folder: what git has to read there,
// also from a worktree elsewhere. Without a repository it is empty.
func Dirs(top string) []string {
	gitDir, commonDir, err := Locate(top)
	switch {
	case err != nil:
		return nil
	case gitDir == commonDir:
		return []string{gitDir}
	}
	return []string{gitDir, commonDir}
}

// Inspect tells what of git's configuration a command of git obeys that runs in a folder behind walls: there the user's
// own files are not, so it is the repository's, the system's, and those of the submodules that a look at the tree
// enters. What cannot be read to its end counts as not inspected. It also has the filters of git's attributes, those
// of the user included.
func Inspect(dir string) policy.Repo {
	repo := inspectWith(dir, systemFiles("gitconfig"))
	if top, ok := Top(dir); ok {
		repo.Filters = filters(context.Background(), top)
	}
	return repo
}

// filters reads which files git sends through filters, by the attributes of the newest commit's directories as they are
// in the working tree. What cannot be read says nothing: landing asks git again.
func filters(ctx context.Context, top string) []policy.Filter {
	r, err := Find(Place{Workspace: top, Tree: top, Git: true})
	if err == nil {
		r.Config, _, err = r.ReadConfig(ctx)
	}
	if err != nil {
		return nil
	}
	list := r.Plumbing("", "ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD").Answering(128)
	list.Dir = top
	out, _, _ := list.Run(ctx) // where there is no commit, the file at the top counts
	dirs := []string{""}
	for _, path := range program.Fields(string(out)) {
		if dir, ok := strings.CutSuffix(path, "/.gitattributes"); ok {
			dirs = append(dirs, dir)
		}
	}
	slices.SortStableFunc(dirs[1:], func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	var files []policy.AttributeFile
	read := func(dir string, paths ...string) {
		text, _ := texts(paths)
		for _, t := range text {
			files = append(files, policy.AttributeFile{Dir: dir, Text: t})
		}
	}
	read("", append(systemFiles("gitattributes"), r.Config.attributes)...)
	for _, dir := range dirs {
		path := filepath.Join(top, dir, ".gitattributes")
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() { // git follows no link there
			read(dir, path)
		}
	}
	read("", filepath.Join(r.CommonDir, "info", "attributes"))
	return policy.InspectAttributes(files...)
}

// inspectWith is Inspect with these files as the configuration of the system.
func inspectWith(dir string, system []string) policy.Repo {
	top, ok := Top(dir)
	if !ok {
		if _, bare := Bare(dir); bare {
			return policy.Repo{}
		}
		return policy.InspectGit()
	}
	gitDir, commonDir, err := Locate(top)
	if err != nil {
		return policy.Repo{}
	}
	read, ok := texts(append(system, filepath.Join(commonDir, "config"), filepath.Join(gitDir, "config.worktree")))
	if !ok {
		return policy.Repo{}
	}
	repo := policy.InspectGit(read...)
	if hooks, ok := hooksOf(repo.HooksPath, top, commonDir); ok {
		repo = repo.Hooked(hooks...)
	}
	for _, config := range submoduleConfigs(top, commonDir) {
		read, ok := texts([]string{config})
		if !ok {
			return policy.Repo{}
		}
		repo = repo.Within(policy.InspectGit(read...))
	}
	return repo
}

const (
	maxConfig     = 1 << 20 // bytes of one configuration file that are read
	maxSubmodules = 200
)

// texts reads files of configuration; one that is not there says nothing.
func texts(paths []string) (out []string, ok bool) {
	for _, path := range paths {
		raw, err := ReadCapped(path, maxConfig)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, false
		default:
			out = append(out, string(raw))
		}
	}
	return out, true
}

// systemFiles are the places in which a git looks for a file of the system's: where it was built to, which for a git in
// /usr/bin is /etc. With GIT_CONFIG_NOSYSTEM, which the commands of the sandbox get too, it reads no configuration.
func systemFiles(name string) []string {
	if off, _ := strconv.ParseBool(os.Getenv("GIT_CONFIG_NOSYSTEM")); off && name == "gitconfig" {
		return nil
	}
	out := []string{"/etc/" + name}
	if found, err := exec.LookPath("git"); err == nil {
		if real, err := filepath.EvalSymlinks(found); err == nil {
			found = real
		}
		out = append(out, filepath.Join(filepath.Dir(filepath.Dir(found)), "etc", name))
	}
	return out
}

// hooksOf lists the hooks in the folder in which git looks for them. ok is false where that is not a folder that can be
// known.
func hooksOf(named, top, commonDir string) (names []string, ok bool) {
	dir := filepath.Join(commonDir, "hooks")
	if named != "" {
		if strings.HasPrefix(named, "~") || strings.HasPrefix(named, "%") {
			return nil, false
		}
		dir = Absolute(top, named)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist)
	}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && !strings.HasSuffix(e.Name(), ".sample") {
			names = append(names, e.Name())
		}
	}
	return names, true
}

// submoduleConfigs are the configurations of the repositories that git enters when it looks at the tree: those that it
// keeps for its submodules, and those that stand in the submodules themselves.
func submoduleConfigs(top, commonDir string) []string {
	var out []string
	modules := filepath.Join(commonDir, "modules")
	_ = filepath.WalkDir(modules, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || len(out) > maxSubmodules:
			return fs.SkipAll
		case e.IsDir() && path != modules && isGitDir(path):
			out = append(out, filepath.Join(path, "config"))
		case e.IsDir() && (e.Name() == "objects" || e.Name() == "refs" || e.Name() == "logs" || e.Name() == "hooks"):
			return fs.SkipDir
		}
		return nil
	})
	listed, err := ReadCapped(filepath.Join(top, ".gitmodules"), maxConfig)
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(listed)) {
		key, path, ok := strings.Cut(strings.TrimSpace(line), "=")
		path = strings.Trim(strings.TrimSpace(path), `"`)
		if !ok || strings.TrimSpace(key) != "path" || !filepath.IsLocal(path) || len(out) > maxSubmodules {
			continue
		}
		if config := filepath.Join(top, path, ".git", "config"); Exists(config) {
			out = append(out, config)
		}
	}
	return out
}
