package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pawl"
)

// gitSections are the sections of a git configuration that commands see. Others, such as http, credential and url, may
// hold a login.
var gitSections = strings.Fields("advice alias am annex apply author blame branch checkout clean color column commit " +
	"committer core diff extensions feature fetch filter format fsck gc grep help i18n include includeif index init lfs log " +
	"maintenance merge mergetool notes pack pager protocol pull push rebase receive remote rerere safe sequence " +
	"splitindex stash status submodule svn-remote tag transfer uploadpack user versionsort worktree")

var (
	// gitUser matches the user of an address, and gitHeader the beginning of a section.
	gitUser   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/\s"'#;]*@`) })
	gitHeader = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*\[\s*([\w-]+)[.\w-]*(?:\s+"(?:[^"\\]|\\.)*")?\s*\]`)
	})
)

// publicConfig is a git configuration without what may be a login: other sections than gitSections, users of addresses,
// and keys with the name of a secret.
func publicConfig(raw string) string {
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
		if key, _, _ := strings.Cut(line, "="); !more {
			dropped = speaksOfSecrets(key)
		}
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

// gitConfigs lists the configuration files of the repositories that a command sees.
func (s Spec) gitConfigs() []string {
	out := append([]string{"/etc/gitconfig"}, s.configs...)
	dirs := slices.Clone(s.Readable)
	for _, w := range append(slices.Clone(s.Writable), s.Workspace) {
		if w != "" { // a relative path would be the one of pawl's own working directory
			dirs = append(dirs, filepath.Join(w, ".git"))
		}
	}
	for _, dir := range dirs {
		if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
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
	return slices.DeleteFunc(out, func(p string) bool { // who may write to a repository sees it
		return slices.ContainsFunc(s.Writable, func(w string) bool {
			return within(p, w) && strings.Contains(w+"/", "/.git/")
		})
	})
}

// configs puts a copy without logins over each git configuration that holds one. Without mounts the file is hidden.
func (l *layout) configs(s Spec, m Mechanism) error {
	for _, name := range s.gitConfigs() {
		p, info, ok := real(name)
		if !ok || !info.Mode().IsRegular() || l.covered(p) {
			continue
		}
		raw, err := os.ReadFile(p)
		public := publicConfig(string(raw))
		switch {
		case err == nil && public == string(raw):
			continue
		case err != nil || m.bare() || info.Size() > maxConfig:
			l.at[p] = mountHideFile
			continue
		case l.private == "":
			if l.private, l.claim, err = privateDir(); err != nil {
				return err
			}
		}
		at := filepath.Join(l.private, strconv.Itoa(len(l.at)))
		if err := os.WriteFile(at, []byte(public), 0o644); err != nil {
			return pawl.Fail(pawl.CodeIO, "sandbox.walls").Because(err).In("sandbox.Run")
		}
		l.at[p], l.from[p] = mountRead, at
	}
	return nil
}

// close removes the copies, which the command has in its mounts.
func (l *layout) close() {
	if l.private != "" {
		discard(l.private)
		_ = l.claim.Close()
	}
}
