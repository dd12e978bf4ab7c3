package policy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"pawl"
)

// The limits on shell text. They bound the time and the memory of a verdict; no ordinary command comes near them.
const (
	maxCommand = 64 << 10 // bytes
	maxOpeners = 3000     // brackets and keywords that could nest
	maxDepth   = 8        // shells and wrappers inside each other
	maxFolders = 8        // folders in which a command may find itself
	maxRaised  = 200      // statements inside each other
	maxGrown   = 20_000   // words that braces and variables add
)

// Call is one simple command that a shell command would run.
type Call struct {
	// Argv are the words of the command as the shell would pass them. A word that cannot be known before the command runs
	// is shown in its source form.
	Argv []string `json:"argv"`
	// Literal says that every word is known.
	Literal bool `json:"literal"`
}

// Shell is what a shell command would do, as far as its text shows.
type Shell struct {
	// Calls are the simple commands in order of appearance, those inside wrappers and substitutions included.
	Calls []Call `json:"calls"`
	// Paths are the paths that it names, relative to the workspace, as far as the commands are known.
	Paths []Path `json:"paths,omitempty"`
	// Network says that one of the commands is known to connect somewhere.
	Network bool `json:"network,omitempty"`
}

// ParseCommand returns what a shell command would run, without judging it. The error is CodeInvalid where the text holds
// control characters or invalid UTF-8, and CodeDenied where it is too large, nested too deep or not a command at all.
func ParseCommand(command string) (Shell, error) {
	j := &judge{req: Request{Command: command}, prof: Standard(), seen: map[string]bool{}, least: pawl.RiskLow}
	if !j.script(command, syntax.LangBash, []string{""}) {
		if err := j.verdict().Err(); err != nil {
			return Shell{}, err
		}
		return Shell{}, pawl.Fail(pawl.CodeDenied, "policy.unparsable", "").In("policy.parse")
	}
	return Shell{Calls: j.calls, Paths: j.paths, Network: j.network}, nil
}

// script parses and judges shell text that runs in one of cwds, as a shell of that kind reads it. It reports whether the
// text could be parsed; where it could not, the refusal is recorded.
func (j *judge) script(src string, kind syntax.LangVariant, cwds []string) bool {
	if !j.readable(src) {
		return false
	}
	parser := syntax.NewParser(syntax.Variant(kind), syntax.KeepComments(true))
	file, err := parser.Parse(strings.NewReader(src), "")
	if err != nil {
		j.find(Deny, CodeUnparsable, err.Error())
		return false
	}
	if len(file.Stmts) == 0 {
		j.find(Deny, CodeUnparsable, src)
		return false
	}
	if !j.alike(src, file) {
		return false
	}
	j.hides = j.hides || hidesCommand(file)
	w := &walker{judge: j, src: src}
	w.vars = w.assignments(file)
	w.stmts(file.Stmts, cwds)
	return true
}

// hidesCommand reports whether a quoted part of the text holds a command substitution, which a feature of the shell that
// reads text as code would run.
func hidesCommand(file *syntax.File) (found bool) {
	syntax.Walk(file, func(n syntax.Node) bool {
		text := ""
		switch n := n.(type) {
		case *syntax.SglQuoted:
			text = n.Value
		case *syntax.Lit:
			text = n.Value
		}
		found = found || strings.Contains(text, "$(") || strings.Contains(text, "`") || strings.Contains(text, `\$`)
		return !found
	})
	return found
}

// walker judges the syntax tree of one shell text.
type walker struct {
	judge *judge
	src   string
	vars  map[string][]word // the values that a variable of the text can have; nil where they are not known
	grown int               // the words that braces and variables have added
}

// readable refuses text that two readers could read differently, and text that is too large or nested too deep to parse.
func (j *judge) readable(src string) bool {
	if len(src) > maxCommand {
		j.find(Deny, CodeTooComplex, "64 KiB")
		return false
	}
	if !utf8.ValidString(src) {
		j.find(Deny, CodeInvalidText)
		return false
	}
	odd := false
	for _, r := range src {
		switch {
		case r == '\n' || r == '\t':
		case r < ' ' || r >= 0x7f && r < 0xa0:
			j.find(Deny, CodeInvalidText)
			return false
		case r > 0x7f && hidden(r):
			odd = true
		}
	}
	if odd {
		j.find(Ask, CodeHiddenText)
	}
	if openers(src) > maxOpeners {
		j.find(Deny, CodeTooComplex, "nesting")
		return false
	}
	return true
}

