package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pawl/text/policy"
)

// Identity is who a commit is by.
type Identity struct{ Name, Email string }

// Pawl is the identity of commits that are pawl's own, and of landed ones where the user has configured none.
var Pawl = Identity{Name: "pawl", Email: "pawl@localhost"}

// env gives the identity to git as data. A fixed instant makes a commit's id depend on nothing but its content.
func (i Identity) env(at time.Time) []string {
	// Git knows no instant before 1970.
	date := "@" + strconv.FormatInt(max(at.Unix(), 0), 10) + " +0000"
	return []string{
		"GIT_AUTHOR_NAME=" + i.Name, "GIT_AUTHOR_EMAIL=" + i.Email, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + i.Name, "GIT_COMMITTER_EMAIL=" + i.Email, "GIT_COMMITTER_DATE=" + date,
	}
}

// userConfig is the part of the user's configuration that is read, as data.
type userConfig struct {
	identity     Identity
	format       string // "sha1" or "sha256"
	refs         string // how references are kept, "" for as files
	bare         bool
	excludesFile string
	crlf         bool        // the user's git converts line ends
	files        [][2]string // what the file system can do, as git found out when it made the repository
}

// configEnv is the part of the environment that says where the user's configuration is.
func configEnv() []string {
	var env []string
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// readConfig reads the user's configuration without letting any of it act: git config only parses files. Origins are the
// files in which something was found, each with the files that it includes or might include.
func (r *repoPaths) readConfig(ctx context.Context) (c userConfig, origins map[string][]string, err error) {
	dir := r.gitDir
	if !r.git {
		// A directory that is no repository: only the user's own files are read.
		dir = os.DevNull
	}
	env := append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_DIR=" + dir}, configEnv()...)
	list := call{args: []string{"config", "--null", "--includes", "--show-origin", "--list"}, env: env, dir: r.workspace}
	out, _, err := list.run(ctx)
	if err != nil {
		return userConfig{}, nil, err
	}
	c, origins = parseConfig(string(out))
	return c, origins, nil
}

// parseConfig reads pairs of records: where something was found, and what.
func parseConfig(out string) (c userConfig, origins map[string][]string) {
	values, origins := map[string]string{}, map[string][]string{}
	records := fields(out)
	for i := 0; i+1 < len(records); i += 2 {
		key, value, ok := strings.Cut(records[i+1], "\n")
		if !ok {
			value = "true" // a key without a value is a true boolean
		}
		values[key] = value
		file, ok := strings.CutPrefix(records[i], "file:")
		if !ok {
			continue
		}
		origins[file] = append(origins[file], included(key, value)...)
	}
	return newConfig(values), origins
}

// included is the file that a key includes, if it does.
func included(key, value string) []string {
	if key == "include.path" || strings.HasPrefix(key, "includeif.") && strings.HasSuffix(key, ".path") {
		return []string{value}
	}
	return nil
}

func newConfig(values map[string]string) userConfig {
	c := userConfig{format: "sha1", bare: truth(values["core.bare"]), identity: Pawl}
	name, email := values["user.name"], values["user.email"]
	if speaks(name) && speaks(email) {
		c.identity = Identity{Name: name, Email: email}
	}
	if strings.EqualFold(values["extensions.objectformat"], "sha256") {
		c.format = "sha256"
	}
	if refs := strings.ToLower(values["extensions.refstorage"]); refs != "files" {
		c.refs = refs
	}
	c.crlf = truth(values["core.autocrlf"]) || strings.EqualFold(values["core.eol"], "crlf")
	for _, key := range []string{"core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode"} {
		if value, ok := values[key]; ok {
			c.files = append(c.files, [2]string{key, strconv.FormatBool(truth(value))})
		}
	}
	c.excludesFile = excludesFile(values["core.excludesfile"])
	return c
}

// filesystem is the configuration that says what the file system can do.
func (c userConfig) filesystem() [][2]string { return c.files }

// excludesFile resolves the user's own ignore file, which git looks for in a standard place when none is named.
func excludesFile(value string) string {
	home := os.Getenv("HOME")
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		return filepath.Join(home, rest)
	}
	if value != "" {
		return value
	}
	if base := os.Getenv("XDG_CONFIG_HOME"); base != "" {
		return filepath.Join(base, "git", "ignore")
	}
	return filepath.Join(home, ".config", "git", "ignore")
}

// speaks reports whether git would accept the text as a name or an address: something is left when it has stripped what it
// strips.
func speaks(s string) bool {
	return strings.Trim(s, " .,:;<>\"\\'\t\r\n") != "" && !strings.ContainsRune(s, 0)
}

func truth(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// fields splits output of git's that ends each record with NUL.
func fields(out string) []string {
	out = strings.TrimSuffix(out, "\x00")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}

// Identity returns who commits for the user are by: the configured name and address, or pawl's.
func (r *Repo) Identity() Identity { return r.paths.config.identity }

// Dirs lists the git directories of the repository whose working tree's top is a folder: what git has to read there, also from
// a worktree elsewhere. Without a repository it is empty.
func Dirs(top string) []string {
	gitDir, commonDir, err := locate(top)
	switch {
	case err != nil:
		return nil
	case gitDir == commonDir:
		return []string{gitDir}
	}
	return []string{gitDir, commonDir}
}

// Inspect tells what of git's configuration a command of git obeys that runs in a folder behind walls: there the user's own
// files are not, so it is the repository's, the system's, and those of the submodules that a look at the tree enters. It reads
// files and starts nothing. What cannot be read to its end counts as not inspected.
func Inspect(dir string) policy.Repo { return inspectWith(dir, systemConfigs()) }

// inspectWith is Inspect with these files as the configuration of the system.
func inspectWith(dir string, system []string) policy.Repo {
	top, ok := Top(dir)
	if !ok {
		if _, bare := Bare(dir); bare {
			return policy.Repo{}
		}
		return policy.InspectGit()
	}
	gitDir, commonDir, err := locate(top)
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
		raw, err := readCapped(path, maxConfig)
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

// systemConfigs are the places in which a git looks for the configuration of the system: where it was built to, which for a
// git in /usr/bin is /etc.
func systemConfigs() []string {
	out := []string{"/etc/gitconfig"}
	if program, err := exec.LookPath("git"); err == nil {
		if real, err := filepath.EvalSymlinks(program); err == nil {
			program = real
		}
		out = append(out, filepath.Join(filepath.Dir(filepath.Dir(program)), "etc", "gitconfig"))
	}
	return out
}

// hooksOf lists the hooks in the folder in which git looks for them. ok is false where that is not a folder that can be known.
func hooksOf(named, top, commonDir string) (names []string, ok bool) {
	dir := filepath.Join(commonDir, "hooks")
	if named != "" {
		if strings.HasPrefix(named, "~") || strings.HasPrefix(named, "%") {
			return nil, false
		}
		dir = absolute(top, named)
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

// submoduleConfigs are the configurations of the repositories that git enters when it looks at the tree: those that it keeps
// for its submodules, and those that stand in the submodules themselves.
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
	listed, err := readCapped(filepath.Join(top, ".gitmodules"), maxConfig)
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(listed)) {
		key, path, ok := strings.Cut(strings.TrimSpace(line), "=")
		path = strings.Trim(strings.TrimSpace(path), `"`)
		if !ok || strings.TrimSpace(key) != "path" || !filepath.IsLocal(path) || len(out) > maxSubmodules {
			continue
		}
		if config := filepath.Join(top, path, ".git", "config"); exists(config) {
			out = append(out, config)
		}
	}
	return out
}
