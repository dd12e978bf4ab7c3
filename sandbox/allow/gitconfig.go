package allow

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// gitSections are the sections of a git configuration that commands see. Others, such as http, credential and url, may
// hold a login, and include and includeif name files that may.
var gitSections = strings.Fields("advice alias am annex apply author blame branch checkout clean color column commit " +
	"committer core diff extensions feature fetch filter format fsck gc grep help i18n index init lfs log " +
	"maintenance merge mergetool notes pack pager protocol pull push rebase receive remote rerere safe sequence " +
	"splitindex stash status submodule svn-remote tag transfer uploadpack user versionsort worktree")

var (
	// gitSecret matches a value that names a secret, such as a header, an option or a variable of a command.
	gitSecret = sync.OnceValue(func() *regexp.Regexp {
		words := `(?:` + strings.Join(secretWords, "|") + `)`
		return regexp.MustCompile(`(?i)` + words + `\w*['"]?\s*[=:]\s*\S|-\w*` + words + `\w*\s+\S|\b(?:bearer|basic)\s+\S`)
	})
	// gitUser matches the user of an address, and gitHeader the beginning of a section.
	gitUser   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/\s"'#;]*@`) })
	gitHeader = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*\[\s*([\w-]+)[.\w-]*(?:\s+"(?:[^"\\]|\\.)*")?\s*\]`)
	})
)

// PublicConfig is a git configuration without what may be a login: other sections than gitSections, users of addresses,
// and keys or values with the name of a secret.
func PublicConfig(raw string) string {
	var b strings.Builder
	section, dropped, more := true, false, false
	for line := range strings.Lines(raw) {
		head := gitHeader().FindStringSubmatch(line)
		if !more && (head != nil || strings.HasPrefix(strings.TrimSpace(line), "[")) {
			if section = head != nil && slices.Contains(gitSections, strings.ToLower(head[1])); section {
				b.WriteString(gitUser().ReplaceAllString(head[0], "://"))
				line = line[len(head[0]):]
			}
		}
		key, value, _ := strings.Cut(line, "=")
		if more {
			value = line
		}
		dropped = more && dropped || !more && Secretive(key) || gitSecret().MatchString(value)
		more = strings.HasSuffix(strings.TrimRight(line, "\r\n"), `\`) // the next line goes on with this one
		switch {
		case section && !dropped:
			b.WriteString(gitUser().ReplaceAllString(line, "://"))
		case section:
			b.WriteString("\n")
		}
	}
	return b.String()
}

// SystemGit is the configuration of git for all users.
const SystemGit = "/etc/gitconfig"

// gitParts are the names of git's own in a git directory, which commands see (Place.Parts).
var gitParts = strings.Fields("HEAD ORIG_HEAD FETCH_HEAD CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD MERGE_* AUTO_MERGE " +
	"SQUASH_MSG *_EDITMSG BISECT_* sequencer rebase-merge rebase-apply rr-cache index sharedindex.* objects refs " +
	"reftable packed-refs shallow description commondir gitdir locked config config.worktree modules worktrees " +
	"hooks/*.sample info/attributes info/exclude info/grafts info/refs info/sparse-checkout logs/HEAD logs/refs " +
	"lfs/cache lfs/incomplete lfs/objects lfs/tmp annex/objects")

// GitFiles lists the configuration files of the system and of repositories of these directories, and what is hidden of
// those: what gitParts does not list may be another program's, and hold its logins. A repository that is writable is
// left out: who may write to it sees it.
func GitFiles(writable, repositories []string) (configs, hidden []string) {
	g := gitFiles{configs: []string{SystemGit}}
	for _, w := range writable {
		repositories = append(repositories, filepath.Join(w, ".git"))
	}
	for _, dir := range repositories {
		if filepath.IsAbs(dir) && (filepath.Base(dir) == ".git" || isGit(dir)) {
			g.list(dir, "")
		}
	}
	open := func(p string) bool {
		return slices.ContainsFunc(writable, func(w string) bool {
			return strings.HasPrefix(p, w+"/") && strings.Contains(w+"/", "/.git/")
		})
	}
	return slices.DeleteFunc(g.configs, open), slices.DeleteFunc(g.hidden, open)
}

// isGit reports whether a directory is that of a repository.
func isGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil
}

type gitFiles struct{ configs, hidden []string }

// list judges what lies in a git directory at a path in it. A link shows no more than the place that it leads to.
func (g *gitFiles) list(dir, rel string) {
	entries, _ := os.ReadDir(filepath.Join(dir, rel)) // what pawl cannot read, commands cannot either
	for _, e := range entries {
		name := filepath.Join(rel, e.Name())
		p := filepath.Join(dir, name)
		switch shown, around := gitPart(name); {
		case name == "config" || name == "config.worktree":
			g.configs = append(g.configs, p)
		case e.IsDir() && (name == "modules" || name == "worktrees"):
			g.below(p)
		case shown || e.Type()&fs.ModeSymlink != 0:
		case e.IsDir() && around:
			g.list(dir, name)
		default:
			if inner, _ := os.ReadDir(p); !e.IsDir() || len(inner) > 0 {
				g.hidden = append(g.hidden, p)
			}
		}
	}
}

// gitPart reports whether a path in a git directory is one of gitParts, or a directory around one.
func gitPart(name string) (shown, around bool) {
	for _, part := range gitParts {
		ok, _ := filepath.Match(part, name)
		shown, around = shown || ok, around || strings.HasPrefix(part, name+"/")
	}
	return shown, around
}

// below finds the git directories of submodules and worktrees, whose names may have several parts.
func (g *gitFiles) below(dir string) {
	if isGit(dir) {
		g.list(dir, "")
		return
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		switch p := filepath.Join(dir, e.Name()); {
		case e.IsDir():
			g.below(p)
		case e.Type()&fs.ModeSymlink != 0:
		case e.Name() == "config" || e.Name() == "config.worktree":
			g.configs = append(g.configs, p)
		default:
			g.hidden = append(g.hidden, p)
		}
	}
}
