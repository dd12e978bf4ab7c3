package contextpack

import (
	"path"
	"strings"

	"pawl/text/pattern"
)

// kind is what a declaration is.
type kind int

const (
	kindFunc kind = iota
	kindType
	kindValue
)

// declaration is a named part of a file. Lines count from 1, both ends included, and the last lines of a comment above
// it belong to it.
type declaration struct {
	name       string
	kind       kind
	start, end int
}

// code are the extensions of sources, and typed those of them in which functions need no keyword.
const (
	code  = " go py pyi rb rs swift scala kt kts lua ex exs proto" + typed
	typed = " php js jsx mjs cjs ts tsx mts c h cc cpp cxx hh hpp java cs dart sh bash "
)

func extension(file string) string { return strings.ToLower(strings.TrimPrefix(path.Ext(file), ".")) }

func isCode(file string) bool { return strings.Contains(code, " "+extension(file)+" ") }

var (
	// keyworded is a declaration with a keyword, behind words that may stand before it: the keyword of a function, of a
	// type or of a value, and the name, which may follow a receiver.
	keyworded = pattern.New(`^[ \t]*(?:(?:pub(?:\([a-z]+\))?|export|default|async|static|public|private|protected|` +
		`internal|final|abstract|override|inline|virtual|unsafe|extern|open|sealed|data|suspend|declare|local|` +
		`partial|readonly)[ \t]+)*(?:(func|function|fn|fun|def|defp|sub|rpc)|` +
		`(class|struct|enum|trait|interface|impl|module|record|object|namespace|type|defmodule|message|service|union|` +
		`extension|mod)|(const|var|let))[ \t*&]+(?:\([^()]*\)[ \t]*)?(?:self\.)?([\pL_$][\w$]*)`)
	// unworded is a function that begins with the type of its result, or with its name.
	unworded = pattern.New(`^([ \t]*)(?:(\w+)[\w<>\[\],:*&?~ \t]*[ \t*&:])?([\pL_$~][\w$]*)[ \t]*\(`)
)

// statements are words that stand before a parenthesis and declare nothing.
const statements = " if for while switch return catch else new do sizeof throw await case go defer function "

// outline finds declarations by how their lines begin. What a declaration holds is what is indented below it: right for
// code that is laid out as usual, and harmless otherwise.
func outline(file string, lines []string) []declaration {
	if !isCode(file) {
		return nil
	}
	loose := strings.Contains(typed, " "+extension(file)+" ")
	var out []declaration
	for i, line := range lines {
		if len(line) > 400 {
			continue
		}
		if name, k := declared(lines, i, loose); name != "" && len(name) <= maxWord {
			out = append(out, declaration{name, k, commentStart(lines, i) + 1, blockEnd(lines, i)})
		}
	}
	return out
}

// declared returns the name that a line declares, "" for none.
func declared(lines []string, i int, loose bool) (string, kind) {
	line := lines[i]
	if m := keyworded.Get().FindStringSubmatch(line); m != nil {
		switch {
		case m[1] != "" || m[3] != "" && (strings.Contains(line, "=>") || strings.Contains(line, "= function")):
			return m[4], kindFunc
		case m[2] != "":
			return m[4], kindType
		case indent(line) == 0:
			return m[4], kindValue
		}
		return "", 0
	}
	m := unworded.Get().FindStringSubmatch(line)
	if !loose || m == nil || strings.Contains(statements, " "+m[2]+" ") || strings.Contains(statements, " "+m[3]+" ") {
		return "", 0
	}
	next := ""
	if i+1 < len(lines) {
		next = lines[i+1]
	}
	if strings.HasSuffix(line, "{") || strings.HasSuffix(line, ")") && strings.HasPrefix(strings.TrimSpace(next), "{") {
		return m[3], kindFunc
	}
	return "", 0
}

// maxAbove is how many lines of comment above a declaration belong to it, the last ones: long comments leave no room
// for code.
const maxAbove = 6

// commentStart returns the line, from 0, at which what belongs to the declaration at line i begins.
func commentStart(lines []string, i int) int {
	first := i
	for first > 0 && i-first < maxAbove && isComment(lines[first-1]) {
		first--
	}
	return first
}

// isComment reports whether a line is a comment or an annotation in one of the usual languages.
func isComment(line string) bool {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"//", "#", "/*", "*", "--", "@", `"""`} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

// maxBlock bounds the lines of a declaration.
const maxBlock = 2000

// blockEnd returns the last line, from 1, of what begins at line i, from 0. With a brace at its end it closes at the
// next brace that is no deeper, because texts within it need not be indented; else it is what is indented.
func blockEnd(lines []string, i int) int {
	own, last := indent(lines[i]), i
	braced := strings.HasSuffix(lines[i], "{")
	for j := i + 1; j < len(lines) && j-i < maxBlock; j++ {
		text := strings.TrimSpace(lines[j])
		if text == "" {
			continue
		}
		deeper := indent(lines[j]) > own
		switch {
		case !deeper && strings.IndexByte("})]", text[0]) >= 0 || !deeper && text == "end":
			last = j
			// A parenthesis closes the parameters; the body follows.
			if !strings.HasSuffix(text, "{") && !strings.HasSuffix(text, ":") {
				return j + 1
			}
			braced = strings.HasSuffix(text, "{")
		case deeper, braced:
			if deeper {
				last = j
			}
		case text[0] == '{' && last == i:
			last, braced = j, true
		default:
			return last + 1
		}
	}
	return last + 1
}

func indent(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 8
		default:
			return n
		}
	}
	return n
}
