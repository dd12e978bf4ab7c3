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
// hold a login.
var gitSections = strings.Fields("advice alias am annex apply author blame branch checkout clean color column commit " +
	"committer core diff extensions feature fetch filter format fsck gc grep help i18n include includeif index " +
	"init lfs log " +
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

// GitConfigs lists the configuration files of the system and of repositories of these directories, but for those of a
// repository that is writable: who may write to it sees it.
func GitConfigs(writable, repositories, more []string) []string {
	out := append([]string{SystemGit}, more...)
	for _, w := range writable {
		repositories = append(repositories, filepath.Join(w, ".git"))
	}
	for _, dir := range repositories {
		if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil || !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range []string{"config", "config.worktree"} {
			out = append(out, filepath.Join(dir, name))
		}
		for _, below := range []string{"modules", "worktrees"} {
			_ = filepath.WalkDir(filepath.Join(dir, below), func(p string, e fs.DirEntry, err error) error {
				switch {
				case err != nil || e.IsDir() && slices.Contains([]string{"objects", "refs", "logs", "hooks"}, e.Name()):
					return fs.SkipDir
				case e.Name() == "config" || e.Name() == "config.worktree":
					out = append(out, p)
				}
				return nil
			})
		}
	}
	return slices.DeleteFunc(out, func(p string) bool {
		return slices.ContainsFunc(writable, func(w string) bool {
			return strings.HasPrefix(p, w+"/") && strings.Contains(w+"/", "/.git/")
		})
	})
}
