package policy

import (
	"slices"
	"strings"

	"pawl/text/shell"
)

// checkGit judges git. Reading commands pass where the configuration that they obey is known to name no program;
// commands that move references or talk to others are asked for; and so is anything that is not known, since it may be
// an alias.
func checkGit(c *command, args []shell.Word) {
	rest := args
	for len(rest) > 0 && rest[0].Flag() {
		if rest[0].Dynamic || !slices.Contains([]string{"--no-pager", "-P", "--no-optional-locks",
			"--literal-pathspecs"}, rest[0].Text) {
			c.forbidden(rest[0].Text)
			transports(c)
			c.judge.opaque(c.argv, c.cwds)
			return
		}
		rest = rest[1:]
	}
	if len(rest) == 0 || rest[0].Unsure() {
		c.unlisted(CodeNotAllowlisted)
		return
	}
	sub, operands := rest[0].Text, rest[1:]
	transports(c)
	readsOnly := slices.Contains(gitReads, sub) && gitReadsOnly(sub, operands)
	switch {
	case slices.Contains(gitRemote, sub):
		if slices.Contains(gitSends, sub) || sub == "lfs" && c.operand(1) == "push" || sub == "svn" &&
			c.operand(1) == "dcommit" {
			c.beyond()
		}
		c.judge.connect(text(c.argv))
		gitWrite(c, sub, operands)
	case readsOnly:
		gitRead(c, sub, operands)
	case slices.Contains(gitWrites, sub), slices.Contains(gitReads, sub):
		gitWrite(c, sub, operands)
	default:
		c.unlisted(CodeNotAllowlisted)
		return
	}
	gitConfig(c, readsOnly)
}