// openers counts what could open a nested construct, wherever it stands. A parser descends at most that deep.
func openers(src string) int {
	n := strings.Count(src, "(") + strings.Count(src, "{") + strings.Count(src, "[") + strings.Count(src, "`") + strings.Count(src, "?") + strings.Count(src, "!")
	for _, w := range strings.FieldsFunc(src, func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch w {
		case "if", "elif", "while", "until", "for", "case", "select", "function", "coproc", "time":
			n++
		}
	}
	return n
}

// assignments returns the values that each variable of the text can have, where every assignment to it is literal. The
// shell may run them in any order as far as this knows, so all of them count at every place.
func (s *walker) assignments(file *syntax.File) map[string][]word {
	vars := map[string][]word{}
	lost := map[string]bool{}
	note := func(name string, w *syntax.Word) {
		values := s.plain(w)
		if len(values) == 0 || len(vars[name])+len(values) > maxAlternatives || name != strings.ToLower(name) {
			lost[name] = true
			return
		}
		vars[name] = append(vars[name], values...)
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			switch {
			case n.Name == nil:
			case n.Append || n.Array != nil || n.Index != nil || n.Naked || n.Value == nil:
				lost[n.Name.Value] = true
			default:
				note(n.Name.Value, n.Value)
			}
		case *syntax.WordIter:
			if !n.InPos.IsValid() {
				lost[n.Name.Value] = true
			}
			for _, item := range n.Items {
				note(n.Name.Value, item)
			}
		case *syntax.CallExpr:
			// Builtins that set variables, or that could: every word of theirs may be a name.
			var argv []word
			for _, a := range n.Args {
				argv = append(argv, s.plain(a)...)
			}
			if len(argv) > 0 && slices.Contains(setters, argv[0].text) {
				for _, a := range argv[1:] {
					lost[a.text] = true
				}
			}
		}
		return true
	})
	for name := range lost {
		vars[name] = nil
	}
	return vars
}

// plain returns the words that w stands for where it holds nothing but literal text, else nil.
func (s *walker) plain(w *syntax.Word) []word {
	for _, part := range w.Parts {
		switch x := part.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			for _, inner := range x.Parts {
				if _, ok := inner.(*syntax.Lit); !ok {
					return nil
				}
			}
		default:
			return nil
		}
	}
	words := s.expand(w, nil)
	for _, x := range words {
		if x.dynamic || x.home {
			return nil
		}
	}
	return words
}

// outcome says in which folders the shell may be after a statement that succeeded and after one that failed.
type outcome struct{ ok, fail []string }

func (o outcome) either() []string { return union(o.ok, o.fail) }

// same is the outcome of a statement that changes no folder.
func same(cwds []string) outcome { return outcome{cwds, cwds} }

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// stmts judges statements that follow each other.
func (s *walker) stmts(list []*syntax.Stmt, cwds []string) outcome {
	out := same(cwds)
	for _, st := range list {
		out = s.stmt(st, out.either())
		if len(out.either()) > maxFolders {
			s.judge.find(Deny, CodeTooComplex, "cd")
			return same(cwds[:1])
		}
	}
	return out
}

// stmt judges one statement with its redirections.
func (s *walker) stmt(st *syntax.Stmt, cwds []string) outcome {
	if s.judge.depth += 1; s.judge.depth > maxRaised {
		s.judge.depth--
		s.judge.find(Deny, CodeTooComplex, "nesting")
		return same(cwds)
	}
	defer func() { s.judge.depth-- }()
	for _, r := range st.Redirs {
		s.redirect(r, cwds)
	}
	if st.Coprocess || st.Disown {
		s.judge.find(Ask, CodeShellFeature, "|&")
	}
	out := s.cmd(st.Cmd, cwds)
	if st.Negated {
		out.ok, out.fail = out.fail, out.ok
	}
	if st.Background {
		return same(cwds)
	}
	return out
}

