package policy

import (
	"slices"
	"strings"

	"pawl/text/display"

	"pawl/text/shell"
)

// record keeps a simple command and its name for the verdict.
func (j *judge) record(argv []shell.Word) {
	c := Call{Literal: true}
	for _, w := range argv {
		c.Argv = append(c.Argv, w.Text)
		c.Literal = c.Literal && !w.Dynamic && !w.Expanded && !w.Pattern && !w.Home
	}
	j.calls = append(j.calls, c)
	name := shell.Shorten(display.Line(argv[0].Text))
	if !j.seen["n"+name] {
		j.seen["n"+name] = true
		j.names = append(j.names, name)
	}
}

// call judges one simple command: what wraps it, what it is, and what its arguments do.
func (j *judge) call(argv []shell.Word, cwds []string) shell.Outcome {
	if j.wraps++; j.wraps > maxDepth {
		j.wraps--
		j.find(Deny, CodeTooComplex, "nesting")
		return shell.Same(cwds)
	}
	defer func() { j.wraps-- }()
	if len(argv) == 0 {
		return shell.Same(cwds)
	}
	j.record(argv)
	name := argv[0]
	if name.Unsure() || name.Pattern || name.Home || name.Text == "" {
		j.find(Ask, CodeDynamic, name.Text)
		j.opaque(argv, cwds)
		return shell.Same(cwds)
	}
	if matches(j.prof.DeniedCommands, argv) {
		j.find(Deny, CodeDeniedCommand, text(argv))
		return shell.Same(cwds)
	}
	c := &command{judge: j, name: name.Text, argv: argv, args: argv[1:], cwds: cwds}
	if c.name == "cd" {
		return c.cd()
	}
	if judge, ok := known().words[c.name]; ok {
		judge(c)
	} else {
		c.program()
	}
	return shell.Same(cwds)
}

// command is one simple command while it is judged.
type command struct {
	judge *judge
	name  string
	argv  []shell.Word
	args  []shell.Word
	cwds  []string
	// loose says that an option was let pass of which it is not known whether the next word is its value.
	loose bool
}

// text returns the command as a person reads it.
func text(argv []shell.Word) string {
	parts := make([]string, 0, len(argv))
	n := 0
	for _, w := range argv {
		parts = append(parts, w.Text)
		if n += len(w.Text); n > shell.MaxText {
			break
		}
	}
	return shell.Shorten(strings.Join(parts, " "))
}

// ask records a question about the command.
func (c *command) ask(code Code, args ...string) {
	c.judge.find(Ask, code, append([]string{text(c.argv)}, args...)...)
}

// matches reports whether one of the user's patterns is a prefix of a command.
func matches(patterns []string, argv []shell.Word) bool {
	for _, p := range patterns {
		words := strings.Fields(p)
		if len(words) == 0 || len(words) > len(argv) {
			continue
		}
		ok := true
		for i, w := range words {
			// A word that is not known is matched by nothing; it is asked for on its own.
			ok = ok && (w == argv[i].Text || w == "*" && !argv[i].Dynamic)
		}
		if ok {
			return true
		}
	}
	return false
}

// unknown judges a command that is on no list: where walls hold it and the tree is its own, only what leads out is
// asked about; elsewhere the command is, unless the user put it on a list.
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
	if !matches(c.judge.prof.AllowedCommands, c.argv) {
		c.ask(code)
	}
	c.judge.opaque(c.argv, c.cwds)
}

// opaque judges the words of a command whose meaning is not known: what looks like a path outside or like a protected
// or secret one is asked for, since the human who answers for the command has to see it.
func (j *judge) opaque(argv []shell.Word, cwds []string) {
	destructive(j, argv)
	for _, w := range argv[1:] {
		t := w.Text
		if w.Flag() {
			_, t, _ = strings.Cut(t, "=")
		}
		label := strings.HasPrefix(t, "//") && slices.Contains(labelled, argv[0].Base())
		if t == "" || w.Dynamic || len(t) > maxPath || label {
			continue
		}
		climbs := t == ".." || strings.HasPrefix(t, "../") || strings.Contains(t, "/../")
		for _, cwd := range cwds {
			rel, inside := j.resolve(cwd, t)
			switch {
			case w.Home || climbs || t[0] == '/':
				if w.Home || !inside && !isCommon(j, t) {
					j.find(Ask, CodePathEscape, t)
				}
			case inside && rel != "":
				j.guarded(rel, w.Pattern)
			}
		}
	}
}

// guarded asks about a path of the workspace that a known command may not write or may not read.
func (j *judge) guarded(rel string, pattern bool) {
	if d, code := classify(rel, OpWrite, pattern, j.prof.Sensitive); d == Deny {
		j.find(Ask, code, rel)
	} else if d, code := classify(rel, OpRead, pattern, nil); d == Deny {
		j.find(Ask, code, rel)
	}
}

