package policy

import (
	"slices"
	"strings"

	"pawl/text/shell"
)

// What reaches beyond the machine, or cannot be taken back by anything that pawl keeps, is a class of its own: a person
// has to have said yes to the very calls. It is recognised by what the words of a command say; what hides in a program
// is held by the walls.

// beyond asks for a person's word about the command.
func (c *command) beyond() { c.judge.find(Ask, CodeOutward, text(c.argv)) }

// reachesOthers reports whether a program of others' machines would do more than look.
func reachesOthers(c *command) bool {
	name, first := c.argv[0].Base(), c.operand(0)
	if looks, ok := lookers[name]; ok {
		// What the words of such a program are is not known where they are made.
		return !slices.Contains(looks, first) && !slices.Contains(looks, c.operand(1)) &&
			!(len(c.args) == 1 && slices.Contains(versionFlags, c.args[0].Text))
	}
	switch name {
	case "rsync":
		return slices.ContainsFunc(c.args,
			func(w shell.Word) bool { return !w.Flag() && strings.Contains(w.Text, ":") })
	case "curl", "wget", "http", "xh":
		return slices.ContainsFunc(c.args, func(w shell.Word) bool {
			return slices.Contains(sends, w.Text) || strings.HasPrefix(w.Text, "-XP") ||
				strings.HasPrefix(w.Text, "-XD") || strings.HasPrefix(w.Text, "--upload-file=")
		}) && !local(c.args)
	case "poetry", "uv", "hatch", "flit", "pdm":
		return first == "publish"
	case "gem":
		return first == "push" || first == "yank"
	case "psql", "mysql", "mongosh", "redis-cli":
		whole := strings.ToLower(text(c.argv))
		return hasAny(whole, "drop ", "delete ", "truncate ", "update ", "flushall", "flushdb", "dropdatabase")
	}
	return false
}

// operand returns the n-th word that is no option.
func (c *command) operand(n int) string {
	for _, w := range c.args {
		if w.Flag() {
			continue
		}
		if n == 0 {
			return w.Text
		}
		n--
	}
	return ""
}

// goesOut reports whether a command that is on no list is named after what leaves the machine, or is a tool that
// overwrites disks or puts machines down.
func goesOut(c *command) bool {
	name := c.argv[0].Base()
	switch {
	case slices.Contains(breakers, name) || strings.HasPrefix(name, "mkfs"):
		return true
	case name == "dd" || name == "tee" || name == "cp":
		return slices.ContainsFunc(c.args, func(w shell.Word) bool {
			t := strings.TrimPrefix(w.Text, "of=")
			return strings.HasPrefix(t, "/dev/") && t != "/dev/null" && t != "/dev/zero" && t != "/dev/urandom" &&
				!strings.HasPrefix(t, "/dev/std") && !strings.HasPrefix(w.Text, "if=")
		})
	case slices.Contains([]string{"npm", "yarn", "pnpm", "bun", "cargo", "dart", "flutter"}, name) &&
		slices.Contains([]string{"publish", "unpublish", "yank", "owner"}, c.operand(0)):
		return true
	case matches(c.judge.prof.AllowedCommands, c.argv):
		return false // the user's own settings name it
	}
	if outwardName(name) {
		return true
	}
	for i := range 3 {
		if t := c.operand(i); t != "" && outwardName(t[strings.LastIndexByte(t, '/')+1:]) {
			return true
		}
	}
	return false
}

// outwardName reports whether the name of a target, a script or a program says that it leaves the machine.
func outwardName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(":-_.", r) }) {
		if slices.Contains(outwardWords, part) {
			return true
		}
	}
	return false
}

var (
	outwardWords = []string{"deploy", "publish", "release", "push", "prod", "production"}
	breakers     = []string{"fdisk", "sfdisk", "sgdisk", "parted", "wipefs", "shred", "shutdown", "reboot", "halt",
		"poweroff", "sendmail", "mail", "mailx", "mutt", "twine", "goreleaser", "dropdb"}
	sends = []string{"-T", "--upload-file", "-XPOST", "-XPUT", "-XDELETE", "-XPATCH", "POST", "PUT", "DELETE",
		"PATCH", "--post-data", "--post-file", "-d", "--data", "--data-raw", "--data-binary", "-F", "--form"}

	// lookers are programs that work on machines and services of others, each with the words by which it only looks.
	lookers = map[string][]string{
		"ssh": nil, "scp": nil, "sftp": nil, "ftp": nil, "telnet": nil, "ssh-copy-id": nil, "twine": {"check"},
		"gh":   {"view", "list", "status", "diff", "checks", "search", "browse"},
		"glab": {"view", "list", "status", "diff"}, "aws": {"ls", "sts", "describe"}, "gcloud": {"list",
			"describe"}, "az": {"list", "show"},
		"kubectl": {"get", "describe", "logs", "top", "explain", "version"}, "helm": {"list", "ls", "status",
			"template", "lint", "get", "history"},
		"terraform": {"plan", "show", "output", "validate", "fmt"},
		"docker":    {"ps", "images", "build", "inspect", "logs", "version", "info", "run", "compose"}, "podman": {"ps",
			"images", "build", "inspect", "logs", "version", "info", "run"},
	}
)