// cmd judges a command of any kind.
func (s *walker) cmd(cmd syntax.Command, cwds []string) outcome {
	switch x := cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		return s.callExpr(x, cwds)
	case *syntax.BinaryCmd:
		return s.chain(x, cwds)
	case *syntax.Subshell:
		s.stmts(x.Stmts, cwds)
	case *syntax.Block:
		return s.stmts(x.Stmts, cwds)
	case *syntax.IfClause:
		return same(s.branches(x, cwds))
	case *syntax.WhileClause:
		return s.loop(slices.Concat(x.Cond, x.Do), cwds)
	case *syntax.ForClause:
		return s.forClause(x, cwds)
	case *syntax.CaseClause:
		return s.caseClause(x, cwds)
	case *syntax.TimeClause:
		if x.Stmt != nil {
			return s.stmt(x.Stmt, cwds)
		}
	case *syntax.TestClause:
		s.testClause(x, cwds)
	case *syntax.DeclClause:
		s.declClause(x, cwds)
	case *syntax.FuncDecl:
		s.judge.odd("function")
		s.stmt(x.Body, cwds)
	case *syntax.CoprocClause:
		s.judge.find(Ask, CodeShellFeature, "coproc")
		s.stmt(x.Stmt, cwds)
	default:
		s.judge.find(Ask, CodeShellFeature, s.source(cmd))
		s.inner(cmd, cwds)
	}
	return same(cwds)
}

// chain judges a && b, a || b and a | b. Long chains lean to the left, so they are taken apart without recursion.
func (s *walker) chain(x *syntax.BinaryCmd, cwds []string) outcome {
	spine := []*syntax.BinaryCmd{x}
	for {
		left := spine[len(spine)-1].X
		inner, ok := left.Cmd.(*syntax.BinaryCmd)
		if !ok || len(left.Redirs) > 0 || left.Negated || left.Background || left.Coprocess || left.Disown {
			break
		}
		spine = append(spine, inner)
	}
	out := s.stmt(spine[len(spine)-1].X, cwds)
	for _, b := range slices.Backward(spine) {
		switch b.Op {
		case syntax.AndStmt:
			y := s.stmt(b.Y, out.ok)
			out = outcome{y.ok, union(out.fail, y.fail)}
		case syntax.OrStmt:
			y := s.stmt(b.Y, out.fail)
			out = outcome{union(out.ok, y.ok), y.fail}
		default:
			s.stmt(b.Y, cwds)
			out = same(cwds)
		}
	}
	return out
}

func (s *walker) branches(x *syntax.IfClause, cwds []string) []string {
	out := cwds
	for clause := x; clause != nil; clause = clause.Else {
		cond := s.stmts(clause.Cond, cwds)
		then := s.stmts(clause.Then, cond.either())
		out = union(out, then.either())
		cwds = cond.either()
	}
	return union(out, cwds)
}

// loop judges statements that repeat. Where they move to another folder, no one knows where they end.
func (s *walker) loop(body []*syntax.Stmt, cwds []string) outcome {
	out := s.stmts(body, cwds).either()
	if len(union(cwds, out)) > len(cwds) {
		s.judge.find(Ask, CodeDynamic, "cd")
	}
	return same(union(cwds, out))
}

func (s *walker) forClause(x *syntax.ForClause, cwds []string) outcome {
	switch l := x.Loop.(type) {
	case *syntax.WordIter:
		s.words(l.Items, cwds)
		if x.Select {
			s.judge.find(Ask, CodeShellFeature, "select")
		}
	default:
		s.judge.odd("for ((")
		s.inner(x.Loop, cwds)
	}
	return s.loop(x.Do, cwds)
}

func (s *walker) caseClause(x *syntax.CaseClause, cwds []string) outcome {
	s.expand(x.Word, cwds)
	out := cwds
	for _, item := range x.Items {
		s.words(item.Patterns, cwds)
		out = union(out, s.stmts(item.Stmts, cwds).either())
	}
	return same(out)
}

// testClause judges [[ … ]]. Comparisons of numbers and -v evaluate text as code.
func (s *walker) testClause(x *syntax.TestClause, cwds []string) {
	syntax.Walk(x.X, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				s.judge.odd("[[ " + n.Op.String())
			}
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				s.judge.odd("[[ " + n.Op.String())
			}
		case *syntax.Word:
			s.expand(n, cwds)
			return false
		}
		return true
	})
}

