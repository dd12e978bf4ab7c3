package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxAlternatives bounds the words that one word of the source may stand for.
const maxAlternatives = 64

// Word is one word of a command as far as it is known before the command runs.
type Word struct {
	Text string
	// Dynamic says that the value depends on something that is not known; Text then shows the source.
	Dynamic bool
	// Expanded says that the shell made Text out of something else, so that its place among the words is not certain.
	Expanded bool
	// Quoted says that no part of the word is split or matched against file names.
	Quoted bool
	// Pattern says that the word is matched against file names.
	Pattern bool
	// Home says that the word begins with an unquoted tilde.
	Home bool
	// Foreign says, beside Dynamic, that the value comes from outside of the text: from a variable that it does not
	// set.
	Foreign bool
}

// Literal returns a word that stands for itself.
func Literal(s string) Word { return Word{Text: s, Quoted: true} }

// char is a byte of a word. One that was quoted has a bit more, so that it is none of those that mean something.
type char uint16

const quotedChar char = 1 << 8

// plainText returns what characters stand for.
func plainText(chars []char) string {
	out := make([]byte, len(chars))
	for i, c := range chars {
		out[i] = byte(c)
	}
	return string(out)
}

// builder assembles a word.
type builder struct {
	text   []char
	word   Word
	bare   bool // some part was unquoted
	values []Word
	name   string
}

func (b *builder) add(s string, quoted bool) {
	for i := range len(s) {
		c := char(s[i])
		if quoted {
			c |= quotedChar
		}
		b.text = append(b.text, c)
	}
	b.bare = b.bare || !quoted
}

// unknown adds a part whose value is not known; source is shown in its place.
func (b *builder) unknown(source string, quoted bool) {
	b.word.Dynamic, b.word.Expanded = true, true
	b.add(source, true)
	b.bare = b.bare || !quoted
}

// words walks what is inside a list of words and resolves it.
func (s *walker) words(list []*syntax.Word, cwds []string) []Word {
	var out []Word
	for _, w := range list {
		out = append(out, s.expand(w, cwds)...)
	}
	return out
}

// expand walks every command inside a word and returns the words that it stands for: several where it holds braces or a
// variable whose values are known, else one.
func (s *walker) expand(w *syntax.Word, cwds []string) []Word {
	if w == nil {
		return []Word{Literal("")}
	}
	b := &builder{}
	for _, part := range w.Parts {
		s.part(b, part, false, cwds)
	}
	base := b.word
	base.Quoted = !b.bare
	if base.Dynamic {
		base.Text = plainText(b.text)
		return []Word{base}
	}
	alternatives := braces(b.text, maxAlternatives)
	if s.grown += len(alternatives)*max(len(b.values), 1) - 1; s.grown > maxGrown {
		s.visitor.Doubt(TooComplex, "{ }")
	}
	if len(alternatives)*len(b.values) > maxAlternatives || s.grown > maxGrown {
		base.Dynamic, base.Text = true, s.source(w)
		return []Word{base}
	}
	var out []Word
	for _, alt := range alternatives {
		x := base
		x.Expanded = x.Expanded || alt.made
		x.Home = len(alt.text) > 0 && alt.text[0] == '~'
		x.Pattern = x.Pattern || hasPattern(alt.text)
		x.Dynamic = alt.lost
		x.Text = plainText(alt.text)
		if b.name == "" {
			out = append(out, x)
			continue
		}
		for _, v := range b.values {
			y := x
			y.Text = strings.Replace(x.Text, "\x00", v.Text, 1)
			y.Pattern = y.Pattern || v.Pattern
			out = append(out, y)
		}
	}
	return out
}

