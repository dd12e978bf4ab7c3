package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker walks the syntax tree of one shell text and tells the visitor what it meets.
type walker struct {
	reader  *Reader
	visitor Visitor
	src     string
	vars    map[string][]Word // the values that a variable of the text can have; nil where they are not known
	grown   int               // the words that braces and variables have added
}

// assignments returns the values that each variable of the text can have, where every assignment to it is literal. The
// shell may run them in any order as far as this knows, so all of them count at every place.
func (s *walker) assignments(file *syntax.File) map[string][]Word {
	vars := map[string][]Word{}
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
			var argv []Word
			for _, a := range n.Args {
				argv = append(argv, s.plain(a)...)
			}
			if len(argv) > 0 && slices.Contains(setters, argv[0].Text) {
				for _, a := range argv[1:] {
					lost[a.Text] = true
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
func (s *walker) plain(w *syntax.Word) []Word {
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
		if x.Dynamic || x.Home {
			return nil
		}
	}
	return words
}

// Outcome says in which folders the shell may be after a statement that succeeded and after one that failed.
type Outcome struct{ OK, Fail []string }

func (o Outcome) either() []string { return union(o.OK, o.Fail) }

// Same is the outcome of a statement that changes no folder.
func Same(dirs []string) Outcome { return Outcome{dirs, dirs} }

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// stmts walks statements that follow each other.
func (s *walker) stmts(list []*syntax.Stmt, cwds []string) Outcome {
	out := Same(cwds)
	for _, st := range list {
		out = s.stmt(st, out.either())
		if len(out.either()) > maxFolders {
			s.visitor.Doubt(TooComplex, "cd")
			return Same(cwds[:1])
		}
	}
	return out
}

// stmt walks one statement with its redirections.
func (s *walker) stmt(st *syntax.Stmt, cwds []string) Outcome {
	if s.reader.depth += 1; s.reader.depth > maxRaised {
		s.reader.depth--
		s.visitor.Doubt(TooComplex, "nesting")
		return Same(cwds)
	}
	defer func() { s.reader.depth-- }()
	for _, r := range st.Redirs {
		s.redirect(r, cwds)
	}
	if st.Coprocess || st.Disown {
		s.visitor.Doubt(Feature, "|&")
	}
	out := s.cmd(st.Cmd, cwds)
	if st.Negated {
		out.OK, out.Fail = out.Fail, out.OK
	}
	if st.Background {
		return Same(cwds)
	}
	return out
}

// cmd walks a command of any kind.
func (s *walker) cmd(cmd syntax.Command, cwds []string) Outcome {
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
		return Same(s.branches(x, cwds))
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
		s.visitor.Doubt(Evaluated, "function")
		s.stmt(x.Body, cwds)
	case *syntax.CoprocClause:
		s.visitor.Doubt(Feature, "coproc")
		s.stmt(x.Stmt, cwds)
	default:
		s.visitor.Doubt(Feature, s.source(cmd))
		s.inner(cmd, cwds)
	}
	return Same(cwds)
}

// chain walks a && b, a || b and a | b. Long chains lean to the left, so they are taken apart without recursion.
func (s *walker) chain(x *syntax.BinaryCmd, cwds []string) Outcome {
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
			y := s.stmt(b.Y, out.OK)
			out = Outcome{y.OK, union(out.Fail, y.Fail)}
		case syntax.OrStmt:
			y := s.stmt(b.Y, out.Fail)
			out = Outcome{union(out.OK, y.OK), y.Fail}
		default:
			s.stmt(b.Y, cwds)
			out = Same(cwds)
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

// loop walks statements that repeat. Where they move to another folder, no one knows where they end.
func (s *walker) loop(body []*syntax.Stmt, cwds []string) Outcome {
	out := s.stmts(body, cwds).either()
	if len(union(cwds, out)) > len(cwds) {
		s.visitor.Doubt(Dynamic, "cd")
	}
	return Same(union(cwds, out))
}

func (s *walker) forClause(x *syntax.ForClause, cwds []string) Outcome {
	switch l := x.Loop.(type) {
	case *syntax.WordIter:
		s.words(l.Items, cwds)
		if x.Select {
			s.visitor.Doubt(Feature, "select")
		}
	default:
		s.visitor.Doubt(Evaluated, "for ((")
		s.inner(x.Loop, cwds)
	}
	return s.loop(x.Do, cwds)
}

func (s *walker) caseClause(x *syntax.CaseClause, cwds []string) Outcome {
	s.expand(x.Word, cwds)
	out := cwds
	for _, item := range x.Items {
		s.words(item.Patterns, cwds)
		out = union(out, s.stmts(item.Stmts, cwds).either())
	}
	return Same(out)
}

// testClause walks [[ … ]]. Comparisons of numbers and -v evaluate text as code.
func (s *walker) testClause(x *syntax.TestClause, cwds []string) {
	syntax.Walk(x.X, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				s.visitor.Doubt(Evaluated, "[[ "+n.Op.String())
			}
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				s.visitor.Doubt(Evaluated, "[[ "+n.Op.String())
			}
		case *syntax.Word:
			s.expand(n, cwds)
			return false
		}
		return true
	})
}

