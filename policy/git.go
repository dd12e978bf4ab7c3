package policy

import (
	"slices"
	"strings"
)

// checkGit judges git. Reading commands pass where the configuration that they obey is known to name no program; commands
// that move references or talk to others are asked for; and so is anything that is not known, since it may be an alias.
func checkGit(c *command, args []word) {
	rest := args
	for len(rest) > 0 && rest[0].flag() {
		if rest[0].dynamic || !slices.Contains([]string{"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"}, rest[0].text) {
			c.forbidden(rest[0].text)
			transports(c)
			c.judge.opaque(c.argv, c.cwds)
			return
		}
		rest = rest[1:]
	}
	if len(rest) == 0 || rest[0].dynamic || rest[0].expanded {
		c.unlisted(CodeNotAllowlisted)
		return
	}
	sub, operands := rest[0].text, rest[1:]
	transports(c)
	switch {
	case slices.Contains(gitRemote, sub):
		if slices.Contains(gitSends, sub) || sub == "lfs" && c.operand(1) == "push" || sub == "svn" && c.operand(1) == "dcommit" {
			c.beyond()
		}
		c.judge.connect(text(c.argv))
		gitWrite(c, sub, operands)
	case slices.Contains(gitWrites, sub):
		gitWrite(c, sub, operands)
	case slices.Contains(gitReads, sub) && gitReadsOnly(sub, operands):
		gitRead(c, sub, operands)
	case slices.Contains(gitReads, sub):
		gitWrite(c, sub, operands)
	default:
		c.unlisted(CodeNotAllowlisted)
		return
	}
	gitConfig(c, slices.Contains(gitReads, sub) && gitReadsOnly(sub, operands))
}

// gitConfig asks where git's configuration could make it run a program.
func gitConfig(c *command, reads bool) {
	repo := c.judge.req.Repo
	hazards := repo.Hazards
	if !reads {
		hazards = slices.Concat(hazards, repo.Writing)
	}
	switch {
	case !repo.Inspected:
		c.judge.find(Ask, CodeGitConfig, "?")
	case len(hazards) > 0:
		c.judge.find(Ask, CodeGitConfig, strings.Join(hazards, ", "))
	}
	for _, cwd := range c.cwds {
		if cwd != "" {
			// A folder may hold a repository of its own, with a configuration that nobody looked at.
			c.judge.find(Ask, CodeGitConfig, cwd)
		}
	}
}

// gitReadsOnly reports whether a command that can do both is used for reading.
func gitReadsOnly(sub string, args []word) bool {
	first := ""
	if len(args) > 0 {
		first = args[0].text
	}
	switch sub {
	case "branch":
		for i, w := range args {
			if option("-d -D -m -M -c -C -f -u --delete --move --copy --force --set-upstream-to --unset-upstream --edit-description --track --create-reflog", w.text, false) {
				return false
			}
			if !w.flag() && !(i > 0 && slices.Contains([]string{"--list", "-l", "--contains", "--merged", "--no-merged", "--points-at", "--sort"}, args[i-1].text)) {
				return false
			}
		}
		return true
	case "tag":
		return len(args) == 0 || first == "-l" || first == "--list" || first == "--points-at" || first == "--contains"
	case "remote":
		return len(args) == 0 || first == "-v" && len(args) == 1 || first == "get-url"
	case "stash":
		return first == "list" || first == "show"
	case "worktree":
		return first == "list"
	case "reflog":
		return len(args) == 0 || first == "show" || first == "-n" || strings.HasPrefix(first, "-")
	case "config":
		return len(args) == 2 && (first == "--get" || first == "get") && slices.Contains([]string{"user.name", "user.email", "init.defaultbranch", "core.autocrlf"}, strings.ToLower(args[1].text))
	case "symbolic-ref":
		return len(args) == 1 && !args[0].flag() || len(args) == 2 && (first == "--short" || first == "-q") && !args[1].flag()
	}
	return true
}

