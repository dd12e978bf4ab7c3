package cut

import (
	"regexp"
	"strings"
	"sync"
)

var (
	pythonDef = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^([ \t]*)(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(`)
	})
	pythonNothing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(pass|\.\.\.|return( None)?|raise NotImplementedError(\(.*\))?)?$`)
	})
)

// pythonParts finds functions, which return None at once; what yields stays behind that, so that a generator remains
// one.
func pythonParts(before, now string) []Part {
	code := mask(now, pythonText)
	var out []Part
	for _, m := range pythonDef().FindAllStringSubmatchIndex(code, -1) {
		colon := closing(code, m[1]-1)
		for colon >= 0 && colon < len(code) && code[colon] != ':' && code[colon] != '\n' {
			colon++
		}
		if colon < 0 || colon >= len(code) || code[colon] != ':' {
			continue
		}
		indent := m[3] - m[2]
		line, end := colon+1+through(code[colon+1:], "\n"), 0
		p := Part{Line: lineOf(now, m[4]), Name: now[m[4]:m[5]]}
		if strings.TrimSpace(code[colon+1:line]) != "" { // all on one line
			p.From, p.With, p.Other, end = colon+1, " return None;", ` return "pawl";`, line
		} else {
			var inner string
			inner, end = pythonBody(code, line, indent)
			if inner == "" {
				continue
			}
			p.From, p.With = line, inner+"return None"+lineEnd(now[:line])
			p.Other = inner + `return "pawl"` + lineEnd(now[:line])
		}
		p.To = p.From
		p.begins, p.ends = p.Line, lineOf(now, end-1)+1
		body := strings.TrimSpace(code[colon+1 : end])
		p.Blind = blind(code[m[1]:colon], body)
		if strings.Contains(before, now[m[0]:end]) || pythonNothing().MatchString(body) {
			continue
		}
		out = append(out, p)
	}
	return out
}

// pythonBody is the indentation of the body that begins at an offset, behind a def with so much of it, and where it
// ends.
func pythonBody(code string, from, indent int) (inner string, end int) {
	end = from
	for at := from; at < len(code); {
		next := at + through(code[at:], "\n")
		line := code[at:next]
		text := strings.TrimLeft(line, " \t")
		if strings.TrimSpace(text) != "" {
			if len(line)-len(text) <= indent && closes(code, from, at) {
				break
			}
			if inner == "" {
				inner = line[:len(line)-len(text)]
			}
			end = next
		}
		at = next
	}
	return inner, end
}

// closes reports whether no bracket that was opened between two offsets is still open.
func closes(code string, from, to int) bool {
	depth := 0
	for _, c := range code[from:to] {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
	}
	return depth <= 0
}

