package layout

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl/sandbox/git/program"
)

// Identity is who a commit is by.
type Identity struct{ Name, Email string }

// Pawl is the identity of commits that are pawl's own, and of landed ones where the user has configured none.
var Pawl = Identity{Name: "pawl", Email: "pawl@localhost"}

// Env gives the identity to git as data. A fixed instant makes a commit's id depend on nothing but its content.
func (i Identity) Env(at time.Time) []string {
	// Git knows no instant before 1970.
	date := "@" + strconv.FormatInt(max(at.Unix(), 0), 10) + " +0000"
	return []string{
		"GIT_AUTHOR_NAME=" + i.Name, "GIT_AUTHOR_EMAIL=" + i.Email, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + i.Name, "GIT_COMMITTER_EMAIL=" + i.Email, "GIT_COMMITTER_DATE=" + date,
	}
}

// Config is the part of the user's configuration that is read, as data.
type Config struct {
	Identity     Identity
	Format       string // "sha1" or "sha256"
	Refs         string // how references are kept, "" for as files
	Bare         bool
	excludesFile string
	attributes   string      // the user's own attributes file
	Crlf         bool        // the user's git converts line ends
	Files        [][2]string // what the file system can do, as git found out when it made the repository
}

// ConfigEnv is the part of the environment that says where the user's configuration is.
func ConfigEnv() []string {
	var env []string
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
		"GIT_CONFIG_NOSYSTEM"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// ReadConfig reads the user's configuration without letting any of it act: git config only parses files. Origins are
// the files in which something was found, each with the files that it includes or might include.
func (r *Layout) ReadConfig(ctx context.Context) (c Config, origins map[string][]string, err error) {
	dir := r.GitDir
	if !r.Git {
		// A directory that is no repository: only the user's own files are read.
		dir = os.DevNull
	}
	env := append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_DIR=" + dir}, ConfigEnv()...)
	list := program.Call{Args: []string{"config", "--null", "--includes", "--show-origin", "--list"}, Env: env,
		Dir: r.Workspace}
	out, _, err := list.Run(ctx)
	if err != nil {
		return Config{}, nil, err
	}
	c, origins = parseConfig(string(out))
	return c, origins, nil
}

// parseConfig reads pairs of records: where something was found, and what.
func parseConfig(out string) (c Config, origins map[string][]string) {
	values, origins := map[string]string{}, map[string][]string{}
	records := program.Fields(out)
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

func newConfig(values map[string]string) Config {
	c := Config{Format: "sha1", Bare: truth(values["core.bare"]), Identity: Pawl}
	name, email := values["user.name"], values["user.email"]
	if speaks(name) && speaks(email) {
		c.Identity = Identity{Name: name, Email: email}
	}
	if strings.EqualFold(values["extensions.objectformat"], "sha256") {
		c.Format = "sha256"
	}
	if refs := strings.ToLower(values["extensions.refstorage"]); refs != "files" {
		c.Refs = refs
	}
	c.Crlf = truth(values["core.autocrlf"]) || strings.EqualFold(values["core.eol"], "crlf")
	for _, key := range []string{"core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode"} {
		if value, ok := values[key]; ok {
			c.Files = append(c.Files, [2]string{key, strconv.FormatBool(truth(value))})
		}
	}
	c.excludesFile = userFile(values["core.excludesfile"], "ignore")
	c.attributes = userFile(values["core.attributesfile"], "attributes")
	return c
}

// filesystem is the configuration that says what the file system can do.
func (c Config) filesystem() [][2]string { return c.Files }

// userFile resolves a file of the user's own, which git looks for by name in a standard place when none is configured.
func userFile(value, name string) string {
	home := os.Getenv("HOME")
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		return filepath.Join(home, rest)
	}
	if value != "" {
		return value
	}
	if base := os.Getenv("XDG_CONFIG_HOME"); base != "" {
		return filepath.Join(base, "git", name)
	}
	return filepath.Join(home, ".config", "git", name)
}

// speaks reports whether git would accept the text as a name or an address: something is left when it has stripped what
// it strips.
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

// ConfigFiles lists the files that decide what the configuration says: the standard places, those that were read, and
// those that they include. ok is false where an included file cannot be named.
func (r *Layout) ConfigFiles(origins map[string][]string) (paths []string, ok bool) {
	home := os.Getenv("HOME")
	xdg := os.Getenv("XDG_CONFIG_HOME")
	if xdg == "" {
		xdg = filepath.Join(home, ".config")
	}
	set := map[string]bool{
		"/etc/gitconfig": true, "/usr/local/etc/gitconfig": true,
		filepath.Join(home, ".gitconfig"): true, filepath.Join(xdg, "git", "config"): true,
	}
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		if path := os.Getenv(name); path != "" {
			set[Absolute(r.Workspace, path)] = true
		}
	}
	if r.Git {
		// The branch is a condition that an inclusion may have.
		for _, dir := range []string{r.GitDir, r.CommonDir} {
			set[filepath.Join(dir, "config")], set[filepath.Join(dir, "config.worktree")],
				set[filepath.Join(dir, "HEAD")] = true, true, true
		}
	}
	for origin, included := range origins {
		origin = Absolute(r.Workspace, origin)
		set[origin] = true
		for _, path := range included {
			switch rest, inHome := strings.CutPrefix(path, "~/"); {
			case inHome:
				path = filepath.Join(home, rest)
			case strings.HasPrefix(path, "~"), strings.HasPrefix(path, "%("):
				return nil, false
			}
			set[Absolute(filepath.Dir(origin), path)] = true
		}
	}
	return slices.Collect(maps.Keys(set)), true
}
