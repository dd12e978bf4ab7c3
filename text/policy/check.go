package policy

import (
	"path"
	"slices"
	"strings"

	"pawl/text/shell"
)

// operandPaths judges every operand of a known command as a file that is read.
func (c *command) operandPaths(args []shell.Word) {
	for _, w := range args {
		if !w.Flag() || w.Dynamic {
			c.judge.file(w, OpRead, c.cwds)
		}
	}
}

// checkFind judges find: an action that runs, deletes or writes is asked for.
func checkFind(c *command, args []shell.Word) {
	start, value := true, false
	if c.judge.own {
		args = findActs(c, args)
	}
	for _, w := range args {
		switch {
		case w.Dynamic || w.Pattern && w.Text[0] != '.' && !value && !start:
			c.judge.guess(w)
		case slices.Contains(findActions, w.Text):
			c.flagged(w.Text)
		case start && !w.Flag() && w.Text != "(" && w.Text != "!":
			if w.StartsOpen() {
				c.judge.pattern(w)
			}
			c.judge.file(w, OpRead, c.cwds)
		case value:
			c.judge.file(w, OpRead, c.cwds)
			value = false
		default:
			if w.Text != "-H" && w.Text != "-L" && w.Text != "-P" {
				start = false
			}
			value = strings.HasPrefix(w.Text, "-newer") ||
				slices.Contains([]string{"-anewer", "-cnewer", "-samefile", "-files0-from"}, w.Text)
		}
	}
}

// findActs judges the actions of find where walls hold it and the tree is its own, and returns the other arguments.
func findActs(c *command, args []shell.Word) (rest []shell.Word) {
	narrowed, deletes := false, false
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.Dynamic:
			rest = append(rest, w)
		case w.Text == "-exec" || w.Text == "-execdir":
			end := i + 1
			for end < len(args) && args[end].Text != ";" && args[end].Text != "+" {
				end++
			}
			inner := filled(args[i+1 : end])
			if len(inner) == 0 || strings.Contains(inner[0].Text, "{}") {
				c.forbidden(w.Text)
			} else {
				c.judge.call(inner, c.cwds)
			}
			i = end
		case w.Text == "-delete":
			deletes = true
		case (w.Text == "-fprint" || w.Text == "-fprint0" || w.Text == "-fls") && i+1 < len(args):
			i++
			c.judge.file(args[i], OpWrite, c.cwds)
		case slices.Contains(findActions, w.Text):
			c.forbidden(w.Text)
		default:
			narrowed = narrowed || w.Flag() &&
				!slices.Contains([]string{"-depth", "-maxdepth", "-mindepth", "-xdev", "-mount", "-H", "-L", "-P"},
					w.Text)
			rest = append(rest, w)
		}
	}
	if deletes && !narrowed {
		c.ask(CodeDestructive)
	}
	return rest
}

var findActions = []string{
	"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-D", "-follow",
}

// checkSed judges sed: the script is read, and only commands that print, select and substitute pass.
func checkSed(c *command, args []shell.Word) {
	scripted, op := false, OpRead
	for i := 0; i < len(args); i++ {
		w := args[i]
		script, joined := strings.CutPrefix(w.Text, "--expression=")
		switch {
		case c.judge.held && sedInPlace(w.Text) && !w.Dynamic:
			op = OpWrite // the walls hold what it writes, and undo takes it back
		case w.Dynamic && scripted:
			c.judge.file(w, op, c.cwds)
		case w.Dynamic, w.Pattern && !w.Quoted && i == 0:
			c.judge.guess(w)
			scripted = true
		case w.Text == "-e" && i+1 < len(args):
			i++
			sedScript(c, args[i])
			scripted = true
		case joined:
			sedScript(c, shell.Word{Text: script})
			scripted = true
		case !w.Flag() && !scripted:
			sedScript(c, w)
			scripted = true
		case !w.Flag():
			c.judge.file(w, op, c.cwds)
		case !slices.Contains(sedFlags, w.Text) && strings.Trim(w.Text[1:], "nErsuz") != "":
			c.forbidden(w.Text)
			scripted = scripted || strings.ContainsAny(w.Text, "ef")
		}
	}
}

