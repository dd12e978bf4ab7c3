package policy

import (
	"slices"
	"strings"

	"pawl"
	"pawl/text/shell"
)

// class says what a known command does at most.
type class int

// The classes, from the most harmless.
const (
	reads  class = iota // looks at files of the workspace
	writes              // changes the files that it names
	builds              // runs the project's own code and writes where its tools write
)

// rule says what is known of a command: which options make it something else, and what its operands are.
type rule struct {
	class class
	// ask are options that make the command run a program, write a file or leave the workspace.
	ask string
	// only, where it is set, are the only options that are known to be harmless.
	only string
	// out are options whose value is a file that is written.
	out string
	// prose are options whose value is text rather than a path.
	prose string
	// exact says that options are whole words with one or two dashes, as in Go, rather than letters that can be joined
	// and long names that can be cut short.
	exact bool
	// short says, beside exact, that a letter may have its value attached and that a long name may be cut short.
	short bool
	// text says that no operand is a path.
	text bool
	// lead is the number of operands before the first path, unless one of leadless is given.
	lead     int
	leadless string
	// shun are words that the operands before the first path may not hold.
	shun string
	// most is the greatest number of operands; 0 means any.
	most int
	// check, where it is set, judges the arguments instead of all of the above.
	check func(c *command, args []shell.Word)
}

// program judges a command that is neither a wrapper nor a builtin.
func (c *command) program() {
	switch {
	case slices.Contains(privileged, c.argv[0].Base()):
		c.judge.find(Deny, CodePrivilege, text(c.argv))
	case slices.Contains(networked, c.argv[0].Base()):
		c.judge.fetched = c.judge.fetched || slices.Contains(probes, c.argv[0].Base())
		judgeRemote(c)
	default:
		if r, args, ok := c.lookUp(); ok {
			c.apply(r, args)
			return
		}
		c.unknown()
	}
}

// lookUp finds the rule of a command and the arguments that it applies to.
func (c *command) lookUp() (rule, []shell.Word, bool) {
	if len(c.args) == 1 && slices.Contains(versioned, c.name) && slices.Contains(versionFlags, c.args[0].Text) {
		return rule{text: true}, nil, true
	}
	subcommands, ok := known().subcommands[c.name]
	if !ok {
		r, ok := known().programs[c.name]
		return r, c.args, ok
	}
	if len(c.args) == 0 || c.args[0].Unsure() || c.args[0].Pattern {
		return rule{}, nil, false
	}
	r, ok := subcommands[c.args[0].Text]
	return r, c.args[1:], ok
}

// apply judges the arguments of a command by its rule.
func (c *command) apply(r rule, args []shell.Word) {
	if c.judge.prof.ReadOnly && r.class != reads {
		c.judge.find(Deny, CodeReadOnly, text(c.argv))
	}
	if r.check != nil {
		r.check(c, args)
		return
	}
	if slices.ContainsFunc(args, func(w shell.Word) bool { return w.Flag() && option(r.leadless, w.Text, r.exact) }) {
		r.lead = 0
	}
	operands, ended, out := 0, false, false
	for _, w := range args {
		switch {
		case out:
			c.judge.file(w, OpWrite, c.cwds)
			out = false
		case w.Dynamic && (!r.text || r.ask != "" && !w.Quoted):
			c.judge.guess(w)
			operands++
		case w.Text == "--" && !ended:
			ended = true
		case w.Flag() && !ended:
			out = c.option(r, w)
		default:
			operands++
			c.argument(r, w, operands, ended)
		}
	}
	if r.most > 0 && operands > r.most && !c.judge.own {
		c.ask(CodeDangerousFlag, text(args))
	}
}

// argument judges the n-th operand of a command, counted from 1. Ended says that none is an option any more.
func (c *command) argument(r rule, w shell.Word, n int, ended bool) {
	if w.StartsOpen() && !ended && r.ask != "" && r.class != builds {
		c.judge.pattern(w)
	}
	op := OpRead
	if r.class == writes {
		op = OpWrite
	}
	if n <= r.lead && hasAny(w.Text, strings.Fields(r.shun)...) {
		c.flagged(w.Text)
	}
	// The names beside the workspace tell nothing where walls hold the command.
	lists := c.judge.walled && c.name == "ls" && (w.Text == ".." || w.Text == "../")
	switch {
	case n > r.lead && !r.text && !number(w.Text) && !lists:
		c.judge.file(w, op, c.cwds)
	case c.loose:
		c.judge.opaque([]shell.Word{c.argv[0], w}, c.cwds) // it may be what the option is about
	}
}