// labelled are programs whose targets begin with two slashes, wherever they are in the workspace.
var labelled = []string{"bazel", "bazelisk", "buck2", "pants"}

// file judges a word that names a file for a known command.
func (j *judge) file(w shell.Word, op Op, cwds []string) {
	switch {
	case w.Home:
		j.find(Deny, CodePathEscape, w.Text)
		return
	case w.Dynamic:
		j.guess(w)
		return
	case len(w.Text) > maxPath:
		j.find(Deny, CodePathForm, w.Text)
		return
	}
	for _, cwd := range cwds {
		rel, inside := j.resolve(cwd, w.Text)
		switch {
		case !inside && op == OpRead && isCommon(j, w.Text):
		case !inside:
			j.find(Deny, CodePathEscape, w.Text)
		case rel != "":
			j.touch(rel, op, w.Pattern)
		}
	}
}

// cd judges a change of folder, which decides what every later path means.
func (c *command) cd() shell.Outcome {
	args := c.args
	for len(args) > 0 && (args[0].Text == "--" || args[0].Text == "-P" || args[0].Text == "-L") {
		args = args[1:]
	}
	if len(args) == 0 {
		c.judge.find(Deny, CodePathEscape, "~")
		return shell.Same(c.cwds)
	}
	w := args[0]
	if len(args) > 1 || w.Unsure() || w.Pattern || w.Text == "-" || w.Text == "" || w.Flag() {
		c.judge.find(Ask, CodeDynamic, text(c.argv))
		return shell.Same(c.cwds)
	}
	var to []string
	for _, cwd := range c.cwds {
		rel, inside := c.judge.resolve(cwd, w.Text)
		if w.Home || !inside {
			c.judge.find(Deny, CodePathEscape, w.Text)
			return shell.Same(c.cwds)
		}
		if rel == "." {
			rel = ""
		}
		to = append(to, rel)
	}
	return shell.Outcome{OK: to, Fail: c.cwds}
}

// shellWord is what judges some commands that the shell runs itself or that run another one.
type shellWord struct {
	names string
	judge func(c *command)
}

// shellWords are the wrappers and the builtins of the shell, but for cd.
func shellWords() []shellWord {
	return []shellWord{
		{"env", unwrapEnv},
		{"timeout", unwrap("-k -s --kill-after --signal", "--foreground --preserve-status -v --verbose", 1)},
		{"nice", unwrap("-n --adjustment", "", 0)},
		{"nohup builtin exec", unwrap("", "", 0)},
		{"stdbuf", unwrap("-i -o -e --input --output --error", "", 0)},
		{"time", unwrap("", "-p", 0)},
		{"command", func(c *command) {
			if len(c.args) == 0 || c.args[0].Text != "-v" && c.args[0].Text != "-V" {
				unwrap("", "-p", 0)(c)
			}
		}},
		{"xargs", unwrapXargs},
		{"bash sh dash zsh ksh ash", unwrapShell},

		{": true false exit return break continue shift times pwd echo type", func(*command) {}},
		{"jobs fg bg", func(c *command) {
			if len(c.args) > 0 {
				c.ask(CodeShellFeature) // jobs -x runs a command
			}
		}},
		{"set", setOptions},
		{"printf", func(c *command) {
			if len(c.args) > 0 && (c.args[0].Dynamic || c.args[0].Flag() && c.args[0].Text != "--") {
				c.ask(CodeDangerousFlag, c.args[0].Text)
			}
		}},
		{"test [", testBuiltin},
		{"eval", evalWords},
		{"trap", func(c *command) { c.judge.find(Deny, CodeShellFeature, "trap") }},
		{"read", func(c *command) {
			indexed := func(w shell.Word) bool { return w.Dynamic || strings.ContainsAny(w.Text, "[]$") }
			if slices.ContainsFunc(c.args, indexed) {
				c.ask(CodeShellFeature)
			}
		}},
		{"wait", func(c *command) {
			if len(c.args) > 0 {
				c.judge.odd(text(c.argv))
			}
		}},
		{"source .", sourceFile},
		{"mapfile readarray", func(c *command) {
			if slices.ContainsFunc(c.args, func(w shell.Word) bool { return strings.HasPrefix(w.Text, "-C") }) {
				c.ask(CodeShellFeature) // the text behind it is run
			}
			c.judge.odd(text(c.argv))
		}},
		{"unset getopts let ulimit umask declare typeset local readonly export dirs disown", func(c *command) {
			c.judge.odd(text(c.argv))
			c.judge.opaque(c.argv, c.cwds)
		}},
		{"alias unalias hash shopt enable bind complete compgen compopt pushd popd history fc suspend caller logout",
			func(c *command) {
				c.ask(CodeShellFeature)
				c.judge.opaque(c.argv, c.cwds)
			}},
	}
}