// declClause judges export, declare, local and readonly.
func (s *walker) declClause(x *syntax.DeclClause, cwds []string) {
	exports := x.Variant.Value == "export"
	for _, a := range x.Args {
		switch {
		case a.Name == nil:
			for _, w := range s.expand(a.Value, cwds) {
				switch {
				case w.dynamic || w.expanded:
					s.judge.find(Ask, CodeDynamic, w.text)
				case w.text == "-x":
					exports = true
				case w.text != "-r" && w.text != "-p":
					s.judge.odd(x.Variant.Value + " " + w.text)
				}
			}
		default:
			s.assign(a, exports, cwds)
		}
	}
	s.judge.record([]word{literal(x.Variant.Value)})
}

// assign judges one assignment. Exported says that programs see it.
func (s *walker) assign(a *syntax.Assign, exported bool, cwds []string) {
	if a.Index != nil {
		s.judge.odd(s.source(a))
		s.inner(a, cwds)
	} else if a.Value != nil {
		for _, w := range s.expand(a.Value, cwds) {
			switch {
			case !s.judge.own || !exported || !tuning(a.Name.Value):
			case w.dynamic:
				s.judge.guess(w)
			default:
				s.judge.attached(w, cwds)
			}
		}
	}
	if a.Array != nil {
		s.inner(a.Array, cwds)
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				s.judge.odd(s.source(a))
			}
		}
	}
	s.judge.variable(a.Name.Value, exported)
}

// variable judges a change to a variable by its name. Most variables that programs read can make one of them run something
// else, so only names that are known to be inert pass.
func (j *judge) variable(name string, exported bool) {
	switch {
	case j.held && slices.Contains(pagers, name), j.own && tuning(name):
	case dangerousVariable(name):
		j.find(Deny, CodeEnvironment, name)
	case slices.Contains(inertVariables, name) || strings.HasPrefix(name, "LC_"):
	case (exported || name != strings.ToLower(name)) && !j.held:
		j.find(Ask, CodeEnvironment, name)
	}
}

// tuning reports whether a variable only makes the tools of an ecosystem run another program or use another place, which
// they may do anyway where walls hold them. What changes the meaning of the text itself, what the loader or every shell
// obeys, and what git and proxies obey, is not among them.
func tuning(name string) bool {
	lower := strings.ToLower(name)
	return slices.Contains(tuningVariables, name) ||
		slices.ContainsFunc(tuningPrefixes, func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
}

func dangerousVariable(name string) bool {
	if slices.Contains(dangerousVariables, name) {
		return true
	}
	lower := strings.ToLower(name)
	for _, prefix := range dangerousPrefixes {
		if strings.HasPrefix(lower, prefix) {
			return !slices.Contains(inertVariables, name)
		}
	}
	return strings.HasSuffix(lower, "_proxy")
}

// redirect judges a redirection and what its words hold.
func (s *walker) redirect(r *syntax.Redirect, cwds []string) {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		s.judge.find(Ask, CodeShellFeature, r.N.Value)
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil {
			s.expand(r.Hdoc, cwds)
		}
		return
	case syntax.WordHdoc:
		s.expand(r.Word, cwds)
		return
	}
	op := OpWrite
	if r.Op == syntax.RdrIn || r.Op == syntax.DplIn {
		op = OpRead
	}
	targets := s.expand(r.Word, cwds)
	for _, w := range targets {
		if (r.Op == syntax.DplOut || r.Op == syntax.DplIn) && isDescriptor(w) {
			continue
		}
		if w.pattern || len(targets) > 1 {
			s.judge.find(Ask, CodeDynamic, w.text)
		}
		s.judge.file(w, op, cwds)
	}
}

// isDescriptor reports whether the word of >& or <& names an open file rather than a path.
func isDescriptor(w word) bool {
	t := strings.TrimSuffix(w.text, "-")
	return !w.dynamic && (t != "" || w.text == "-") && strings.Trim(t, "0123456789") == ""
}

