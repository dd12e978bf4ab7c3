package policy

import (
	"slices"
	"strings"
	"sync"

	"pawl/text/display"
	"pawl/text/secret"
	"pawl/text/shell"
)

// InspectGit reads the texts of every git configuration file that git would obey in the workspace (the repository's
// config and, where it exists, config.worktree) and returns what policy has to know of them. The caller makes sure that
// system and user configuration are switched off or passes them too; with no text it says that there is no repository.
// Only keys that are known to be inert pass; any other is a hazard, and so is a line that cannot be read.
func InspectGit(configs ...string) Repo {
	repo := Repo{Inspected: true}
	for _, text := range configs {
		section, alias := "", false
		for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' || line[0] == ';' {
				continue
			}
			if line[0] == '[' {
				name, rest, ok := strings.Cut(line[1:], "]")
				if !ok {
					repo.note(&repo.Hazards, line)
					continue
				}
				section, _, _ = strings.Cut(strings.ToLower(name), " ")
				section = strings.TrimSpace(section)
				if head, _, sub := strings.Cut(section, "."); sub {
					section = head
				}
				alias = section == "alias"
				if line = strings.TrimSpace(rest); line == "" {
					continue
				}
			}
			key, value, _ := strings.Cut(line, "=")
			name, value := strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
			repo.setting(section, name, value, alias || slices.Contains(gitPrograms, name))
		}
	}
	return repo
}

// setting notes one setting. Speaks says that its value tells what would run, rather than something that may be a
// secret.
func (r *Repo) setting(section, name, value string, speaks bool) {
	key := section + "." + name
	if key == "core.hookspath" {
		r.HooksPath = strings.Trim(value, `"`)
	}
	if inertGitKey(key, value) {
		return
	}
	shown := key
	if speaks && value != "" {
		shown += " = " + value
	}
	if writingGitKey(section, name, value) {
		r.note(&r.Writing, shown)
		return
	}
	r.note(&r.Hazards, shown)
}

// note adds to a list, which is stored and shown: without what looks like a secret.
func (r *Repo) note(list *[]string, what string) {
	var secrets *secret.Redactor
	what = shell.Shorten(display.Line(secrets.Text(what)))
	if len(*list) < maxReasons && !slices.Contains(*list, what) {
		*list = append(*list, what)
	}
}

// Hooked answers what core.hooksPath leaves open: the names are those of the hooks in the folder in which git looks for
// them. Of all hooks only post-index-change can run when git reads.
func (r Repo) Hooked(names ...string) Repo {
	out := Repo{Inspected: r.Inspected, Writing: slices.Clone(r.Writing)}
	for _, h := range r.Hazards {
		if !strings.HasPrefix(h, "core.hookspath") {
			out.Hazards = append(out.Hazards, h)
		}
	}
	for _, name := range names {
		if name == "post-index-change" {
			out.note(&out.Hazards, "hook "+name)
		} else {
			out.note(&out.Writing, "hook "+name)
		}
	}
	return out
}

// Within returns what is known of a repository together with what is known of one that git enters from it. That such a
// repository says where its own tree is, is how git keeps it.
func (r Repo) Within(inner Repo) Repo {
	out := Repo{Inspected: r.Inspected && inner.Inspected, Hazards: slices.Clone(r.Hazards),
		Writing: slices.Clone(r.Writing), HooksPath: r.HooksPath}
	for _, h := range inner.Hazards {
		if !strings.HasPrefix(h, "core.worktree") {
			out.note(&out.Hazards, h)
		}
	}
	return out
}