// width is how many words the option that args begin with takes with its value, 0 where it is not known.
func width(args []shell.Word, valued, plain string) int {
	t, takes := args[0].Text, strings.Fields(valued)
	head, _, joined := strings.Cut(t, "=")
	switch {
	case slices.Contains(strings.Fields(plain), t),
		joined && strings.HasPrefix(head, "--") && slices.Contains(takes, head),
		len(t) > 2 && t[1] != '-' && slices.Contains(takes, t[:2]):
		return 1
	case slices.Contains(takes, t) && len(args) > 1:
		return 2
	}
	return 0
}

// unwrap judges the command after the wrapper's own options and operands. Valued and plain are the options that are
// known; any other is asked for, because it may take the next word as its value or rename the program.
func unwrap(valued, plain string, operands int) func(c *command) {
	return func(c *command) {
		rest := c.args
		for len(rest) > 0 && rest[0].Flag() {
			w, n := rest[0], width(rest, valued, plain)
			if w.Unsure() {
				c.ask(CodeDynamic)
				return
			}
			if n == 0 && c.name == "nice" && number(w.Text[1:]) {
				n = 1
			}
			if rest = rest[n:]; n > 0 {
				continue
			}
			if w.Text != "--" {
				c.ask(CodeDangerousFlag, w.Text)
				break
			}
			rest = rest[1:]
			break
		}
		if len(rest) < operands || slices.ContainsFunc(rest[:operands], shell.Word.Unsure) {
			c.ask(CodeDynamic)
			return
		}
		rest = rest[operands:]
		if len(rest) > 0 && rest[0].Text == "cd" {
			c.ask(CodeDynamic) // where it leads is lost behind the wrapper
		}
		c.judge.call(rest, c.cwds)
	}
}