// callExpr judges a simple command with its assignments.
func (s *walker) callExpr(x *syntax.CallExpr, cwds []string) outcome {
	for _, a := range x.Assigns {
		if a.Name.Value == "IFS" && a.Index == nil && len(x.Args) > 0 && x.Args[0].Lit() == "read" {
			s.expand(a.Value, cwds) // how one read splits its line is nobody else's business
			continue
		}
		s.assign(a, len(x.Args) > 0, cwds)
	}
	if len(x.Args) == 0 {
		return same(cwds)
	}
	return s.judge.call(s.words(x.Args, cwds), cwds)
}

var (
	// setters are the builtins that change variables which they are told by name.
	setters = []string{"read", "mapfile", "readarray", "printf", "getopts", "unset", "let", "wait", "builtin", "command", "eval", "source", "."}

	// pagers are started for a terminal only, and no command has one.
	pagers          = []string{"PAGER", "MANPAGER", "GIT_PAGER", "LESS"}
	tuningVariables = []string{"CC", "CXX", "CPP", "AR", "GOFLAGS", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN", "MAKEFLAGS", "RUSTC", "RUSTFLAGS", "RUSTDOCFLAGS", "CLASSPATH"}
	tuningPrefixes  = []string{
		"npm_", "yarn_", "pnpm_", "node_", "python", "pytest_", "pip_", "ruby", "bundle_", "java_", "_java", "maven_", "gradle_",
		"cargo_", "rustc_", "dotnet_", "cgo_", "eslint_",
	}

	// inertVariables change what programs print or how hard they work, and nothing else.
	inertVariables = []string{
		"CI", "DEBUG", "VERBOSE", "V", "TZ", "LANG", "LANGUAGE", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE",
		"TERM", "COLUMNS", "LINES", "CGO_ENABLED", "GOOS", "GOARCH", "GOARM", "GOAMD64", "GO111MODULE", "GOMAXPROCS", "GOGC",
		"GOMEMLIMIT", "GOTRACEBACK", "NODE_ENV", "BABEL_ENV", "RUST_BACKTRACE", "RUST_LOG", "RUST_TEST_THREADS",
		"CARGO_TERM_COLOR", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONHASHSEED", "RAILS_ENV",
		"RACK_ENV", "APP_ENV", "MIX_ENV", "ASPNETCORE_ENVIRONMENT", "DOTNET_CLI_TELEMETRY_OPTOUT", "DOTNET_NOLOGO",
		"CTEST_OUTPUT_ON_FAILURE", "SOURCE_DATE_EPOCH", "OPTIND",
	}
	dangerousVariables = []string{
		"PATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "CDPATH",
		"HOME", "PWD", "OLDPWD", "SHELL", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE",
		"CC", "CXX", "CPP", "LD", "AR", "AS", "GOFLAGS", "GOROOT", "GOPATH", "GOENV", "GOTOOLCHAIN", "GOTOOLDIR", "GOPROXY",
		"GONOSUMDB", "GOSUMDB", "GOINSECURE", "GOCACHEPROG", "GOAUTH", "MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS",
		"RUSTC", "RUSTDOC", "RUSTFLAGS", "RUSTDOCFLAGS", "TAR_OPTIONS", "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "TMPDIR", "EXECIGNORE", "GLOBIGNORE",
		"FIGNORE", "FPATH", "HISTFILE", "MAIL", "MAILPATH", "FUNCNEST", "POSIXLY_CORRECT", "GCONV_PATH", "LOCPATH",
		"GZIP", "ZIPOPT", "UNZIP", "XDG_CONFIG_HOME", "CLASSPATH", "CARGO", "PHPRC",
		"PHP_INI_SCAN_DIR", "AWKPATH", "AWKLIBPATH", "MALLOC_CONF", "OPENSSL_CONF", "CMAKE_TOOLCHAIN_FILE",
	}
	dangerousPrefixes = []string{
		"ld_", "dyld_", "bash_func", "git_", "ssh_", "npm_", "yarn_", "pnpm_", "node_", "python", "perl", "ruby", "gem_",
		"bundle_", "java_", "_java", "jdk_", "maven_", "mvn_", "gradle_", "cargo_", "rustc_", "rustup_", "dotnet_", "coreclr_",
		"cgo_", "pip_", "virtual_env", "pytest_", "eslint_", "lua_", "gcc_", "compiler_path", "electron_", "docker_",
	}
)