// option judges one option, and reports whether the next word is a file that the command writes.
func (c *command) option(r rule, w shell.Word) (writesNext bool) {
	_, value, joined := strings.Cut(w.Text, "=")
	letter, attached := w.Text[:2], w.Text[2:]
	single := w.Text[1] != '-'
	if single && !joined && attached != "" && option(r.out, letter, true) && !option(r.out, w.Text, true) {
		value, joined = attached, true
	}
	switch {
	case option(r.ask, w.Text, r.exact), r.short && abbreviated(r.ask, w.Text):
		c.flagged(w.Text)
	case option(r.out, w.Text, r.exact), joined && option(r.out, letter, true):
		if joined {
			c.judge.file(shell.Word{Text: value, Dynamic: w.Dynamic, Pattern: w.Pattern}, OpWrite, c.cwds)
		}
		return !joined
	case r.only != "" && !option(r.only, w.Text, true):
		c.flagged(w.Text)
	case r.text, option(r.prose, w.Text, true):
	case joined && value != "":
		c.judge.file(shell.Word{Text: value, Pattern: w.Pattern, Home: value[0] == '~'}, OpRead, c.cwds)
	case single && len(attached) > 2 && (hasAnyPrefix(attached, "/", ".") || strings.Contains(attached, "../")):
		c.judge.file(shell.Word{Text: attached, Pattern: w.Pattern}, OpRead, c.cwds)
	}
	return false
}

// flagged asks about an option that makes a command run a program or write a file, unless the user allowed the command
// together with it. Where walls hold it and the tree is its own, only a path that leads out is asked about.
func (c *command) flagged(flag string) {
	if c.judge.own {
		c.judge.atLeast(pawl.RiskMedium)
		c.judge.attached(shell.Literal(flag), c.cwds)
		c.loose = true
		return
	}
	c.forbidden(flag)
}

// forbidden asks about an option wherever the command runs.
func (c *command) forbidden(flag string) {
	for _, p := range c.judge.prof.AllowedCommands {
		if slices.Contains(strings.Fields(p), flag) && matches([]string{p}, c.argv) {
			return
		}
	}
	c.ask(CodeDangerousFlag, flag)
}

// option reports whether a word is one of the options of a list. Unless exact, a long option may be cut short and short
// ones joined, as GNU programs allow.
func option(list, text string, exact bool) bool {
	if list == "" {
		return false
	}
	head, _, _ := strings.Cut(text, "=")
	for _, o := range strings.Fields(list) {
		switch {
		case head == o:
			return true
		case exact:
			name, bare := strings.TrimLeft(head, "-"), strings.TrimLeft(o, "-")
			if len(bare) > 1 && strings.EqualFold(name, bare) {
				return true
			}
		case strings.HasPrefix(o, "--"):
			if len(head) > 2 && strings.HasPrefix(o, head) {
				return true
			}
		case len(o) == 2 && len(text) > 1 && text[1] != '-':
			if strings.IndexByte(text[1:], o[1]) >= 0 {
				return true
			}
		}
	}
	return false
}

// abbreviated reports whether a word is a letter of the list with its value attached, or the beginning of a long name.
func abbreviated(list, text string) bool {
	head, _, _ := strings.Cut(text, "=")
	for _, o := range strings.Fields(list) {
		if len(o) == 2 && strings.HasPrefix(text, o) || len(head) > 4 && strings.HasPrefix(head, "--") &&
			strings.HasPrefix(o, head) {
			return true
		}
	}
	return false
}

// listed reports whether a word is one of a list, whose words blanks separate.
func listed(list, text string) bool { return slices.Contains(strings.Fields(list), text) }