// inertGitKey reports whether a setting can neither run a program nor lead git out of the workspace.
func inertGitKey(key, value string) bool {
	if strings.HasSuffix(value, `\`) {
		return false // the value goes on in the next line
	}
	if key == "core.fsmonitor" {
		return slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(value))
	}
	section, name, _ := strings.Cut(key, ".")
	if slices.Contains(inertGitSections, section) {
		return true
	}
	if section == "pretty" || key == "format.pretty" {
		return !strings.Contains(strings.ToLower(value), "%g") // %G? has a signature checked
	}
	return slices.Contains(inertGitNames()[section], name)
}

// writingGitKey reports whether a setting that is not inert is obeyed only by commands that change the repository,
// connect or wait for a person.
func writingGitKey(section, name, value string) bool {
	if strings.HasSuffix(value, `\`) {
		return false
	}
	return slices.Contains(writingGitSections, section) || slices.Contains(writingGitNames()[section], name)
}

var (
	// gitPrograms are the names of settings whose values are programs or files of settings.
	gitPrograms = []string{"fsmonitor", "external", "command", "textconv", "clean", "process", "smudge", "pager",
		"hookspath", "path", "program", "driver", "editor", "worktree"}

	writingGitSections = []string{
		"credential", "http", "url", "sequence", "mergetool", "difftool", "rebase", "sendemail", "gui", "receive",
		"transfer", "apply", "am", "add",
		"checkout", "clean", "clone", "notes", "protocol", "ssh", "uploadpack", "trailer", "interactive", "web",
		"browser", "instaweb", "man", "svn-remote",
		"tag", "gitreview", "gitflow", "cvsimport", "imap", "bundle", "merge", "commit", "fetch",
	}
	writingGitNames = sync.OnceValue(func() map[string][]string {
		return map[string][]string{
			"core":   {"editor", "sshcommand", "askpass", "gitproxy", "alternaterefscommand"},
			"diff":   {"tool", "guitool"},
			"filter": {"smudge", "required"},
			"submodule": {"url", "branch", "fetchrecursesubmodules", "alternatelocation", "alternateerrorstrategy",
				"propagatebranches"},
			"remote": {"proxy", "uploadpack", "receivepack", "vcs", "skipdefaultupdate", "skipfetchall",
				"followremotehead"},
			"gpg": {"format"},
		}
	})
)

var (
	inertGitSections = []string{"user", "author", "committer", "color", "init", "advice", "push", "pull", "rerere",
		"column", "feature", "index", "pack", "safe", "help", "versionsort", "gitk", "status", "grep", "blame",
		"worktree", "fsck"}
	inertGitNames = sync.OnceValue(func() map[string][]string {
		return map[string][]string{
			"core": {
				"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode",
				"symlinks", "autocrlf",
				"eol", "safecrlf", "quotepath", "abbrev", "untrackedcache", "preloadindex", "fscache", "longpaths",
				"compression",
				"bigfilethreshold", "deltabasecachelimit", "packedgitlimit", "packedgitwindowsize", "fsync",
				"fsyncmethod", "attributesfile", "excludesfile", "whitespace", "pagertty", "sparsecheckout",
				"sparsecheckoutcone", "trustctime", "checkstat", "commentchar", "splitindex", "protecthfs",
				"protectntfs",
			},
			"branch": {"remote", "merge", "rebase", "description", "autosetupmerge", "autosetuprebase", "sort",
				"vscode-merge-base", "gh-merge-base"},
			"remote": {"url", "fetch", "pushurl", "tagopt", "prune", "mirror", "gh-resolved", "push"},
			"merge":  {"conflictstyle", "ff", "log", "stat", "renames"},
			"diff": {"renames", "algorithm", "colormoved", "context", "mnemonicprefix", "noprefix", "renamelimit",
				"submodule", "indentheuristic", "xfuncname", "funcname", "wordregex", "binary", "cachetextconv",
				"statgraphwidth", "interhunkcontext", "ignoresubmodules"},
			"fetch": {"prune", "prunetags", "parallel"}, "commit": {"verbose", "cleanup"}, "log": {"date", "decorate",
				"abbrevcommit", "follow"},
			"status": {"short", "branch", "showuntrackedfiles"}, "extensions": {"objectformat", "refstorage",
				"relativeworktrees"}, "gc": {"auto", "autodetach"},
			"maintenance": {"auto", "strategy"}, "submodule": {"active", "recurse"}, "lfs": {"repositoryformatversion"},
		}
	})
)