// gitRead judges the options and operands of a reading command.
func gitRead(c *command, sub string, args []word) {
	ask := "--output --open-files-in-pager --ext-diff --textconv --show-signature --paginate --upload-pack --exec --filters --no-index --contents --output-directory --exclude-from --exclude-per-directory"
	if sub == "grep" {
		ask += " -O"
	}
	ended, pattern := false, sub == "grep"
	for _, w := range args {
		switch {
		case w.dynamic:
			c.judge.guess(w)
		case w.text == "--":
			ended = true
		case w.pattern && !ended && strings.ContainsRune("*?[", rune(w.text[0])):
			c.judge.find(Ask, CodeDynamic, w.text)
		case w.flag() && !ended:
			if option(ask, w.text, false) && !slices.Contains(gitSafe, strings.SplitN(w.text, "=", 2)[0]) || strings.Contains(w.text, "%G") {
				c.forbidden(w.text)
			}
		case sub == "config":
		case pattern && !ended && !slices.ContainsFunc(args, func(w word) bool { return option("-e -f --and", w.text, false) }):
			pattern = false
		default:
			gitOperandPath(c, w)
		}
	}
}

// gitSafe are options that happen to begin like a dangerous one.
var gitSafe = []string{"--no", "--exclude", "--exclude-standard", "--ext"}

// gitOperandPath judges a revision or a path, or a path in a revision.
func gitOperandPath(c *command, w word) {
	t := w.text
	if strings.HasPrefix(t, ":/") || strings.HasPrefix(t, ":!") || strings.HasPrefix(t, ":^") {
		return
	}
	if _, p, ok := strings.Cut(t, ":"); ok {
		t = p
	}
	if t == "" {
		return
	}
	w.text = t
	c.judge.file(w, OpRead, c.cwds)
}

// gitWrite asks about a command that changes the repository.
func gitWrite(c *command, sub string, args []word) {
	c.unlisted(CodeGitWrite)
	grave := slices.Contains(gitGrave, sub)
	ended := false
	for _, w := range args {
		t := w.text
		switch {
		case t == "--hard" || t == "-D" || t == "--force" || t == "-f" || t == "--delete" || t == "drop" || t == "clear" || t == "expire":
			grave = true
		case t == "--" || t == "." && (sub == "checkout" || sub == "restore"):
			ended, grave = true, grave || sub == "checkout"
		case strings.HasPrefix(t, "--exec") || strings.HasPrefix(t, "--upload-pack") || strings.HasPrefix(t, "--receive-pack") || t == "-u" && sub != "push" && sub != "add" || t == "-x" && sub != "cherry-pick":
			c.forbidden(t)
		case w.flag() && !ended:
		case !w.dynamic && (ended || sub == "add" || sub == "rm" || sub == "mv" || sub == "restore" || sub == "apply" || sub == "am"):
			gitOperandPath(c, w)
		}
	}
	if grave {
		c.ask(CodeDestructive)
	}
}

var (
	gitReads = []string{
		"status", "diff", "log", "show", "blame", "annotate", "ls-files", "ls-tree", "rev-parse", "describe", "shortlog", "rev-list",
		"cat-file", "merge-base", "name-rev", "for-each-ref", "show-ref", "symbolic-ref", "branch", "tag", "remote", "stash",
		"worktree", "config", "grep", "count-objects", "check-ignore", "check-attr", "diff-tree", "diff-index", "diff-files",
		"range-diff", "reflog", "cherry", "whatchanged", "version",
	}
	gitWrites = []string{
		"add", "commit", "checkout", "switch", "restore", "reset", "merge", "rebase", "cherry-pick", "revert", "rm", "mv", "apply", "am",
		"init", "clean", "gc", "prune", "update-index", "update-ref", "read-tree", "write-tree", "commit-tree", "hash-object", "notes",
		"filter-branch", "replace", "bisect", "sparse-checkout", "pack-refs", "repack", "difftool", "mergetool", "format-patch", "archive",
		"bundle", "credential", "maintenance", "stage", "fsck", "checkout-index",
	}
	gitRemote = []string{
		"push", "fetch", "pull", "clone", "ls-remote", "submodule", "send-email", "request-pull", "lfs", "svn", "p4", "daemon", "http-fetch",
		"fetch-pack", "send-pack", "upload-pack", "receive-pack", "instaweb",
	}
	// gitSends are those that give something to others.
	gitSends = []string{"push", "send-email", "request-pull", "send-pack", "http-push"}
	gitGrave = []string{"push", "clean", "gc", "prune", "filter-branch", "update-ref", "repack"}
)
