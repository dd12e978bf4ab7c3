package cut

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Answer is a place at which a program gives back values that are written out for one that is written out: a
// comparison, a case, or an entry of a table. Values are the plain ones that a value is made of: [3, 9, 4] is three.
type Answer struct {
	Path  string
	Line  int
	Key   []string
	Value []string // a comparison that is given back itself has "true"
	// Name is the function that it stands in, and Group that function or the table, "" for none.
	Name, Group string
	// Fresh says that its line is not in the text before.
	Fresh bool
}

// Answers finds the answers in a file, in Go, Python, JavaScript and TypeScript.
func Answers(file, before, now string) []Answer {
	a := answers{file: file, toks: tokens(file, now), had: map[string]bool{}}
	for line := range strings.Lines(before) {
		a.had[strings.TrimSpace(line)] = true
	}
	if len(a.toks) == 0 {
		return nil
	}
	a.lines, a.functions = strings.Split(now, "\n"), Parts(file, "", now)
	for i, t := range a.toks {
		switch {
		case t.is("==", "==="):
			a.comparison(i)
		case t.is("in") && path.Ext(file) == ".py":
			a.among(i, i+1)
		case t.is("includes", "Contains", "has") && a.at(i+1).is("("):
			a.amongCall(i)
		case t.is("Equal", "DeepEqual", "isDeepStrictEqual", "isEqual", "deepEqual") && a.at(i+1).is("("):
			a.call(i)
		case t.is("case"):
			a.cases(i)
		case t.is(":"):
			a.entry(i)
		case t.is(",") && t.in >= 0 && a.toks[t.in].is("["):
			a.pair(i)
		}
	}
	return a.out
}

type answers struct {
	file      string
	toks      []lexeme
	lines     []string
	functions []Part
	had       map[string]bool
	out       []Answer
}

func (a *answers) at(i int) lexeme {
	if i < 0 || i >= len(a.toks) {
		return lexeme{}
	}
	return a.toks[i]
}

// add notes an answer that stands at a token. That of a table is named by its bracket.
func (a *answers) add(at int, key, value []string, table int) {
	line := a.toks[at].line
	out := Answer{Path: a.file, Line: line, Key: key, Value: value, Fresh: !a.had[strings.TrimSpace(a.lines[line-1])]}
	begins := 0
	for _, f := range a.functions {
		if line >= f.begins && line < f.ends && f.begins >= begins {
			begins, out.Name = f.begins, f.Name
			out.Group = f.Name + " " + strconv.Itoa(f.begins)
		}
	}
	if table >= 0 {
		out.Group = "table " + strconv.Itoa(table)
	}
	a.out = append(a.out, out)
}

// constants are the names of values.
var constants = map[string]bool{"true": true, "false": true, "none": true, "null": true, "nil": true, "undefined": true}

// joinedNumbers matches a text that is a list of numbers.
var joinedNumbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\[({\s]*-?[0-9.]+(?:[\s,;:|_]+-?[0-9.]+)+[\])}\s]*$`)
})

var numbers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-?[0-9][0-9.]*`) })

// values are the plain values of a text.
func values(text string) []string {
	if joinedNumbers().MatchString(text) {
		return numbers().FindAllString(text, -1)
	}
	return []string{text}
}

// group reads a value that is written out, and returns the plain values in it and the token behind it.
func (a *answers) group(i int) (vals []string, next int, ok bool) {
	switch t := a.at(i); {
	case t.kind == isNumber:
		return []string{strings.ReplaceAll(t.text, "_", "")}, i + 1, true
	case t.kind == isText:
		return values(t.text), i + 1, true
	case t.is("-") && a.at(i+1).kind == isNumber:
		return []string{"-" + strings.ReplaceAll(a.at(i+1).text, "_", "")}, i + 2, true
	case t.kind == isName && constants[strings.ToLower(t.text)]:
		return []string{strings.ToLower(t.text)}, i + 1, true
	case t.is("["):
		if path.Ext(a.file) == ".go" {
			return a.goGroup(i)
		}
		return a.elements(i)
	case t.is("(", "{"):
		return a.elements(i)
	}
	return nil, i, false
}