// gitConfig asks where git's configuration could make it run a program. For a read in a worktree of the run it asks
// nothing: any check may start the same program there without a question.
func gitConfig(c *command, reads bool) {
	if reads && c.judge.own {
		return
	}
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
func gitReadsOnly(sub string, args []shell.Word) bool {
	when, both := gitReadsWhen[sub]
	return !both || when(args)
}

// gitReadsWhen says when a command that can also change the repository does not.
var gitReadsWhen = map[string]func(args []shell.Word) bool{
	"branch":   listsBranches,
	"tag":      leads("", "-l", "--list", "--points-at", "--contains"),
	"stash":    leads("list", "show"),
	"worktree": leads("list"),
	"remote": func(args []shell.Word) bool {
		return leads("", "get-url")(args) || len(args) == 1 && args[0].Text == "-v"
	},
	"reflog": func(args []shell.Word) bool {
		return len(args) == 0 || args[0].Text == "show" || strings.HasPrefix(args[0].Text, "-")
	},
	"config": func(args []shell.Word) bool {
		plain := []string{"user.name", "user.email", "init.defaultbranch", "core.autocrlf"}
		return len(args) == 2 && leads("--get", "get")(args) && slices.Contains(plain, strings.ToLower(args[1].Text))
	},
	"symbolic-ref": func(args []shell.Word) bool {
		if len(args) == 2 && leads("--short", "-q")(args) {
			args = args[1:]
		}
		return len(args) == 1 && !args[0].Flag()
	},
}

// leads reports whether the first of the arguments is one of the words; "" stands for none at all.
func leads(words ...string) func(args []shell.Word) bool {
	return func(args []shell.Word) bool {
		if len(args) == 0 {
			return slices.Contains(words, "")
		}
		return args[0].Text != "" && slices.Contains(words, args[0].Text)
	}
}

// listsBranches reports whether git branch names nothing but what it is to show.
func listsBranches(args []shell.Word) bool {
	const changes = "-d -D -m -M -c -C -f -u --delete --move --copy --force --set-upstream-to --unset-upstream " +
		"--edit-description --track --create-reflog"
	filters := []string{"--list", "-l", "--contains", "--merged", "--no-merged", "--points-at", "--sort"}
	for i, w := range args {
		if option(changes, w.Text, false) || !w.Flag() && (i == 0 || !slices.Contains(filters, args[i-1].Text)) {
			return false
		}
	}
	return true
}

// gitRead judges the options and operands of a reading command.
func gitRead(c *command, sub string, args []shell.Word) {
	ask := "--output --open-files-in-pager --ext-diff --textconv --show-signature --paginate --upload-pack --exec --filters --no-index --contents --output-directory --exclude-from --exclude-per-directory"
	if sub == "grep" {
		ask += " -O"
	}
	ended, pattern := false, sub == "grep"
	for _, w := range args {
		switch {
		case w.Dynamic:
			c.judge.guess(w)
		case w.Text == "--":
			ended = true
		case w.StartsOpen() && !ended:
			c.judge.find(Ask, CodeDynamic, w.Text)
		case w.Flag() && !ended:
			if option(ask, w.Text, false) && !slices.Contains(gitSafe, strings.SplitN(w.Text, "=", 2)[0]) ||
				strings.Contains(w.Text, "%G") {
				c.forbidden(w.Text)
			}
		case sub == "config":
		case pattern && !ended && !slices.ContainsFunc(args,
			func(w shell.Word) bool { return option("-e -f --and", w.Text, false) }):
			pattern = false
		default:
			gitOperandPath(c, w)
		}
	}
}

// gitSafe are options that happen to begin like a dangerous one.
var gitSafe = []string{"--no", "--exclude", "--exclude-standard", "--ext"}

// gitOperandPath judges a revision or a path, or a path in a revision.
func gitOperandPath(c *command, w shell.Word) {
	t := w.Text
	if strings.HasPrefix(t, ":/") || strings.HasPrefix(t, ":!") || strings.HasPrefix(t, ":^") {
		return
	}
	if _, p, ok := strings.Cut(t, ":"); ok {
		t = p
	}
	if t == "" {
		return
	}
	w.Text = t
	c.judge.file(w, OpRead, c.cwds)
}

// gitWrite asks about a command that changes the repository.
func gitWrite(c *command, sub string, args []shell.Word) {
	c.unlisted(CodeGitWrite)
	grave, ended := slices.Contains(gitGrave, sub), false
	for _, w := range args {
		switch t := w.Text; {
		case slices.Contains(gitForces, t):
			grave = true
		case t == "--", t == "." && (sub == "checkout" || sub == "restore"):
			ended, grave = true, grave || sub == "checkout"
		case hasAnyPrefix(t, "--exec", "--upload-pack", "--receive-pack"),
			t == "-u" && sub != "push" && sub != "add", t == "-x" && sub != "cherry-pick":
			c.forbidden(t)
		case w.Flag() && !ended:
		case !w.Dynamic && (ended || slices.Contains(gitTakesFiles, sub)):
			gitOperandPath(c, w)
		}
	}
	if grave {
		c.ask(CodeDestructive)
	}
}

var (
	gitReads = []string{
		"status", "diff", "log", "show", "blame", "annotate", "ls-files", "ls-tree", "rev-parse", "describe",
		"shortlog", "rev-list",
		"cat-file", "merge-base", "name-rev", "for-each-ref", "show-ref", "symbolic-ref", "branch", "tag", "remote",
		"stash",
		"worktree", "config", "grep", "count-objects", "check-ignore", "check-attr", "diff-tree", "diff-index",
		"diff-files",
		"range-diff", "reflog", "cherry", "whatchanged", "version",
	}
	gitWrites = []string{
		"add", "commit", "checkout", "switch", "restore", "reset", "merge", "rebase", "cherry-pick", "revert", "rm",
		"mv", "apply", "am",
		"init", "clean", "gc", "prune", "update-index", "update-ref", "read-tree", "write-tree", "commit-tree",
		"hash-object", "notes",
		"filter-branch", "replace", "bisect", "sparse-checkout", "pack-refs", "repack", "difftool", "mergetool",
		"format-patch", "archive",
		"bundle", "credential", "maintenance", "stage", "fsck", "checkout-index",
	}
	gitRemote = []string{
		"push", "fetch", "pull", "clone", "ls-remote", "submodule", "send-email", "request-pull", "lfs", "svn", "p4",
		"daemon", "http-fetch",
		"fetch-pack", "send-pack", "upload-pack", "receive-pack", "instaweb",
	}
	// gitSends are those that give something to others.
	gitSends = []string{"push", "send-email", "request-pull", "send-pack", "http-push"}
	gitGrave = []string{"push", "clean", "gc", "prune", "filter-branch", "update-ref", "repack"}
	// gitForces are words by which a command destroys.
	gitForces = []string{"--hard", "-D", "--force", "-f", "--delete", "drop", "clear", "expire"}
	// gitTakesFiles are those whose operands are files.
	gitTakesFiles = []string{"add", "rm", "mv", "restore", "apply", "am"}
)