// sedInPlace reports whether an option makes sed write its files, keeping a copy beside each or not.
func sedInPlace(flag string) bool {
	rest, short := strings.CutPrefix(flag, "-i")
	suffix, long := strings.CutPrefix(flag, "--in-place")
	switch {
	case flag == "-i" || flag == "--in-place" || flag == "-Ei" || flag == "-ri" || flag == "-ni":
		return true
	case long:
		rest, long = strings.CutPrefix(suffix, "=")
		return long && !strings.ContainsAny(rest, "/*")
	}
	return short && !strings.ContainsAny(rest, "/*") && (rest[0] == '.' || rest[0] == '~' || rest[0] == '_')
}

var sedFlags = []string{"--quiet", "--silent", "--regexp-extended", "--separate", "--unbuffered", "--null-data",
	"--posix", "--sandbox", "--"}

// sedScript asks about a script that may do more than print.
func sedScript(c *command, w shell.Word) {
	switch {
	case w.Unsure() && !w.Foreign && c.judge.own:
	case w.Unsure() || !harmlessSed(w.Text):
		c.ask(CodeDangerousFlag, w.Text)
	}
}

// harmlessSed reports whether a sed script consists of commands that neither run programs nor touch files. It reads the
// script as GNU sed does and gives up at the first thing that it does not know.
func harmlessSed(s string) bool {
	for len(s) > 0 {
		s = strings.TrimLeft(s, " \t\n;{}")
		if s == "" {
			return true
		}
		var ok bool
		if s, ok = sedAddresses(s); !ok || s == "" {
			return false
		}
		cmd := s[0]
		s = s[1:]
		switch cmd {
		case '{', '}':
		case '#', ':', 'a', 'i', 'c', 'b', 't', 'T':
			// The rest of the line is a comment, a label or text; a text that is continued is beyond this reader.
			line, rest, _ := strings.Cut(s, "\n")
			if strings.HasSuffix(line, `\`) || (cmd == 'b' || cmd == 't' || cmd == 'T' || cmd == ':') &&
				strings.ContainsAny(line, "};") {
				return false
			}
			s = rest
		case 'd', 'D', 'g', 'G', 'h', 'H', 'l', 'n', 'N', 'p', 'P', 'x', 'q', 'Q', '=', 'z':
			s = strings.TrimLeft(s, " 0123456789")
			if s != "" && !strings.ContainsRune(";\n}", rune(s[0])) {
				return false
			}
		case 's', 'y':
			if s, ok = sedSubstitution(s, cmd == 's'); !ok {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// sedAddresses skips the addresses before a command.
func sedAddresses(s string) (string, bool) {
	for len(s) > 0 {
		switch ch := s[0]; {
		case ch >= '0' && ch <= '9', strings.IndexByte("$,~+! \t", ch) >= 0:
			s = s[1:]
		case ch == '/':
			end := unescaped(s[1:], '/')
			if end < 0 {
				return "", false
			}
			s = strings.TrimLeft(s[end+2:], "IM")
		case ch == '\\':
			return "", false
		default:
			return s, true
		}
	}
	return s, true
}

// sedSubstitution skips the operands of s or y, and refuses the flags e and w.
func sedSubstitution(s string, flags bool) (string, bool) {
	if s == "" || s[0] == '\\' || s[0] == '\n' || s[0] >= 0x80 {
		return "", false
	}
	delimiter := s[0]
	s = s[1:]
	for range 2 {
		end := unescaped(s, delimiter)
		if end < 0 {
			return "", false
		}
		s = s[end+1:]
	}
	if flags {
		s = strings.TrimLeft(s, "gpiI0123456789")
	}
	s = strings.TrimLeft(s, " \t")
	return s, s == "" || strings.ContainsRune(";\n}", rune(s[0]))
}

// unescaped returns the index of the first delimiter that no backslash precedes, or -1.
//
// Programs disagree on a delimiter inside a bracket expression, so a text in which it could be in one is not read.
func unescaped(s string, delimiter byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case delimiter:
			if hasAny(s[:i], "[]", "[^]") || strings.LastIndexByte(s[:i], '[') > strings.LastIndexByte(s[:i], ']') {
				return -1
			}
			return i
		}
	}
	return -1
}

// checkAwk judges awk: a program that may run, write or read something else is asked for.
func checkAwk(c *command, args []shell.Word) {
	script := false
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.Dynamic:
			c.judge.guess(w)
			script = true
		case script:
			c.judge.file(w, OpRead, c.cwds)
		case (w.Text == "-F" || w.Text == "-v") && i+1 < len(args):
			i++
		case strings.HasPrefix(w.Text, "-F") || strings.HasPrefix(w.Text, "-v"):
		case w.Flag():
			c.flagged(w.Text)
			script = true
		default:
			script = true
			if w.Expanded || !harmlessAwk(w.Text, c.judge.own) {
				c.ask(CodeDangerousFlag, w.Text)
			}
		}
	}
}

// harmlessAwk reports whether an awk program has neither a pipe, a file nor another program in it. Where the tree is
// its own, a greater-than compares if nothing is printed in the same statement.
func harmlessAwk(program string, own bool) bool {
	if hasAny(program, "@", "\\\n", "system", "getline", "ARGV", "ARGC", "close", "fflush") {
		return false
	}
	if !own || strings.Contains(program, "ENVIRON") {
		return !strings.ContainsAny(program, "|>")
	}
	program = strings.ReplaceAll(program, "||", "")
	ends := func(r rune) bool { return strings.ContainsRune(";{}\n", r) }
	for _, statement := range strings.FieldsFunc(program, ends) {
		_, printed, prints := strings.Cut(statement, "print")
		if strings.Contains(statement, "|") || prints && strings.Contains(printed, ">") {
			return false
		}
	}
	return true
}

func hasAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

func hasAnyPrefix(s string, beginnings ...string) bool {
	return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(s, b) })
}

// checkCopy judges cp and mv.
func checkCopy(c *command, args []shell.Word) {
	var operands []shell.Word
	for _, w := range args {
		switch {
		case w.Flag() && !w.Dynamic:
			if strings.Trim(w.Text[1:], "afinprRuvTdLPH") != "" && w.Text != "--parents" && w.Text != "--no-clobber" {
				c.forbidden(w.Text)
			}
		case w.StartsOpen() && !c.judge.own:
			c.judge.find(Ask, CodeDynamic, w.Text)
		default:
			operands = append(operands, w)
		}
	}
	if len(operands) < 2 {
		c.ask(CodeDangerousFlag, text(args))
	}
	for i, w := range operands {
		last := i == len(operands)-1
		c.judge.file(w, OpRead, c.cwds)
		switch {
		case last || w.Expanded:
			c.judge.file(w, OpWrite, c.cwds)
		case c.name == "mv":
			c.protect(w)
		}
		if !last {
			c.copied(w, operands[len(operands)-1])
		}
	}
}

// copied judges the name that a file gets where it is copied into a folder.
func (c *command) copied(w, into shell.Word) {
	if w.Dynamic || into.Dynamic || into.Text == "/dev/null" || strings.HasSuffix(w.Text, ".") {
		return
	}
	into.Text = path.Join(into.Text, w.Base())
	into.Pattern = into.Pattern || w.Pattern
	c.protect(into)
}

// protect judges a name that a command may create or remove, without recording it as a path of the command.
func (c *command) protect(w shell.Word) {
	for _, cwd := range c.cwds {
		if rel, inside := c.judge.resolve(cwd, w.Text); inside && rel != "" && !w.Dynamic {
			if d, code := classify(rel, OpWrite, w.Pattern, c.judge.prof.Sensitive); d != Allow {
				c.judge.find(d, code, rel)
			}
		}
	}
}

// checkMode judges chmod: what everyone may write, or what takes another's rights, is asked for.
func checkMode(c *command, args []shell.Word) {
	mode := true
	for _, w := range args {
		t := w.Text
		switch {
		case w.Dynamic || w.Pattern:
			c.judge.find(Ask, CodeDynamic, t)
		case w.Flag() && mode && strings.Trim(t[1:], "rwxX") != "" && !(c.judge.held && t == "-R"):
			c.forbidden(t)
		case mode:
			mode = false
			octal := strings.TrimLeft(t, "0")
			wide := number(t) && (len(octal) > 3 || octal != "" && (octal[len(octal)-1]-'0')&2 != 0)
			if wide || strings.Contains(t, "s") || strings.ContainsAny(t, "ao") && strings.Contains(t, "w") {
				c.ask(CodeDestructive)
			}
		default:
			c.judge.file(w, OpWrite, c.cwds)
		}
	}
}

// checkRemove judges rm: every deletion is asked for, and a recursive or forced one is grave.
func checkRemove(c *command, args []shell.Word) {
	removed, sweeps := 0, false
	for _, w := range args {
		if w.Flag() && !w.Dynamic {
			sweeps = sweeps || strings.ContainsAny(w.Text, "rRf")
			if sweeps && !c.judge.own {
				c.ask(CodeDestructive)
			}
			continue
		}
		removed++
		c.judge.file(w, OpDelete, c.cwds)
		switch {
		case !c.judge.own || !sweeps:
		case w.Dynamic && w.Text != "{}":
			c.judge.find(Ask, CodeDynamic, w.Text) // it may come to nothing, or to everything
		case listed(". ./ * ./* .* /", w.Text), inRoot(c.judge, w.Text) && path.Clean(w.Text) == c.judge.root:
			c.ask(CodeDestructive) // nothing would be left of the work
		}
	}
	if removed > 0 && !c.judge.own {
		c.ask(CodeDelete)
	}
}

// checkTar lets archives be listed and made; unpacking may overwrite anything and is asked for, unless walls hold it
// and the tree is its own.
func checkTar(c *command, args []shell.Word) {
	if len(args) == 0 {
		return
	}
	if c.judge.own && !args[0].Dynamic && unpacks(c, args) {
		return
	}
	mode := strings.TrimPrefix(args[0].Text, "-")
	lists, makes := strings.Contains(mode, "t"), strings.Contains(mode, "c")
	if args[0].Unsure() || mode == "" || strings.Trim(mode, "tczjJvf") != "" || lists == makes {
		c.forbidden(args[0].Text)
		c.judge.opaque(c.argv, c.cwds)
		return
	}
	op := OpRead
	if makes {
		op = OpWrite
	}
	for i, w := range args[1:] {
		switch {
		case w.StartsOpen():
			c.judge.find(Ask, CodeDynamic, w.Text)
		case w.Flag() && !strings.HasPrefix(w.Text, "--exclude="):
			c.forbidden(w.Text)
		case w.Flag():
		case i == 0 && strings.Contains(mode, "f"):
			if strings.Contains(w.Text, ":") {
				c.forbidden(w.Text)
			}
			c.judge.file(w, op, c.cwds)
		default:
			c.judge.file(w, OpRead, c.cwds)
		}
	}
}

// unpacks judges an archive that tar unpacks, and reports whether that is what it does. Tar itself keeps to the folder
// that it unpacks into; its other options can run programs.
func unpacks(c *command, args []shell.Word) bool {
	mode := strings.TrimPrefix(args[0].Text, "-")
	if !strings.Contains(mode, "x") || strings.Trim(mode, "xzjJvfmp") != "" {
		return false
	}
	c.unpack(args[1:], "-C --directory", strings.Contains(mode, "f"), func(option string) bool {
		return hasAnyPrefix(option, "--strip-components=", "--exclude=") || option == "--no-same-owner"
	}, func(w shell.Word) bool { return w.Flag() || strings.Contains(w.Text, ":") })
	return true
}

// unpack judges the arguments of a program that unpacks an archive: the options in into are followed by a folder, and
// of the operands the first is the archive, if it is named at all.
func (c *command) unpack(args []shell.Word, into string, named bool, harmless func(string) bool,
	odd func(shell.Word) bool) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case listed(into, w.Text) && i+1 < len(args):
			i++
			c.judge.file(args[i], OpWrite, c.cwds)
		case harmless(w.Text):
		case odd(w):
			c.forbidden(w.Text)
		case named:
			named = false
			c.judge.file(w, OpRead, c.cwds)
		default:
			c.judge.file(w, OpWrite, c.cwds)
		}
	}
}

// checkUnzip lets archives be listed, and unpacked where walls hold it and the tree is its own.
func checkUnzip(c *command, args []shell.Word) {
	switch {
	case c.judge.own && len(args) > 0:
		c.unpack(args, "-d", true, func(option string) bool {
			return len(option) > 1 && option[0] == '-' && strings.Trim(option[1:], "oqnjpltvuf") == ""
		}, shell.Word.Flag)
	case len(args) > 0 && (args[0].Text == "-l" || args[0].Text == "-t"):
		c.operandPaths(args[1:])
	default:
		c.forbidden(text(args))
	}
}
