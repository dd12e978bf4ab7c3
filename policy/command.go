package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// record keeps a simple command and its name for the verdict.
func (j *judge) record(argv []word) {
	c := Call{Literal: true}
	for _, w := range argv {
		c.Argv = append(c.Argv, w.text)
		c.Literal = c.Literal && !w.dynamic && !w.expanded && !w.pattern
	}
	j.calls = append(j.calls, c)
	name := shorten(Display(argv[0].text))
	if !j.seen["n"+name] {
		j.seen["n"+name] = true
		j.names = append(j.names, name)
	}
}

// call judges one simple command: what wraps it, what it is, and what its arguments do.
func (j *judge) call(argv []word, cwds []string) outcome {
	if j.wraps++; j.wraps > maxDepth {
		j.wraps--
		j.find(Deny, CodeTooComplex, "nesting")
		return same(cwds)
	}
	defer func() { j.wraps-- }()
	if len(argv) == 0 {
		return same(cwds)
	}
	j.record(argv)
	name := argv[0]
	if name.dynamic || name.expanded || name.pattern || name.home || name.text == "" {
		j.find(Ask, CodeDynamic, name.text)
		j.opaque(argv, cwds)
		return same(cwds)
	}
	if j.matches(j.prof.DeniedCommands, argv) {
		j.find(Deny, CodeDeniedCommand, text(argv))
		return same(cwds)
	}
	c := &command{judge: j, name: name.text, argv: argv, args: argv[1:], cwds: cwds}
	switch {
	case name.text == "cd":
		return c.cd()
	case c.wrapper() || c.builtin():
		return same(cwds)
	}
	c.program()
	return same(cwds)
}

// command is one simple command while it is judged.
type command struct {
	judge *judge
	name  string
	argv  []word
	args  []word
	cwds  []string
	// loose says that an option was let pass of which it is not known whether the next word is its value.
	loose bool
}

// text returns the command as a person reads it.
func text(argv []word) string {
	parts := make([]string, 0, len(argv))
	n := 0
	for _, w := range argv {
		parts = append(parts, w.text)
		if n += len(w.text); n > maxArg {
			break
		}
	}
	return shorten(strings.Join(parts, " "))
}

// ask records a question about the command.
func (c *command) ask(code Code, args ...string) {
	c.judge.find(Ask, code, append([]string{text(c.argv)}, args...)...)
}

// matches reports whether one of the user's patterns is a prefix of a command.
func (j *judge) matches(patterns []string, argv []word) bool {
	for _, p := range patterns {
		words := strings.Fields(p)
		if len(words) == 0 || len(words) > len(argv) {
			continue
		}
		ok := true
		for i, w := range words {
			// A word that is not known is matched by nothing; it is asked for on its own.
			ok = ok && (w == argv[i].text || w == "*" && !argv[i].dynamic)
		}
		if ok {
			return true
		}
	}
	return false
}

// unknown judges a command that is on no list: where walls hold it and the tree is its own, only what leads out is asked
// about; elsewhere the command is, unless the user put it on a list.
func (c *command) unknown() {
	if c.judge.own && !goesOut(c) {
		c.judge.opaque(c.argv, c.cwds)
		c.strange()
		return
	}
	c.unlisted(CodeNotAllowlisted)
}

// unlisted asks about a command wherever it runs, unless the user put it on a list.
func (c *command) unlisted(code Code) {
	if c.judge.prof.ReadOnly {
		c.judge.find(Deny, CodeReadOnly, text(c.argv))
		return
	}
	if goesOut(c) {
		c.beyond()
	}
	if !c.judge.matches(c.judge.prof.AllowedCommands, c.argv) {
		c.ask(code)
	}
	c.judge.opaque(c.argv, c.cwds)
}

// opaque judges the words of a command whose meaning is not known: what looks like a path outside or like a protected or
// secret one is asked for, since the human who answers for the command has to see it.
func (j *judge) opaque(argv []word, cwds []string) {
	destructive(j, argv)
	for _, w := range argv[1:] {
		t := w.text
		if w.flag() {
			_, t, _ = strings.Cut(t, "=")
		}
		if t == "" || w.dynamic || len(t) > 4096 || strings.HasPrefix(t, "//") && slices.Contains(labelled, argv[0].base()) {
			continue
		}
		if w.home || strings.HasPrefix(t, "/") || strings.HasPrefix(t, "../") || t == ".." || strings.Contains(t, "/../") {
			for _, cwd := range cwds {
				if _, inside := j.resolve(cwd, t); w.home || !inside && !isCommon(j.territory, t) {
					j.find(Ask, CodePathEscape, t)
				}
			}
			continue
		}
		for _, cwd := range cwds {
			rel, inside := j.resolve(cwd, t)
			if !inside || rel == "" {
				continue
			}
			if d, code := classify(rel, OpWrite, w.pattern, j.prof.Sensitive); d == Deny {
				j.find(Ask, code, rel)
			} else if d, code := classify(rel, OpRead, w.pattern, nil); d == Deny {
				j.find(Ask, code, rel)
			}
		}
	}
}

