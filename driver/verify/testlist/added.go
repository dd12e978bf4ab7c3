package testlist

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Adds reports whether a file of tests became another one only by tests that were added: every test that was there, and
// all that stands around them, says what it said, and nothing new runs before them or takes a name that they use. It
// errs on the other side: what it cannot tell is no addition.
func Adds(file string, before, after []byte) bool {
	switch path.Ext(file) {
	case ".go":
		return goAdds(before, after)
	case ".py":
		return pythonAdditions().add(before, after)
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts":
		return scriptAdditions().add(before, after)
	}
	return false
}

// goDirective matches comments that tell the compiler something.
var goDirective = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)//(?:go:|export |line |extern |[ \t]*\+build)[^\n]*|/\*line `)
})

// goAdds compares declarations. What is new may be an import by its own name, a test, or a function or type that takes
// no name of the language: a variable and init run before the tests, TestMain in their place, and a method may change
// what a type is taken for.
func goAdds(before, after []byte) bool {
	had, ok := goParts(before)
	has, parsed := goParts(after)
	if !ok || !parsed || !slices.Equal(goDirective().FindAllString(string(before), -1),
		goDirective().FindAllString(string(after), -1)) {
		return false
	}
	for text, d := range has {
		if had[text] != nil {
			continue
		}
		switch d := d.(type) {
		case *ast.ImportSpec:
			if d.Name != nil {
				return false
			}
		case *ast.FuncDecl:
			if d.Recv != nil || d.Name.Name == "init" || d.Name.Name == "TestMain" || types.Universe.Lookup(d.Name.Name) != nil {
				return false
			}
		case *ast.TypeSpec:
			if types.Universe.Lookup(d.Name.Name) != nil {
				return false
			}
		default:
			return false
		}
	}
	for text := range had {
		if has[text] == nil {
			return false
		}
	}
	return true
}