// declClause walks export, declare, local and readonly.
func (s *walker) declClause(x *syntax.DeclClause, cwds []string) {
	exports := x.Variant.Value == "export"
	for _, a := range x.Args {
		switch {
		case a.Name == nil:
			for _, w := range s.expand(a.Value, cwds) {
				switch {
				case w.Dynamic || w.Expanded:
					s.visitor.Doubt(Dynamic, w.Text)
				case w.Text == "-x":
					exports = true
				case w.Text != "-r" && w.Text != "-p":
					s.visitor.Doubt(Evaluated, x.Variant.Value+" "+w.Text)
				}
			}
		default:
			s.assign(a, exports, cwds)
		}
	}
	s.visitor.Declare(x.Variant.Value)
}

// assign tells of one assignment. Exported says that programs see it.
func (s *walker) assign(a *syntax.Assign, exported bool, cwds []string) {
	var values []Word
	if a.Index != nil {
		s.visitor.Doubt(Evaluated, s.source(a))
		s.inner(a, cwds)
	} else if a.Value != nil {
		values = s.expand(a.Value, cwds)
	}
	if a.Array != nil {
		s.inner(a.Array, cwds)
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				s.visitor.Doubt(Evaluated, s.source(a))
			}
		}
	}
	s.visitor.Assign(a.Name.Value, values, exported, cwds)
}

// redirect walks a redirection and what its words hold.
func (s *walker) redirect(r *syntax.Redirect, cwds []string) {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		s.visitor.Doubt(Feature, r.N.Value)
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
	writes := r.Op != syntax.RdrIn && r.Op != syntax.DplIn
	targets := s.expand(r.Word, cwds)
	for _, w := range targets {
		if (r.Op == syntax.DplOut || r.Op == syntax.DplIn) && isDescriptor(w) {
			continue
		}
		if w.Pattern || len(targets) > 1 {
			s.visitor.Doubt(Dynamic, w.Text)
		}
		s.visitor.Open(w, writes, cwds)
	}
}

// isDescriptor reports whether the word of >& or <& names an open file rather than a path.
func isDescriptor(w Word) bool {
	t := strings.TrimSuffix(w.Text, "-")
	return !w.Dynamic && (t != "" || w.Text == "-") && strings.Trim(t, "0123456789") == ""
}

// callExpr walks a simple command with its assignments.
func (s *walker) callExpr(x *syntax.CallExpr, cwds []string) Outcome {
	for _, a := range x.Assigns {
		if a.Name.Value == "IFS" && a.Index == nil && len(x.Args) > 0 && x.Args[0].Lit() == "read" {
			s.expand(a.Value, cwds) // how one read splits its line is nobody else's business
			continue
		}
		s.assign(a, len(x.Args) > 0, cwds)
	}
	if len(x.Args) == 0 {
		return Same(cwds)
	}
	return s.visitor.Call(s.words(x.Args, cwds), cwds)
}

// setters are the builtins that change variables which they are told by name.
var setters = []string{
	"read", "mapfile", "readarray", "printf", "getopts", "unset", "let", "wait", "builtin", "command", "eval", "source",
	".",
}