// labelled are programs whose targets begin with two slashes, wherever they are in the workspace.
var labelled = []string{"bazel", "bazelisk", "buck2", "pants"}

// file judges a word that names a file for a known command.
func (j *judge) file(w word, op Op, cwds []string) {
	switch {
	case w.home:
		j.find(Deny, CodePathEscape, w.text)
		return
	case w.dynamic:
		j.guess(w)
		return
	case len(w.text) > 4096:
		j.find(Deny, CodePathForm, w.text)
		return
	}
	for _, cwd := range cwds {
		rel, inside := j.resolve(cwd, w.text)
		switch {
		case !inside && op == OpRead && isCommon(j.territory, w.text):
		case !inside:
			j.find(Deny, CodePathEscape, w.text)
		case rel != "":
			j.touch(rel, op, w.pattern)
		}
	}
}

// cd judges a change of folder, which decides what every later path means.
func (c *command) cd() outcome {
	args := c.args
	for len(args) > 0 && (args[0].text == "--" || args[0].text == "-P" || args[0].text == "-L") {
		args = args[1:]
	}
	if len(args) == 0 {
		c.judge.find(Deny, CodePathEscape, "~")
		return same(c.cwds)
	}
	w := args[0]
	if len(args) > 1 || w.dynamic || w.pattern || w.expanded || w.text == "-" || w.text == "" || w.flag() {
		c.judge.find(Ask, CodeDynamic, text(c.argv))
		return same(c.cwds)
	}
	var to []string
	for _, cwd := range c.cwds {
		rel, inside := c.judge.resolve(cwd, w.text)
		if w.home || !inside {
			c.judge.find(Deny, CodePathEscape, w.text)
			return same(c.cwds)
		}
		if rel == "." {
			rel = ""
		}
		to = append(to, rel)
	}
	return outcome{ok: union(to, nil), fail: c.cwds}
}

// wrapper unwraps a command that runs another one, and reports whether it was one.
func (c *command) wrapper() bool {
	switch c.name {
	case "env":
		unwrapEnv(c)
	case "timeout":
		unwrap(c, "-k -s --kill-after --signal", "--foreground --preserve-status -v --verbose", 1)
	case "nice":
		unwrap(c, "-n --adjustment", "", 0)
	case "nohup", "builtin":
		unwrap(c, "", "", 0)
	case "stdbuf":
		unwrap(c, "-i -o -e --input --output --error", "", 0)
	case "time":
		unwrap(c, "", "-p", 0)
	case "command":
		if len(c.args) > 0 && (c.args[0].text == "-v" || c.args[0].text == "-V") {
			return true
		}
		unwrap(c, "", "-p", 0)
	case "exec":
		unwrap(c, "", "", 0)
	case "xargs":
		unwrapXargs(c)
	case "bash", "sh", "dash", "zsh", "ksh", "ash":
		unwrapShell(c)
	default:
		return false
	}
	return true
}

// unwrap judges the command after the wrapper's own options and operands. Valued and plain are the options that are known;
// any other is asked for, because it may take the next word as its value or rename the program.
func unwrap(c *command, valued, plain string, operands int) {
	takes, flags := strings.Fields(valued), strings.Fields(plain)
	rest := c.args
	for len(rest) > 0 && rest[0].flag() {
		w := rest[0]
		head, _, joined := strings.Cut(w.text, "=")
		switch {
		case w.dynamic || w.expanded:
			c.ask(CodeDynamic)
			return
		case w.text == "--":
			rest = rest[1:]
		case slices.Contains(flags, w.text):
			rest = rest[1:]
			continue
		case slices.Contains(takes, head) && (joined && strings.HasPrefix(head, "--")):
			rest = rest[1:]
			continue
		case slices.Contains(takes, w.text) && len(rest) > 1:
			rest = rest[2:]
			continue
		case len(w.text) > 2 && w.text[1] != '-' && slices.Contains(takes, w.text[:2]):
			rest = rest[1:]
			continue
		case c.name == "nice" && strings.Trim(w.text[1:], "0123456789") == "":
			rest = rest[1:]
			continue
		default:
			c.ask(CodeDangerousFlag, w.text)
		}
		break
	}
	for range operands {
		if len(rest) == 0 || rest[0].dynamic || rest[0].expanded {
			c.ask(CodeDynamic)
			return
		}
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0].text == "cd" {
		c.ask(CodeDynamic) // where it leads is lost behind the wrapper
	}
	c.judge.call(rest, c.cwds)
}

