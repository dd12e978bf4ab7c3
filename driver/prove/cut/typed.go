package cut

import (
	"regexp"
	"strings"
	"sync"
)

// typed is a language with braces whose functions say what they return.
type typed struct {
	// function matches the beginning of one, with its type where that stands first, and its name, up to the bracket.
	function func() *regexp.Regexp
	// nothing returns the result of nothing for a type, or what stands between the parameters and the body.
	nothing func(kind, tail string) string
}

var (
	// modified matches a method of Java and C#, which has a word before its type.
	modified = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*(?:(?:public|private|protected|internal|static|final|sealed|synchronized|` +
			`override|virtual|async)\s+)+(?:<[^>\n]*>\s*)?([\w.<>\[\],? ]+?)\s+(\w+)\s*\(`)
	})
	rust    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`()\bfn\s+(\w+)\s*(?:<[^({]*>)?\s*\(`) })
	cFamily = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*((?:[\w:<>,]+[ \t*&]+)+)([\w:]+)\s*\(`)
	})
	rustType = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)->\s*(.*?)\s*(\bwhere\b.*)?$`) })
	integer  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(byte|short|int|long|float|double|char)$`) })
)

var typedLanguages = map[string]typed{
	".rs": {rust, func(_, tail string) string {
		m := rustType().FindStringSubmatch(tail)
		switch {
		case m == nil:
			return "return;"
		case strings.HasPrefix(m[1], "Result"), strings.Contains(m[1], "::Result"):
			return "return Ok(Default::default());"
		}
		return "return Default::default();"
	}},
	".java": {modified, func(kind, _ string) string {
		switch {
		case kind == "void":
			return "return;"
		case kind == "boolean":
			return "return false;"
		case integer().MatchString(kind):
			return "return 0;"
		}
		return "return null;"
	}},
	".cs": {modified, func(kind, _ string) string {
		if kind == "void" || kind == "Task" {
			return "return;"
		}
		return "return default;"
	}},
	".c":   {cFamily, cNothing("return 0;")},
	".cc":  {cFamily, cNothing("return {};")},
	".cpp": {cFamily, cNothing("return {};")},
	".cxx": {cFamily, cNothing("return {};")},
}

func cNothing(result string) func(kind, tail string) string {
	return func(kind, _ string) string {
		if words := strings.Fields(kind); len(words) > 0 && words[len(words)-1] == "void" {
			return "return;"
		}
		return result
	}
}

// character matches one in quotes, which a lifetime is not.
var character = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^'(\\[^']*|[^\\'\n])'`) })

func typedText(rest, before string) int {
	if rest[0] == '\'' {
		return len(character().FindString(rest))
	}
	if rest[0] == '/' && !strings.HasPrefix(rest, "//") && !strings.HasPrefix(rest, "/*") || rest[0] == '`' {
		return 0
	}
	return scriptText(rest, before)
}

// typedParts finds functions of languages with types, which return the result of nothing at once. The condition keeps
// compilers from complaining of what stands behind.
func typedParts(lang typed, before, now string) []Part {
	code := mask(now, typedText)
	var out []Part
	for _, m := range lang.function().FindAllStringSubmatchIndex(code, -1) {
		kind, name, paren := strings.TrimSpace(code[m[2]:m[3]]), code[m[4]:m[5]], closing(code, m[1]-1)
		if paren < 0 || scriptWords[name] || scriptWords[kind] {
			continue
		}
		open := paren + strings.IndexByte(code[paren:]+"{", '{')
		if open >= len(code) || strings.ContainsAny(code[paren:open], ";}") {
			continue // a call, or a declaration
		}
		end := closing(code, open)
		if end < 0 || strings.TrimSpace(code[open+1:end-1]) == "" || strings.Contains(before, now[m[0]:end]) {
			continue
		}
		line := lineOf(now, m[4])
		condition := "(1 < 2)"
		if kind == "" {
			condition = "1 < 2"
		}
		out = append(out, Part{Line: line, Name: name, From: open + 1, To: open + 1,
			With: " if " + condition + " { " + lang.nothing(kind, code[paren:open]) + " } ", begins: line,
			ends: lineOf(now, end-1) + 1})
	}
	return out
}
