package contextpack

import (
	"bytes"
	"strings"
)

// outline finds declarations by how their lines begin: a keyword and a name, behind words that may stand in front. What
// a declaration holds is what is indented below it. That is right for code that is laid out as usual, and harmless
// otherwise.
func outline(l language, data []byte) []outlined {
	if l != markdown && !styles[l].code {
		return nil
	}
	lines := bytes.Split(data, []byte{'\n'})
	lines = lines[:min(len(lines), maxSourceLine)]
	if l == markdown {
		return headings(lines)
	}
	var out []outlined
	var scopes []outlined // classes around the line
	for i, line := range lines {
		if len(out) == maxSymbols {
			break
		}
		if len(line) > 400 {
			continue
		}
		name, k := declared(l, line)
		if name == "" {
			continue
		}
		d := outlined{name: name, kind: k, start: i + 1, end: blockEnd(lines, i)}
		for len(scopes) > 0 && scopes[len(scopes)-1].end < d.start {
			scopes = scopes[:len(scopes)-1]
		}
		if len(scopes) > 0 {
			d.owner = scopes[len(scopes)-1].name
		}
		if k == kindType {
			scopes = append(scopes, d)
		}
		out = append(out, d)
	}
	return out
}

// leading are words that may stand before the keyword of a declaration.
var leading = map[string]bool{
	"pub": true, "pub(crate)": true, "export": true, "default": true, "async": true, "static": true, "public": true,
	"private":   true,
	"protected": true, "internal": true, "final": true, "abstract": true, "override": true, "inline": true,
	"virtual": true,
	"unsafe":  true, "extern": true, "open": true, "sealed": true, "data": true, "suspend": true, "declare": true,
	"local":   true,
	"partial": true, "readonly": true,
}

// keywords introduce a declaration.
var keywords = map[string]kind{
	"def": kindFunc, "defp": kindFunc, "func": kindFunc, "function": kindFunc, "fn": kindFunc, "fun": kindFunc,
	"sub": kindFunc, "rpc": kindFunc,
	"class": kindType, "struct": kindType, "enum": kindType, "trait": kindType, "interface": kindType, "impl": kindType,
	"module": kindType,
	"record": kindType, "object": kindType, "namespace": kindType, "type": kindType, "defmodule": kindType,
	"message": kindType,
	"service": kindType, "union": kindType, "extension": kindType, "mod": kindType,
}

// declared returns the name that a line declares, "" for none.
func declared(l language, line []byte) (string, kind) {
	text := strings.TrimLeft(string(line), " \t")
	indented := len(text) < len(line)
	for {
		word, rest, ok := strings.Cut(text, " ")
		if !ok || !leading[word] {
			break
		}
		text = strings.TrimLeft(rest, " ")
	}
	word, rest, ok := strings.Cut(text, " ")
	if k, is := keywords[word]; ok && is {
		return leadingName(strings.TrimPrefix(strings.TrimLeft(rest, " *&"), "self.")), k
	}
	return functionOf(l, text, indented), kindFunc
}

// functionOf returns the name of the function that a line declares in a language that needs no keyword for it, "" for
// none.
func functionOf(l language, text string, indented bool) string {
	switch l {
	case javascript, typescript:
		word, rest, _ := strings.Cut(text, " ")
		if (word == "const" || word == "let" || word == "var") &&
			(strings.Contains(rest, "=>") || strings.Contains(rest, "function")) {
			return leadingName(rest)
		}
		if indented && strings.HasSuffix(strings.TrimRight(text, " \r"), "{") {
			return called(text)
		}
	case clang, cpp, php:
		if !indented {
			return defined(text)
		}
	case java, csharp, dart: // functions stand in classes
		return defined(text)
	case shell:
		if name := called(text); name != "" && strings.HasPrefix(text[len(name):], "()") {
			return name
		}
	}
	return ""
}

// defined is called for a line that begins a function with the type of its result, and is no statement.
func defined(text string) string {
	if strings.HasSuffix(strings.TrimRight(text, " \r"), ";") || !strings.Contains(text, " ") {
		return ""
	}
	return called(text)
}

// notCalled are words before a parenthesis that are no names.
var notCalled = map[string]bool{"if": true, "for": true, "while": true, "switch": true, "return": true, "catch": true,
	"else": true, "new": true, "do": true, "sizeof": true, "defined": true, "throw": true}

// called returns the name before the first parenthesis of a line that has neither an assignment nor a comment before
// it.
func called(text string) string {
	before, _, ok := strings.Cut(text, "(")
	if !ok || strings.ContainsAny(before, "=#\"'.;/") {
		return ""
	}
	before = strings.TrimRight(before, " ")
	first, _, _ := strings.Cut(before, " ")
	i := len(before)
	for i > 0 && isWord(before[i-1]) {
		i--
	}
	name := before[i:]
	if notCalled[name] || notCalled[first] || len(name) > maxWord {
		return ""
	}
	return leadingName(name)
}

func leadingName(s string) string {
	i := 0
	for i < len(s) && (isWord(s[i]) || s[i] == '$') {
		i++
	}
	if i == 0 || i > maxWord || s[0] >= '0' && s[0] <= '9' {
		return ""
	}
	return s[:i]
}

// maxBlock bounds the lines of a declaration that is found by its indentation.
const maxBlock = 2000

// blockEnd returns the last line, from 1, of what begins at line i, from 0.
func blockEnd(lines [][]byte, i int) int {
	own := indentOf(lines[i])
	last := i
	for j := i + 1; j < len(lines) && j-i < maxBlock; j++ {
		text := bytes.TrimSpace(lines[j])
		if len(text) == 0 {
			continue
		}
		if indentOf(lines[j]) > own || text[0] == '{' && last == i {
			last = j
			continue
		}
		if bytes.IndexByte([]byte("})]"), text[0]) >= 0 || bytes.HasPrefix(text, []byte("end")) {
			last = j
			// A parenthesis closes the parameters; the body follows.
			if bytes.HasSuffix(text, []byte("{")) || bytes.HasSuffix(text, []byte(":")) {
				continue
			}
		}
		break
	}
	return last + 1
}

func indentOf(line []byte) int {
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

// headings are the sections of a Markdown text.
func headings(lines [][]byte) []outlined {
	var out []outlined
	var levels []int
	fenced := false
	for i, line := range lines {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("```")) {
			fenced = !fenced
		}
		level := len(line) - len(bytes.TrimLeft(line, "#"))
		if fenced || level == 0 || level > 6 || len(line) <= level || line[level] != ' ' || len(out) == maxSymbols {
			continue
		}
		for j := len(out) - 1; j >= 0; j-- {
			if out[j].end == 0 && levels[j] >= level {
				out[j].end = i
			}
			if levels[j] < level {
				break
			}
		}
		out = append(out, outlined{name: clip(string(bytes.TrimSpace(line[level:])), 80), kind: kindSection, start: i +
			1})
		levels = append(levels, level)
	}
	for j := range out {
		if out[j].end == 0 {
			out[j].end = len(lines)
		}
	}
	return out
}