var (
	scriptFunction = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)` + strings.Join([]string{
			`\bfunction\s*\*?\s*([\w$]*)\s*(?:<[^>(]*>)?\(`,
			`(?:^|[{,])[ \t]*(?:(?:static|async|get|set|public|private|protected|override|\*)\s+)*` +
				`\*?(#?[\w$]+)\s*(?:<[^>(]*>)?\(`,
			`([\w$]+)\s*(?::[^=\n]+)?[=:]\s*(?:async\s*)?(?:<[^>(]*>)?\(`,
		}, "|"))
	})
	scriptBody = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(?::[^={;\n]*)?(=>)?\s*(\{)?`)
	})
	scriptWords = map[string]bool{"if": true, "for": true, "while": true, "switch": true, "catch": true, "with": true,
		"return": true, "constructor": true, "function": true, "await": true, "super": true, "import": true}
)

// scriptParts finds functions, methods and arrow functions of JavaScript and TypeScript, which return nothing at once.
func scriptParts(before, now string) []Part {
	code := mask(now, scriptText)
	var out []Part
	for _, m := range scriptFunction().FindAllStringSubmatchIndex(code, -1) {
		name, isFunction, isArrow := "", m[2] >= 0, m[6] >= 0
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				name = code[m[i]:m[i+1]]
			}
		}
		paren := closing(code, m[1]-1)
		if paren < 0 || scriptWords[name] {
			continue
		}
		b := scriptBody().FindStringSubmatchIndex(code[paren:])
		arrow := b[2] >= 0
		if b[4] < 0 || arrow != isArrow && !isFunction {
			continue // a call, or an expression
		}
		if isFunction && name == "" {
			name = nameBefore(code[:m[0]])
		}
		open := paren + b[4]
		end := closing(code, open)
		if end < 0 || strings.TrimSpace(code[open+1:end-1]) == "" || strings.Contains(before, now[m[0]:end]) {
			continue
		}
		line := lineOf(now, m[0]+len(code[m[0]:m[1]])-len(strings.TrimLeft(code[m[0]:m[1]], " \t\r\n")))
		out = append(out, Part{Line: line, Name: name, From: open + 1, To: open + 1, With: " return;",
			Other: ` return "pawl";`, begins: line, ends: lineOf(now, end-1) + 1, Blind: blind(code[m[1]:paren-1], code[open+1:end-1])})
	}
	return out
}

// nameBefore is the name that a function without one is given to.
func nameBefore(code string) string {
	code = strings.TrimRight(code, " \t")
	code = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(code, "async"), " "), " ")
	if given := strings.TrimRight(code, "=: \t"); given != code {
		all := name().FindAllString(given[strings.LastIndexByte(given, '\n')+1:], -1)
		if len(all) > 0 {
			return all[len(all)-1]
		}
	}
	return "default"
}

// closing is the offset behind the bracket that closes the one at an offset, -1 where there is none.
func closing(code string, open int) int {
	depth := 0
	for i := open; i < len(code); i++ {
		switch code[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// lineEnd is how the last line of a text ends.
func lineEnd(text string) string {
	if strings.HasSuffix(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// through is the length up to the end of a mark that no backslash stands before, or that of the whole.
func through(text, mark string) int {
	for i := 0; i+len(mark) <= len(text); i++ {
		if text[i] == '\\' {
			i++
		} else if text[i:i+len(mark)] == mark {
			return i + len(mark)
		}
	}
	return len(text)
}

// mask blanks what is no code, comments and texts, so that all else stays at its place. Of a text in code is the length
// of the comment or text that begins there, 0 for code.
func mask(text string, other func(rest, before string) int) string {
	out := []byte(text)
	for i := 0; i < len(text); {
		n := other(text[i:], string(out[max(0, i-20):i]))
		for j := i; j < i+n; j++ {
			if out[j] != '\n' && out[j] != '\r' {
				out[j] = ' '
			}
		}
		if n > 0 && (text[i] == '"' || text[i] == '\'' || text[i] == '`') {
			out[i] = '"' // a value, and not nothing
		}
		i += max(n, 1)
	}
	return string(out)
}

func pythonText(rest, _ string) int {
	switch {
	case rest[0] == '#':
		return max(1, strings.IndexByte(rest+"\n", '\n'))
	case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, `'''`):
		return 3 + through(rest[3:], rest[:3])
	case rest[0] == '"', rest[0] == '\'':
		return 1 + min(through(rest[1:], rest[:1]), strings.IndexByte(rest[1:]+"\n", '\n'))
	}
	return 0
}

func scriptText(rest, before string) int {
	switch {
	case strings.HasPrefix(rest, "//"):
		return strings.IndexByte(rest+"\n", '\n')
	case strings.HasPrefix(rest, "/*"):
		if i := strings.Index(rest[2:], "*/"); i >= 0 {
			return i + 4
		}
		return len(rest)
	case rest[0] == '`':
		return 1 + through(rest[1:], "`")
	case rest[0] == '"', rest[0] == '\'':
		return 1 + min(through(rest[1:], rest[:1]), strings.IndexByte(rest[1:]+"\n", '\n'))
	case rest[0] == '/' && expression().MatchString(before):
		line := rest[:strings.IndexByte(rest+"\n", '\n')]
		if m := expressionEnd().FindString(line); m != "" {
			return len(m)
		}
	}
	return 0
}

var (
	// expression matches what stands before a regular expression, and not before a division.
	expression = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(^|[(,=:\[!&|?{};+\-*%<>~^\n]|\b(return|typeof|case|in|of))\s*$`)
	})
	expressionEnd = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[])+/`)
	})
)