// part adds one part of a word to b and walks the commands in it.
func (s *walker) part(b *builder, part syntax.WordPart, quoted bool, cwds []string) {
	switch x := part.(type) {
	case *syntax.Lit:
		unescape(b, x.Value, quoted)
	case *syntax.SglQuoted:
		if x.Dollar && strings.Contains(x.Value, `\`) {
			b.unknown(s.source(x), true)
			return
		}
		b.add(x.Value, true)
	case *syntax.DblQuoted:
		if x.Dollar {
			b.unknown(s.source(x), true)
		}
		for _, inner := range x.Parts {
			s.part(b, inner, true, cwds)
		}
	case *syntax.ParamExp:
		s.param(b, x, quoted, cwds)
	case *syntax.CmdSubst:
		if x.TempFile || x.ReplyVar {
			s.visitor.Doubt(Feature, "${ }")
		}
		s.stmts(x.Stmts, cwds)
		b.unknown(s.source(x), quoted)
	case *syntax.ProcSubst:
		s.stmts(x.Stmts, cwds)
		b.add("/dev/fd/63", true)
		b.word.Expanded = true
	case *syntax.ArithmExp:
		s.arithmetic(x, cwds)
		b.add("0", true)
		b.word.Expanded = true
	default:
		s.inner(part, cwds)
		b.word.Pattern = true
		b.unknown(s.source(part), quoted)
	}
}

// unescape adds literal source text, with its backslashes read as the shell reads them.
func unescape(b *builder, s string, inQuotes bool) {
	start := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || inQuotes && !strings.ContainsRune("$`\"\\\n", rune(s[i+1])) {
			continue
		}
		b.add(s[start:i], inQuotes)
		if s[i+1] != '\n' {
			b.add(s[i+1:i+2], true)
		}
		i++
		start = i + 1
	}
	if start < len(s) {
		b.add(s[start:], inQuotes)
	}
}

// param adds a parameter expansion. Numbers are known to be harmless, the current folder is known, and so are variables
// that the same text gives only literal values; anything else is unknown. Operators that evaluate text as code are
// asked for.
func (s *walker) param(b *builder, x *syntax.ParamExp, quoted bool, cwds []string) {
	name := ""
	if x.Param != nil {
		name = x.Param.Value
	}
	b.word.Expanded = true
	switch bare := isBare(x); {
	case bare && s.value(b, name, x.Length, quoted):
		return
	case bare, replaces(x):
	case x.Excl, x.Exp != nil && x.Exp.Op == syntax.OtherParamOps:
		s.visitor.Doubt(Feature, s.source(x))
	default:
		s.visitor.Doubt(Evaluated, s.source(x))
	}
	s.inner(x, cwds)
	// The words that a function or a script is given are as known as whatever gives them.
	given := name == "@" || name == "*" || name == "PWD" || digits(name)
	b.word.Foreign = b.word.Foreign || !s.sets(name) && !given
	b.unknown(s.source(x), quoted)
}

// isBare reports whether an expansion has no operator; its length may be what is asked for.
func isBare(x *syntax.ParamExp) bool {
	return !x.Excl && !x.Width && !x.IsSet && x.Flags == nil && x.NestedParam == nil && x.Index == nil &&
		x.Slice == nil && x.Repl == nil && x.Names == 0 && x.Exp == nil && len(x.Modifiers) == 0
}

// replaces reports whether an expansion only puts another text in the place of a value, or cuts something off.
func replaces(x *syntax.ParamExp) bool {
	return x.Exp != nil && x.Index == nil && !x.Excl && x.Exp.Op != syntax.OtherParamOps &&
		x.Exp.Op != syntax.AssignUnset && x.Exp.Op != syntax.AssignUnsetOrNull
}

// value adds what a parameter stands for, and reports whether that is known.
func (s *walker) value(b *builder, name string, length, quoted bool) bool {
	root := s.reader.Root
	switch {
	case length || name == "?" || name == "#" || name == "$" || name == "!":
		b.add("0", true)
		return true
	case name == "PWD" && len(b.text) == 0 && (quoted || root != "" && !strings.ContainsAny(root, splits)):
		b.add(".", true)
		return true
	case name == "TMPDIR" && s.reader.Temp != "" && !s.sets(name):
		b.add(s.reader.Temp, true)
		return true
	}
	values := s.vars[name]
	if values == nil || b.name != "" || !safeValues(values, quoted) {
		return false
	}
	b.name, b.values = name, values
	b.add("\x00", true)
	return true
}

// digits reports whether a text is a number.
func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// splits are the characters at which the shell splits a value, and those by which it turns into names of files.
const splits = " \t\n*?["

// sets reports whether the text itself gives a variable its value.
func (s *walker) sets(name string) bool {
	_, ok := s.vars[name]
	return ok
}