// unwrapEnv judges assignments and the command behind them.
func unwrapEnv(c *command) {
	rest := c.args
	for len(rest) > 0 {
		w := rest[0]
		name, _, assigned := strings.Cut(w.text, "=")
		switch {
		case w.dynamic && !assigned:
			c.ask(CodeDynamic)
			return
		case w.text == "-i" || w.text == "-" || w.text == "--ignore-environment" || w.text == "--":
			rest = rest[1:]
		case (w.text == "-u" || w.text == "--unset") && len(rest) > 1:
			c.judge.variable(rest[1].text, true)
			rest = rest[2:]
		case w.flag():
			c.ask(CodeDangerousFlag, w.text)
			c.judge.opaque(c.argv, c.cwds)
			return
		case assigned:
			c.judge.variable(name, true)
			rest = rest[1:]
		default:
			c.judge.call(rest, c.cwds)
			return
		}
	}
}

// unwrapXargs judges the command that gets words from a pipe. Those words are not known.
func unwrapXargs(c *command) {
	rest := c.args
	for len(rest) > 0 && rest[0].flag() {
		switch t := rest[0].text; {
		case rest[0].dynamic || rest[0].expanded:
			c.ask(CodeDynamic)
			return
		case slices.Contains([]string{"-0", "-r", "-t", "--null", "--no-run-if-empty"}, t), c.judge.own && (t == "-I{}" || t == "-i"):
			rest = rest[1:]
		case c.judge.own && t == "-I" && len(rest) > 1 && rest[1].text == "{}":
			rest = rest[2:]
		case len(rest) > 1 && slices.Contains([]string{"-n", "-L", "-P", "-d", "-s"}, t):
			rest = rest[2:]
		case len(t) > 2 && strings.ContainsRune("nLPds", rune(t[1])):
			rest = rest[1:]
		default:
			c.ask(CodeDangerousFlag, t)
			return
		}
	}
	if len(rest) == 0 {
		return // xargs alone echoes
	}
	c.judge.call(append(filled(rest), piped()), c.cwds)
}

// piped is a word that another program puts in.
func piped() word { return word{text: "…", dynamic: true, expanded: true} }

// filled returns the words of a command in which braces stand for what another program puts in.
func filled(argv []word) []word {
	out := slices.Clone(argv)
	for i, w := range out {
		if i > 0 && strings.Contains(w.text, "{}") {
			out[i].dynamic, out[i].expanded = true, true
		}
	}
	return out
}

// unwrapShell judges bash -c and the like by what they would run.
func unwrapShell(c *command) {
	rest := c.args
	run := false
	for len(rest) > 0 && (rest[0].flag() || rest[0].text != "" && rest[0].text[0] == '+') {
		w := rest[0]
		switch {
		case w.dynamic || w.expanded:
			c.ask(CodeDynamic)
			return
		case w.text == "--version":
			return
		case w.text == "-n" && len(rest) > 1:
			for _, f := range rest[1:] {
				c.judge.file(f, OpRead, c.cwds)
			}
			return
		case w.text[0] == '-' && strings.Trim(w.text[1:], "ceuxo") == "":
			run = run || strings.Contains(w.text, "c")
			rest = rest[1:]
			if strings.HasSuffix(w.text, "o") {
				if len(rest) == 0 || rest[0].text != "pipefail" {
					c.ask(CodeDangerousFlag, w.text)
					return
				}
				rest = rest[1:]
			}
		default:
			c.ask(CodeDangerousFlag, w.text)
			rest = rest[1:]
			run = run || !strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "c")
		}
	}
	switch {
	case len(rest) == 0 || !run && (rest[0].dynamic || rest[0].text == "-" || strings.HasPrefix(rest[0].text, "/dev/")):
		// What comes through a pipe or a descriptor is not known to anybody.
		c.judge.blind = true
		c.unlisted(CodeNotAllowlisted)
		return
	case !run:
		c.unknown()
		return
	case rest[0].dynamic:
		c.judge.blind = true
	}
	switch c.name {
	case "sh", "dash", "ash":
		// Which shell this is depends on the machine, so the text is also judged as one reads it that knows nothing of
		// bash's own syntax: $'\'; x #' is one word to bash and two commands to such a shell.
		// The same text is not judged so again: shells inside each other would take twice as long for each of them.
		if id := "s" + strings.Join(c.cwds, "\x00") + "\x00\x00" + rest[0].text; !c.judge.seen[id] {
			c.judge.seen[id] = true
			calls := c.judge.calls
			c.nested(rest[0], syntax.LangPOSIX)
			c.judge.calls = calls
		}
	case "zsh", "ksh":
		c.unlisted(CodeNotAllowlisted) // their own syntax can run commands where bash sees none
	}
	c.nested(rest[0], syntax.LangBash)
	if c.judge.own {
		// The words behind the text are its parameters.
		c.judge.opaque(rest, c.cwds)
		for _, w := range rest[1:] {
			if w.dynamic {
				c.judge.guess(w)
			}
		}
	}
}