// goGroup is group for []T{…} and [n]T{…}.
func (a *answers) goGroup(i int) ([]string, int, bool) {
	for j := i + 1; j < len(a.toks) && j < i+12; j++ {
		switch t := a.toks[j]; {
		case t.is("{"):
			return a.elements(j)
		case t.kind == isName, t.kind == isNumber, t.is("]", "[", ".", "*", "..."):
		default:
			return nil, i, false
		}
	}
	return nil, i, false
}

// elements reads the values between a bracket and its end.
func (a *answers) elements(open int) (vals []string, next int, ok bool) {
	for i := open + 1; i < len(a.toks); {
		switch t := a.toks[i]; {
		case t.is(")", "]", "}"):
			return vals, i + 1, true
		case t.is(",", ":"), t.kind == isName && a.at(i+1).is(":"):
			i++
		default:
			more, next, ok := a.group(i)
			if !ok || a.goesOn(next, a.toks[next-1].line) {
				return nil, open, false
			}
			vals, i = append(vals, more...), next
		}
	}
	return nil, open, false
}

// goesOn reports whether an expression goes on at a token, behind a value that ends on a line.
func (a *answers) goesOn(i, line int) bool {
	t := a.at(i)
	return t.is(".", "+", "*", "/", "%", "-") || t.is("[", "(") && t.line == line
}

// back reads a value that ends before a token.
func (a *answers) back(end int) (vals []string, from int, ok bool) {
	from = end - 1
	if a.at(from).is(")", "]", "}") {
		for from--; from >= 0 && (a.toks[from].in != a.toks[end-1].in || !a.toks[from].is("(", "[", "{")); from-- {
		}
		for path.Ext(a.file) == ".go" && from > 0 && a.ofType(from-1) {
			from--
		}
	}
	if a.at(from-1).is("-") && !a.ends(from-2) {
		from--
	}
	vals, next, ok := a.group(from)
	return vals, from, ok && next == end && !a.at(from-1).is(".", "+", "*", "/", "%")
}

// ofType reports whether a token of Go may belong to the type before a value in braces.
func (a *answers) ofType(i int) bool {
	t := a.toks[i]
	return t.is("]", "[", ".", "*") || t.kind == isNumber && a.at(i+1).is("]") ||
		t.kind == isName && !t.is("case", "return", "if")
}

// ends reports whether a token ends a value, so that a minus behind it takes away.
func (a *answers) ends(i int) bool {
	t := a.at(i)
	return t.kind != 0 && !t.is("return", "case", "in") || t.is(")", "]", "}")
}

// edge reports whether a token is where the side of a comparison begins.
func edge(t lexeme) bool {
	return t.text == "" || t.is("if", "elif", "while", "return", "and", "or", "not", "&&", "||", "!", "(", "{", "[", ",",
		";", "=", ":=", "?", ":", "case", "=>", "}")
}

// plain reports whether the side of a comparison that ends before a token is looked at as it is: with n % 3 == 0 a
// program counts and knows no case, and a length is that of many values.
func (a *answers) plain(end int) bool {
	if a.at(end-1).is("length", "size") {
		return false
	}
	depth := 0
	for i := end - 1; i >= 0; i-- {
		t := a.toks[i]
		switch {
		case t.is("%", "*", "/", "+", "-", "&", "|", "^"):
			return false
		case t.is(")", "]", "}") && !(t.is("}") && depth == 0):
			depth++
		case depth > 0 && t.is("(", "[", "{"):
			if depth--; depth == 0 && a.at(i-1).is("len") {
				return false
			}
		case depth == 0 && edge(t):
			return i < end-1
		}
	}
	return end > 0
}

func (a *answers) comparison(i int) {
	if key, next, ok := a.group(i + 1); ok && !a.goesOn(next, a.toks[next-1].line) && a.plain(i) {
		a.yields(i, next, key)
	} else if key, from, ok := a.back(i); ok && edge(a.at(from-1)) {
		end := i + 1
		for end < len(a.toks) && a.toks[end].line == a.toks[i].line && !edge(a.toks[end]) {
			end++
		}
		a.yields(i, end, key)
	}
}