// number reports whether an operand is a count rather than a path.
func number(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// transports refuses the forms of an address that make a client run a program.
func transports(c *command) {
	for _, w := range c.args {
		if strings.Contains(w.Text, "ext::") {
			c.judge.find(Deny, CodeNetwork, w.Text)
		}
		if strings.Contains(strings.ToLower(w.Text), "proxycommand") ||
			strings.Contains(strings.ToLower(w.Text), "localcommand") {
			c.judge.find(Deny, CodeDangerousFlag, text(c.argv), w.Text)
		}
	}
}

// destructive grades a command that is not known by the words that usually mean loss (docs/spec/workflow.md#ehrb).
func destructive(j *judge, argv []shell.Word) {
	whole := strings.ToLower(text(argv))
	for _, phrase := range destructivePhrases {
		if strings.Contains(whole, phrase) && !(j.own && phrase == "kill -9") {
			j.find(Ask, CodeDestructive, text(argv))
			return
		}
	}
	name := argv[0].Base()
	if slices.Contains(destructivePrograms, name) || strings.HasPrefix(name, "mkfs") {
		j.find(Ask, CodeDestructive, text(argv))
		return
	}
	for _, w := range argv[1:] {
		_, value, joined := strings.Cut(w.Text, "=")
		if !joined {
			value = w.Text
		}
		if lower := strings.ToLower(value); slices.Contains(destructiveWords, lower) &&
			!(j.own && slices.Contains(heldWords, lower)) {
			j.find(Ask, CodeDestructive, text(argv))
			return
		}
	}
}

var (
	destructivePhrases = []string{"drop table", "drop database", "drop schema", "truncate table", "delete from",
		"push -f", "kill -9"}
	destructivePrograms = []string{"shutdown", "reboot", "halt", "poweroff", "fdisk", "parted", "shred", "wipefs",
		"dropdb", "killall", "pkill"}
	// heldWords are those of them that mean no loss in a tree that is thrown away or landed as a whole.
	heldWords        = []string{"--force", "--hard", "0777", "777"}
	destructiveWords = []string{"--force", "--hard", "prod", "production", "live", "0777", "777", "--no-preserve-root"}

	privileged = []string{
		"sudo", "su", "doas", "pkexec", "run0", "runuser", "setpriv", "chroot", "unshare", "nsenter", "mount", "umount",
		"insmod", "modprobe", "rmmod", "capsh", "setcap", "sysctl", "passwd", "useradd", "usermod", "visudo",
		"iptables", "nft",
		"bwrap", "pawl", "systemctl", "systemd-run", "crontab", "at", "batch",
	}
	networked = []string{
		"curl", "wget", "nc", "ncat", "netcat", "socat", "ssh", "scp", "sftp", "rsync", "ftp", "telnet", "ping", "dig",
		"nslookup",
		"host", "traceroute", "aria2c", "http", "https", "xh", "gh", "glab", "aws", "gcloud", "az", "kubectl", "helm",
		"terraform",
		"psql", "mysql", "redis-cli", "mongosh", "pip", "pip3", "pipx", "uv", "poetry", "gem", "apt", "apt-get", "brew",
		"dnf", "apk",
		"docker", "podman", "ssh-copy-id", "twine", "rustup", "nvm", "govulncheck", "openssl",
	}
	// allPowerful are programs that run whatever their arguments say. A pattern of the user's may not begin with one.
	allPowerful = []string{
		"bash", "sh", "dash", "zsh", "ksh", "ash", "fish", "eval", "exec", "env", "xargs", "command", "builtin",
		"source", ".",
		"sudo", "su", "doas", "busybox", "toybox", "nohup", "timeout", "time", "nice", "stdbuf", "setsid",
	}

	versionFlags = []string{"--version", "-V", "version", "-version", "-v", "--help", "-h"}
	versioned    = []string{
		"go", "node", "npm", "npx", "yarn", "pnpm", "bun", "deno", "python", "python3", "pip", "pip3", "ruby", "gem",
		"bundle", "perl",
		"php", "composer", "java", "javac", "mvn", "gradle", "cargo", "rustc", "rustup", "gcc", "g++", "clang",
		"clang++", "cc",
		"c++", "make", "cmake", "ctest", "ninja", "dotnet", "flutter", "dart", "docker", "git", "tsc", "jest", "eslint",
		"prettier", "pytest", "ruff", "black", "mypy", "bash", "uv", "poetry", "gh", "kubectl", "terraform", "psql",
		"kotlinc", "swift", "zig",
	}
)