// nested judges shell text that is an argument.
func (c *command) nested(script word, kind syntax.LangVariant) {
	if script.dynamic || script.expanded {
		c.ask(CodeDynamic)
		return
	}
	if c.judge.shells++; c.judge.shells > maxDepth {
		c.judge.find(Deny, CodeTooComplex, "nesting")
	} else if strings.TrimSpace(script.text) != "" {
		c.judge.script(script.text, kind, c.cwds)
	}
	c.judge.shells--
}

// builtin judges the builtins of the shell, and reports whether the command was one.
func (c *command) builtin() bool {
	switch c.name {
	case ":", "true", "false", "exit", "return", "break", "continue", "shift", "times", "pwd":
	case "jobs", "fg", "bg":
		if len(c.args) > 0 {
			c.ask(CodeShellFeature) // jobs -x runs a command
		}
	case "set":
		c.set()
	case "echo", "type":
	case "printf":
		if len(c.args) > 0 && (c.args[0].dynamic || c.args[0].flag() && c.args[0].text != "--") {
			c.ask(CodeDangerousFlag, c.args[0].text)
		}
	case "test", "[":
		c.test()
	case "eval":
		c.ask(CodeShellFeature)
		c.judge.blind = c.judge.blind || slices.ContainsFunc(c.args, func(w word) bool { return w.dynamic })
		script := word{quoted: true}
		for _, w := range c.args {
			script.text += w.text + " "
			script.dynamic = script.dynamic || w.dynamic || w.expanded
		}
		c.nested(script, syntax.LangBash)
	case "trap":
		c.judge.find(Deny, CodeShellFeature, "trap")
	case "read":
		for _, w := range c.args {
			if w.dynamic || strings.ContainsAny(w.text, "[]$") {
				c.ask(CodeShellFeature)
			}
		}
	case "wait":
		if len(c.args) > 0 {
			c.judge.odd(text(c.argv))
		}
	case "source", ".":
		c.source()
	case "mapfile", "readarray":
		if slices.ContainsFunc(c.args, func(w word) bool { return strings.HasPrefix(w.text, "-C") }) {
			c.ask(CodeShellFeature) // the text behind it is run
		}
		c.judge.odd(text(c.argv))
	case "unset", "getopts", "let", "ulimit", "umask", "declare", "typeset", "local", "readonly", "export", "dirs", "disown":
		c.judge.odd(text(c.argv))
		c.judge.opaque(c.argv, c.cwds)
	case "alias", "unalias", "hash", "shopt", "enable", "bind", "complete", "compgen", "compopt", "pushd", "popd", "history", "fc", "suspend",
		"caller", "logout":
		c.ask(CodeShellFeature)
		c.judge.opaque(c.argv, c.cwds)
	default:
		return false
	}
	return true
}

// source judges a script that the shell runs itself: one of the tree is as good as one that is started.
func (c *command) source() {
	script := len(c.args) > 0 && !c.args[0].dynamic && !c.args[0].expanded && !c.args[0].home
	if script && c.judge.own {
		rel, inside := c.judge.resolve(c.cwds[0], c.args[0].text)
		script = inside && rel != ""
	}
	if !script || !c.judge.own {
		c.judge.blind = c.judge.blind || !script
		c.ask(CodeShellFeature)
	}
	c.judge.opaque(c.argv, c.cwds)
}

// set lets a command be strict with itself and nothing else.
func (c *command) set() {
	for i := 0; i < len(c.args); i++ {
		t := c.args[i].text
		option := len(t) > 1 && (t[0] == '-' || t[0] == '+') && strings.Trim(t[1:], "euxo") == ""
		if c.args[i].dynamic || c.args[i].expanded || !option {
			c.ask(CodeShellFeature)
			return
		}
		if strings.HasSuffix(t, "o") {
			if i++; i == len(c.args) || c.args[i].text != "pipefail" && c.args[i].text != "errexit" && c.args[i].text != "nounset" {
				c.ask(CodeShellFeature)
				return
			}
		}
	}
}

// test judges test and [: -v evaluates its operand, and a word that is not known may turn into -v.
func (c *command) test() {
	args := c.args
	if n := len(args); c.name == "[" && n > 0 && args[n-1].text == "]" {
		args = args[:n-1]
	}
	for i, w := range args {
		operator := len(args) == 2 && i == 0
		if w.text == "-v" || w.text == "-R" || w.dynamic && (!w.quoted || operator) || w.dynamic && len(args) > 4 {
			c.judge.odd(text(c.argv))
			return
		}
	}
}