// among is a comparison with each value of a list that begins at a token.
func (a *answers) among(i, list int) {
	if _, next, ok := a.group(list); ok && a.at(list).is("(", "[", "{") {
		a.each(i, list, next, next)
	}
}

// amongCall is the same by a function: [1, 2].includes(x), slices.Contains([]int{1, 2}, x).
func (a *answers) amongCall(i int) {
	end := a.close(i + 1)
	if a.toks[i].is("Contains") {
		if _, next, ok := a.group(i + 2); ok && a.at(next).is(",") {
			open := slices.IndexFunc(a.toks[i+2:next], func(t lexeme) bool { return t.is("{") })
			if open >= 0 {
				a.each(i, i+2+open, next, end)
			}
		}
	} else if _, from, ok := a.back(i - 1); ok && a.at(i-1).is(".") && a.at(from).is("[") {
		a.each(i, from, i-1, end)
	}
}

// each has every element of a list be compared.
func (a *answers) each(at, open, next, then int) {
	for j := open + 1; j < next-1; {
		key, after, ok := a.group(j)
		if !ok {
			j++
			continue
		}
		a.yields(at, then, key)
		j = after
	}
}

// call is a comparison by a function that is given a value that is written out.
func (a *answers) call(i int) {
	end := a.close(i + 1)
	for j := i + 2; j < end-1; j++ {
		if key, next, ok := a.group(j); ok && a.at(j-1).is("(", ",") && a.at(next).is(",", ")") {
			a.yields(i, end, key)
			return
		}
	}
}

// close is the token behind the bracket that closes the one at a token.
func (a *answers) close(open int) int {
	for i := open + 1; i < len(a.toks); i++ {
		if a.toks[i].is(")", "]", "}") && a.toks[i].in == a.toks[open].in {
			return i + 1
		}
	}
	return len(a.toks)
}

// maxYield bounds the tokens between a comparison and what it leads to.
const maxYield = 60

// yields notes what a comparison leads to, which ends before a token: a value that is given back, or given to a name.
func (a *answers) yields(at, end int, key []string) {
	begin := at
	for begin > 0 && a.toks[begin-1].line == a.toks[at].line && !a.toks[begin].is("return", "if", "=>", "{", ";") {
		begin--
	}
	first := a.toks[begin]
	if first.is("if") && begin > 0 { // VALUE if x == KEY else …
		if value, _, ok := a.back(begin); ok && a.toks[begin-1].line == first.line {
			a.add(at, key, value, -1)
			return
		}
	}
	for i := end; i < len(a.toks) && i < end+maxYield; i++ {
		switch t := a.toks[i]; {
		case t.is("return", "?", "=", ":="):
			if value, ok := a.given(i + 1); ok {
				a.add(at, key, value, -1)
			}
			return
		case t.is("case"):
			_, next, ok := a.group(i + 1)
			if !ok {
				return
			}
			i = next - 1
		case first.is("return", "=>") && t.line != a.toks[at].line:
			a.add(at, key, []string{"true"}, -1)
			return
		case t.is("if", "elif", "else", "default", "def", "func", "function", "for", "while", "class", "raise", "throw",
			"panic", "switch", "match"):
			return
		case t.is("}"):
			if first.is("return", "=>") {
				a.add(at, key, []string{"true"}, -1)
			}
			return
		}
	}
	if first.is("return", "=>") {
		a.add(at, key, []string{"true"}, -1)
	}
}

// given is a value, or the first of several that says something.
func (a *answers) given(i int) (value []string, ok bool) {
	for {
		more, next, is := a.group(i)
		if !is || a.goesOn(next, a.toks[next-1].line) {
			return value, ok
		}
		if value, ok = more, true; Telling(value) || !a.at(next).is(",") {
			return value, ok
		}
		i = next + 1
	}
}