// goParts are the head, imports and declarations of a file by what they say.
func goParts(text []byte) (map[string]ast.Node, bool) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, false
	}
	out := map[string]ast.Node{}
	keep := func(kind string, n ast.Node) {
		key := kind + string(text[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])
		for out[key] != nil {
			key += "\x00" // two that say the same are not one
		}
		out[key] = n
	}
	keep(string(text[:set.Position(f.Name.Pos()).Offset]), f.Name)
	if slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"C"` }) {
		return nil, false // whose comments are code
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok == token.CONST || g.Tok == token.VAR { // what a constant is depends on those around it
			keep("", d)
			continue
		}
		for _, s := range g.Specs {
			keep(g.Tok.String()+" ", s)
		}
	}
	return out, true
}

// additions say for a language without a parser, line by line, what may be added to the end of a file, and which
// imports may be added above.
type additions struct {
	// imports matches an import by the names that it binds, which a new one may go on with; ends are lines with which a
	// file may close behind what was added.
	imports, word, ends *regexp.Regexp
	// first matches the lines behind which no import is looked for.
	first *regexp.Regexp
	// tests reports whether lines behind others are nothing but tests, and which names they bind.
	tests func(behind, lines []string) (names []string, ok bool)
}

// add reports whether a file became another one by such additions alone.
func (a additions) add(before, after []byte) bool {
	old, now := sourceLines(before), sourceLines(after)
	if len(old) == 0 || strings.ContainsAny(strings.Join(now, ""), "\r\f\v\x00\u2028\u2029") { // which end lines for some
		return false
	}
	for !a.behind(before, old, now) {
		if len(old) < 2 || len(now) < 2 || !a.ends.MatchString(old[len(old)-1]) || old[len(old)-1] != now[len(now)-1] {
			return false
		}
		old, now = trimmed(old[:len(old)-1]), trimmed(now[:len(now)-1])
	}
	return true
}

// behind reports whether lines became others by imports and by tests at the end.
func (a additions) behind(before []byte, old, now []string) bool {
	var names []string
	was, top := old, true
	for len(old) > 0 {
		if len(now) == 0 {
			return false
		}
		if old[0] == now[0] {
			top = top && !a.first.MatchString(old[0])
			old, now = old[1:], now[1:]
			continue
		}
		n := a.imports.FindStringSubmatch(now[0])
		if n == nil || !top {
			return false
		}
		bound := a.word.FindAllString(n[2], -1)
		if o := a.imports.FindStringSubmatch(old[0]); o != nil && o[1] == n[1] && o[3] == n[3] {
			for _, known := range a.word.FindAllString(o[2], -1) {
				i := slices.Index(bound, known)
				if i < 0 {
					return false
				}
				bound = slices.Delete(bound, i, i+1)
			}
			old = old[1:]
		}
		names, now = append(names, bound...), now[1:]
	}
	more, ok := a.tests(was, now)
	for _, n := range append(names, more...) { // what has a name that is used already may stand for it from then on
		if regexp.MustCompile(`\b` + regexp.QuoteMeta(n) + `\b`).Match(before) {
			return false
		}
	}
	return ok
}

func sourceLines(text []byte) []string {
	return trimmed(strings.Split(string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), "\n"))
}

// trimmed drops empty lines at the end.
func trimmed(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

var pythonAdditions = sync.OnceValue(func() additions {
	return additions{
		imports: regexp.MustCompile(`^(from [\w.]+ )?import ((?:\w+(?:, )?)+)()$`),
		word:    regexp.MustCompile(`\w+`),
		first:   regexp.MustCompile(`^(?:class|def|async|@)|"""|'''`),
		ends:    regexp.MustCompile(`^(if __name__ == ["']__main__["']:|    unittest\.main\(\))$`),
		tests:   pythonTests,
	}
})

// pythonAdded matches the lines that begin a test or a class of tests. They evaluate nothing when they are read, and
// inherit no test that one of the same name could take the place of.
var pythonAdded = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:class (\w+)(?:\((?:unittest\.)?TestCase\))?|(    )?(?:async )?def (test_\w+)\((?:\w+(?:, )?)*\)(?: -> None)?):$`)
})

// pythonTests takes classes, methods and functions, with bodies that are further in than any code that runs when the
// file is read. A method may belong to the class with which the file ended.
func pythonTests(behind, lines []string) (names []string, ok bool) {
	const nowhere = 1 << 20
	class, body := false, nowhere
	for _, l := range behind {
		if strings.HasPrefix(l, "class ") {
			class = pythonAdded().MatchString(l)
		}
	}
	for _, l := range lines {
		code := strings.TrimLeft(l, " ")
		if code == "" || code[0] == '#' {
			continue
		}
		if m := pythonAdded().FindStringSubmatch(l); m != nil {
			switch {
			case m[1] != "":
				class, body = true, nowhere // what stands in it directly runs when it is read
			case m[2] == "":
				body = 4
			case !class:
				return nil, false
			default:
				body = 8
			}
			names = append(names, m[1]+m[3])
			continue
		}
		if code[0] == '\t' || len(l)-len(code) < body {
			return nil, false
		}
	}
	return names, true
}

var scriptAdditions = sync.OnceValue(func() additions {
	return additions{
		imports: regexp.MustCompile(`^((?:import|const) \{ )((?:\w+(?:, )?)+)( \} (?:from |= require\()['"][^'"]+['"]\)?;?)$`),
		word:    regexp.MustCompile(`\w+`),
		first:   regexp.MustCompile("^(?:test|it|describe|suite|before|after|function|async|class)|`"),
		ends:    regexp.MustCompile(`^\s*\}\);?$`),
		tests:   scriptTests,
	}
})

var (
	scriptBegins = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(?:test|it)\((?:'[^'\\]*'|"[^"\\]*"), (?:async )?(?:\(\w*\) =>|\w+ =>|function \(\w*\)) \{$`)
	})
	scriptText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\s//.*|^\s*//.*`)
	})
)

// scriptTests takes calls of test and it, whole ones: within them no bracket is closed that was not opened there.
// Regular expressions and templates, in which brackets are none, cannot be told apart and are not taken.
func scriptTests(_, lines []string) (names []string, ok bool) {
	depth := 0
	for _, l := range lines {
		code := strings.TrimSpace(scriptText().ReplaceAllString(l, ""))
		switch {
		case depth == 0 && code == "":
			continue
		case depth == 0 && !scriptBegins().MatchString(l), strings.ContainsAny(code, "/`'\"\\"),
			strings.Contains(code, "<!--"), strings.Contains(code, "-->"): // these two are comments
			return nil, false
		}
		for i, c := range code {
			if strings.ContainsRune("([{", c) {
				depth++
			} else if strings.ContainsRune(")]}", c) {
				if depth--; depth < 0 || depth == 0 && (strings.Trim(code[i+1:], ";") != "" || !strings.HasPrefix(code, "})")) {
					return nil, false
				}
			}
		}
	}
	return nil, depth == 0
}