// unwrapEnv judges assignments and the command behind them.
func unwrapEnv(c *command) {
	rest := c.args
	for len(rest) > 0 {
		w := rest[0]
		name, _, assigned := strings.Cut(w.Text, "=")
		switch {
		case w.Dynamic && !assigned:
			c.ask(CodeDynamic)
			return
		case w.Text == "-i" || w.Text == "-" || w.Text == "--ignore-environment" || w.Text == "--":
			rest = rest[1:]
		case (w.Text == "-u" || w.Text == "--unset") && len(rest) > 1:
			c.judge.variable(rest[1].Text, true)
			rest = rest[2:]
		case w.Flag():
			c.ask(CodeDangerousFlag, w.Text)
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
	plain := "-0 -r -t --null --no-run-if-empty"
	if c.judge.own {
		plain += " -I{} -i"
	}
	for len(rest) > 0 && rest[0].Flag() {
		n := width(rest, "-n -L -P -d -s", plain)
		if n == 0 && c.judge.own && rest[0].Text == "-I" && len(rest) > 1 && rest[1].Text == "{}" {
			n = 2
		}
		switch {
		case rest[0].Unsure():
			c.ask(CodeDynamic)
			return
		case n == 0:
			c.ask(CodeDangerousFlag, rest[0].Text)
			return
		}
		rest = rest[n:]
	}
	if len(rest) == 0 {
		rest = []shell.Word{shell.Literal("echo")}
	}
	c.judge.call(append(filled(rest), piped()), c.cwds)
}

// piped is a word that another program puts in.
func piped() shell.Word { return shell.Word{Text: "…", Dynamic: true, Expanded: true} }

// filled returns the words of a command in which braces stand for what another program puts in.
func filled(argv []shell.Word) []shell.Word {
	out := slices.Clone(argv)
	for i, w := range out {
		if i > 0 && strings.Contains(w.Text, "{}") {
			out[i].Dynamic, out[i].Expanded = true, true
		}
	}
	return out
}

// unwrapShell judges bash -c and the like by what they would run.
func unwrapShell(c *command) {
	rest, run, ok := shellOptions(c)
	switch {
	case !ok:
		return
	case len(rest) == 0 || !run && (rest[0].Dynamic || rest[0].Text == "-" || strings.HasPrefix(rest[0].Text, "/dev/")):
		// What comes through a pipe or a descriptor is not known to anybody.
		c.judge.blind = true
		c.unlisted(CodeDynamic)
		return
	case !run:
		c.unknown()
		return
	case rest[0].Dynamic:
		c.judge.blind = true
	}
	switch c.name {
	case "sh", "dash", "ash":
		// Which shell this is depends on the machine, so the text is also judged as one reads it that knows nothing of
		// bash's own syntax: $'\'; x #' is one word to bash and two commands to such a shell.
		// The same text is not judged so again: shells inside each other would take twice as long for each of them.
		if id := "s" + strings.Join(c.cwds, "\x00") + "\x00\x00" + rest[0].Text; !c.judge.seen[id] {
			c.judge.seen[id] = true
			calls := c.judge.calls
			c.nested(rest[0], shell.POSIX)
			c.judge.calls = calls
		}
	case "zsh", "ksh":
		c.unlisted(CodeNotAllowlisted) // their own syntax can run commands where bash sees none
	}
	c.nested(rest[0], shell.Bash)
	if c.judge.own {
		// The words behind the text are its parameters.
		c.judge.opaque(rest, c.cwds)
		for _, w := range rest[1:] {
			if w.Dynamic {
				c.judge.guess(w)
			}
		}
	}
}

// shellOptions judges the options of a shell. It returns the words behind them and whether the first of those is a
// text to run; ok is false where nothing is left to judge.
func shellOptions(c *command) (rest []shell.Word, run, ok bool) {
	rest = c.args
	for len(rest) > 0 && (rest[0].Flag() || strings.HasPrefix(rest[0].Text, "+")) {
		w := rest[0]
		rest = rest[1:]
		switch {
		case w.Unsure():
			c.ask(CodeDynamic)
			return nil, false, false
		case w.Text == "--version":
			return nil, false, false
		case w.Text == "-n" && len(rest) > 0:
			for _, f := range rest {
				c.judge.file(f, OpRead, c.cwds)
			}
			return nil, false, false
		case w.Text[0] == '-' && strings.Trim(w.Text[1:], "ceuxo") == "":
			run = run || strings.Contains(w.Text, "c")
			if !strings.HasSuffix(w.Text, "o") {
				continue
			}
			if len(rest) == 0 || rest[0].Text != "pipefail" {
				c.ask(CodeDangerousFlag, w.Text)
				return nil, false, false
			}
			rest = rest[1:]
		default:
			c.ask(CodeDangerousFlag, w.Text)
			run = run || !strings.HasPrefix(w.Text, "--") && strings.Contains(w.Text, "c")
		}
	}
	return rest, run, true
}

// nested judges shell text that is an argument.
func (c *command) nested(script shell.Word, dialect shell.Dialect) {
	if script.Unsure() {
		c.ask(CodeDynamic)
		return
	}
	if c.judge.shells++; c.judge.shells > maxDepth {
		c.judge.find(Deny, CodeTooComplex, "nesting")
	} else if strings.TrimSpace(script.Text) != "" {
		c.judge.reader.Read(script.Text, dialect, c.cwds)
	}
	c.judge.shells--
}

// evalWords judges eval by the text that it puts together.
func evalWords(c *command) {
	c.ask(CodeShellFeature)
	script := shell.Word{Quoted: true}
	for _, w := range c.args {
		c.judge.blind = c.judge.blind || w.Dynamic
		script.Text += w.Text + " "
		script.Dynamic = script.Dynamic || w.Unsure()
	}
	c.nested(script, shell.Bash)
}

// sourceFile judges a script that the shell runs itself: one of the tree is as good as one that is started.
func sourceFile(c *command) {
	script := len(c.args) > 0 && !c.args[0].Unsure() && !c.args[0].Home
	if script && c.judge.own {
		rel, inside := c.judge.resolve(c.cwds[0], c.args[0].Text)
		script = inside && rel != ""
	}
	if !script || !c.judge.own {
		c.judge.blind = c.judge.blind || !script
		c.ask(CodeShellFeature)
	}
	c.judge.opaque(c.argv, c.cwds)
}

// setOptions lets a command be strict with itself and nothing else.
func setOptions(c *command) {
	for i := 0; i < len(c.args); i++ {
		t := c.args[i].Text
		option := len(t) > 1 && (t[0] == '-' || t[0] == '+') && strings.Trim(t[1:], "euxo") == ""
		if c.args[i].Unsure() || !option {
			c.ask(CodeShellFeature)
			return
		}
		if strings.HasSuffix(t, "o") {
			if i++; i == len(c.args) || c.args[i].Text != "pipefail" && c.args[i].Text != "errexit" &&
				c.args[i].Text != "nounset" {
				c.ask(CodeShellFeature)
				return
			}
		}
	}
}

// testBuiltin judges test and [: -v evaluates its operand, and a word that is not known may turn into -v.
func testBuiltin(c *command) {
	args := c.args
	if n := len(args); c.name == "[" && n > 0 && args[n-1].Text == "]" {
		args = args[:n-1]
	}
	for i, w := range args {
		operator := len(args) == 2 && i == 0
		if w.Text == "-v" || w.Text == "-R" || w.Dynamic && (!w.Quoted || operator) || w.Dynamic && len(args) > 4 {
			c.judge.odd(text(c.argv))
			return
		}
	}
}