// cases reads the values of a case.
func (a *answers) cases(i int) {
	var keys [][]string
	next := i + 1
	for {
		key, behind, ok := a.group(next)
		if !ok || !a.at(behind).is(",", ":", "|") {
			return
		}
		if keys, next = append(keys, key), behind+1; a.at(behind).is(":") {
			break
		}
	}
	for _, key := range keys {
		a.yields(i, next, key)
	}
}

// entry is one of a table in braces, at its colon.
func (a *answers) entry(i int) {
	open := a.toks[i].in
	if open < 0 || !a.toks[open].is("{") {
		return
	}
	key, from, ok := a.back(i)
	if before := a.at(i - 1); !ok && before.kind == isName && strings.Contains(path.Ext(a.file), "s") {
		key, from, ok = []string{before.text}, i-1, true // a name of JavaScript
	}
	value, next, is := a.group(i + 1)
	if ok && is && a.at(from-1).is("{", ",") && a.at(next).is(",", "}") {
		a.add(i, key, value, open)
	}
}

// pair is one of new Map([[key, value], …]), at its comma.
func (a *answers) pair(i int) {
	row := a.toks[i].in
	list := a.toks[row].in
	if list < 2 || !a.toks[list].is("[") || !a.toks[list-1].is("(") || !a.toks[list-2].is("Map") {
		return
	}
	key, from, ok := a.back(i)
	value, next, is := a.group(i + 1)
	if ok && is && from == row+1 && a.at(next).is("]") {
		a.add(i, key, value, list)
	}
}

// nothing are values that say nothing of themselves.
var nothing = map[string]bool{"": true, "0": true, "1": true, "-1": true, "0.0": true, "1.0": true}

// Telling reports whether a value says something: one of the values that it is made of is neither a bare beginning of
// counting, nor true, false, or nothing.
func Telling(vals []string) bool {
	return slices.ContainsFunc(vals, func(v string) bool { return !nothing[v] && !constants[strings.ToLower(v)] })
}

// Literal is a plain value that a test writes down. In is the bracket that it stands in.
type Literal struct {
	Text     string
	Line, In int
}

var (
	// sayers are functions whose texts are for people.
	sayers = strings.Fields(`Error Errorf Fatal Fatalf Log Logf Skip Skipf Run print fail skip skipTest subTest test it
		describe suite before after require import patch log warn error Println Printf Sprintf panic`)
	unary  = strings.Fields(`assertTrue assertFalse assertIsNone assertIsNotNone ok True False Nil NotNil NoError`)
	labels = strings.Fields(`name desc title label msg message description __name__`)
)

// Literals are the values of a test, without the texts that are for people.
func Literals(file, source string) []Literal {
	a := answers{file: file, toks: tokens(file, source)}
	var out []Literal
	for i := 0; i < len(a.toks); i++ {
		t := a.toks[i]
		vals, next, ok := a.group(i)
		if !ok || t.is("(", "[", "{") || t.kind == isText && a.said(i) || t.is("-") && a.ends(i-1) {
			continue
		}
		for _, v := range vals {
			out = append(out, Literal{Text: v, Line: t.line, In: t.in})
		}
		i = next - 1
	}
	return out
}

// said reports whether a text is for people, and no value: what a test is called, and what it says when it fails.
func (a *answers) said(i int) bool {
	t, before, behind := a.toks[i], a.at(i-1), a.at(i+1)
	switch {
	case t.in >= 0 && a.toks[t.in].is("(") && slices.Contains(sayers, a.at(t.in-1).text):
		return true
	case before.is(":", "=", "==") && slices.Contains(labels, strings.ToLower(a.at(i-2).text)):
		return true
	case before.is(",") && behind.is(")") && t.in >= 0 && a.toks[t.in].is("("):
		commas := 0
		for j := t.in + 1; j < i; j++ {
			if a.toks[j].is(",") && a.toks[j].in == t.in {
				commas++
			}
		}
		return commas > 1 && strings.Contains(t.text, " ") || commas == 1 && slices.Contains(unary, a.at(t.in-1).text)
	}
	return t.in < 0 && (i == 0 || before.line < t.line) // a text of its own
}