// safeValues reports whether each value stays one word where it is put.
func safeValues(values []Word, quoted bool) bool {
	for _, v := range values {
		if v.Dynamic || !quoted && strings.ContainsAny(v.Text, splits) && !v.Pattern {
			return false
		}
	}
	return true
}

// arithmetic walks an arithmetic expression. The shell evaluates the values of variables in it as code, so anything but
// numbers is asked for.
func (s *walker) arithmetic(x syntax.Node, cwds []string) {
	pure := true
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			_, err := strconv.Atoi(n.Value)
			pure = pure && err == nil
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.SglQuoted, *syntax.DblQuoted:
			pure = false
		}
		return true
	})
	if !pure {
		s.visitor.Doubt(Evaluated, s.source(x))
		s.inner(x, cwds)
	}
}

// inner walks every command that stands anywhere inside a node.
func (s *walker) inner(node syntax.Node, cwds []string) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.stmts(n.Stmts, cwds)
			return false
		case *syntax.ProcSubst:
			s.stmts(n.Stmts, cwds)
			return false
		}
		return true
	})
}

// source returns the text of a node, shortened.
func (s *walker) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(s.src) || from >= to {
		return "$…"
	}
	return Shorten(s.src[from:to])
}

// MaxText bounds what is shown of a text in another one, in bytes.
const MaxText = 200

// Shorten cuts s to what fits into a message, 200 bytes, and marks the cut.
func Shorten(s string) string {
	if len(s) <= MaxText {
		return s
	}
	cut := MaxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// alternative is one result of brace expansion.
type alternative struct {
	text []char
	made bool
	lost bool // too many results: the word is not known
}

// braces performs brace expansion. More than limit results, or a range, make the word unknown.
func braces(text []char, limit int) []alternative {
	open, stop, commas := findBrace(text)
	switch {
	case open < 0:
		return []alternative{{text: text}}
	case len(commas) == 0:
		return []alternative{{text: text, made: true, lost: true}}
	}
	var out []alternative
	from := open + 1
	for _, to := range append(commas, stop) {
		for _, alt := range braces(slices.Concat(text[:open], text[from:to], text[stop+1:]), limit-len(out)) {
			alt.made = true
			out = append(out, alt)
		}
		if len(out) > limit || limit <= 0 {
			return []alternative{{text: text, made: true, lost: true}}
		}
		from = to + 1
	}
	return out
}

// findBrace returns the first brace expression: its ends and its top-level commas. A range has no commas, and neither
// has what is returned for a text with so many braces that looking at each would take too long.
func findBrace(text []char) (open, stop int, commas []int) {
	tries := 0
	for open = range text {
		if text[open] != '{' {
			continue
		}
		if tries++; tries > maxAlternatives {
			return open, open, nil
		}
		stop, commas, dots := matchBrace(text, open)
		if stop > 0 && (len(commas) > 0 || dots) {
			return open, stop, commas
		}
	}
	return -1, -1, nil
}

// matchBrace returns where the brace at open closes, or 0, and what stands directly inside it.
func matchBrace(text []char, open int) (stop int, commas []int, dots bool) {
	depth := 0
	for i := open; i < len(text); i++ {
		switch {
		case text[i] == '{':
			depth++
		case text[i] == ',' && depth == 1:
			commas = append(commas, i)
		case text[i] == '.' && i+1 < len(text) && byte(text[i+1]) == '.' && depth == 1:
			dots = true
		case text[i] == '}':
			if depth--; depth == 0 {
				return i, commas, dots
			}
		}
	}
	return 0, nil, false
}

// hasPattern reports whether an unquoted character makes the word a file name pattern.
func hasPattern(text []char) bool {
	open := slices.Index(text, '[')
	return slices.Contains(text, '*') || slices.Contains(text, '?') || open >= 0 && slices.Contains(text[open:], ']')
}

// Base returns the last component of a word.
func (w Word) Base() string { return path.Base(w.Text) }

// Flag reports whether the word is an option rather than an operand.
func (w Word) Flag() bool { return len(w.Text) > 1 && w.Text[0] == '-' }

// Unsure reports whether the word, or its place among the words, is not certain.
func (w Word) Unsure() bool { return w.Dynamic || w.Expanded }

// StartsOpen reports whether the word may turn into the name of a file that reads like an option.
func (w Word) StartsOpen() bool { return w.Pattern && strings.IndexAny(w.Text, "*?[") == 0 }
