package cut

import (
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// kind is what a token is; a mark is of the kind 0.
type kind rune

const (
	isName   kind = 'a'
	isNumber kind = '0'
	isText   kind = '"'
	isOther  kind = '~' // a text that is computed, or a regular expression
)

// lexeme is a name, number, text or mark of a program. The text of a text is what stands between its quotes.
type lexeme struct {
	kind kind
	text string
	line int
	in   int // the token of the bracket that it stands in, -1 for none; that of a bracket is the one around it
}

func (t lexeme) is(marks ...string) bool {
	for _, m := range marks {
		if (t.kind == 0 || t.kind == isName) && t.text == m {
			return true
		}
	}
	return false
}

// tokens takes a program apart, without its comments. It is empty for languages whose texts it cannot tell.
func tokens(file, text string) []lexeme {
	var out []lexeme
	switch path.Ext(file) {
	case ".go":
		out = goTokens(text)
	case ".py":
		out = plainTokens(text, pythonText)
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		out = plainTokens(text, scriptText)
	}
	var open []int
	for i := range out {
		t := &out[i]
		if t.is(")", "]", "}") && len(open) > 0 {
			open = open[:len(open)-1]
		}
		if t.in = -1; len(open) > 0 {
			t.in = open[len(open)-1]
		}
		if t.is("(", "[", "{") {
			open = append(open, i)
		}
	}
	return out
}

func goTokens(text string) (out []lexeme) {
	var s scanner.Scanner
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(text))
	s.Init(file, []byte(text), func(token.Position, string) {}, 0)
	for {
		pos, tok, lit := s.Scan()
		t := lexeme{text: tok.String(), line: file.Line(pos)}
		switch {
		case tok == token.EOF:
			return out
		case tok == token.SEMICOLON && lit == "\n":
			continue
		case tok == token.IDENT:
			t.kind, t.text = isName, lit
		case tok.IsKeyword():
			t.kind = isName
		case tok == token.INT, tok == token.FLOAT, tok == token.IMAG:
			t.kind, t.text = isNumber, lit
		case tok == token.STRING, tok == token.CHAR:
			t.kind, t.text = isText, strings.Trim(lit, "`'\"")
			if s, err := strconv.Unquote(lit); err == nil {
				t.text = s
			}
		}
		out = append(out, t)
	}
}

// plainToken matches what stands at the beginning of a text that is neither a comment nor a text.
var plainToken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[\p{L}_$][\p{L}\p{N}_$]*|[0-9](?:[0-9_a-zA-Z]|\.[0-9])*|===|!==|` +
		`[=!<>:+\-*/%]=|=>|&&|\|\||\?\?|.)`)
})

func plainTokens(text string, other func(rest, before string) int) (out []lexeme) {
	line := 1
	for i := 0; i < len(text); {
		rest := text[i:]
		if n := other(rest, text[max(0, i-20):i]); n > 0 {
			said := rest[:min(n, len(rest))]
			if t, ok := textToken(said); ok {
				t.line = line
				if last := len(out) - 1; last >= 0 && out[last].kind == isName && len(out[last].text) < 3 && i > 0 &&
					strings.HasSuffix(text[:i], out[last].text) && strings.Trim(strings.ToLower(out[last].text), "rbuf") == "" {
					if strings.ContainsAny(out[last].text, "fF") && strings.Contains(t.text, "{") {
						t.kind = isOther
					}
					out = out[:last] // r"…", f"…"
				}
				out = append(out, t)
			}
			line, i = line+strings.Count(said, "\n"), i+len(said)
			continue
		}
		m := plainToken().FindString(rest)
		switch {
		case m == "":
			m = rest[:1]
			line += strings.Count(m, "\n")
		case strings.TrimSpace(m) == "", m == "\\":
		case m[0] >= '0' && m[0] <= '9':
			out = append(out, lexeme{kind: isNumber, text: m, line: line})
		case name().FindString(m) == m:
			out = append(out, lexeme{kind: isName, text: m, line: line})
		default:
			out = append(out, lexeme{text: m, line: line})
		}
		i += len(m)
	}
	return out
}

// textToken is that of a text or regular expression, as it stands; comments are none.
func textToken(said string) (lexeme, bool) {
	switch said[0] {
	case '#':
		return lexeme{}, false
	case '/':
		return lexeme{kind: isOther, text: said}, !strings.HasPrefix(said, "//") && !strings.HasPrefix(said, "/*")
	case '`':
		if strings.Contains(said, "${") {
			return lexeme{kind: isOther, text: said}, true
		}
	}
	quote := said[:1]
	if strings.HasPrefix(said, quote+quote+quote) && len(said) >= 6 {
		quote += quote + quote
	}
	return lexeme{kind: isText, text: strings.TrimSuffix(strings.TrimPrefix(said, quote), quote)}, true
}
