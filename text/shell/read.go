package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// The limits on shell text. They bound the time and the memory of a reading; no ordinary command comes near them.
const (
	maxCommand = 64 << 10 // bytes
	maxOpeners = 3000     // brackets and keywords that could nest
	maxFolders = 8        // folders in which a command may find itself
	maxRaised  = 200      // statements inside each other
	maxGrown   = 20_000   // words that braces and variables add
)

// Dialect is the syntax by which a text is read.
type Dialect int

// The dialects.
const (
	Bash  Dialect = iota
	POSIX         // a shell that knows nothing of bash's own syntax
)

// Doubt is why a text, or a part of it, cannot be taken at its word.
type Doubt int

// The doubts. Of a text with one of the first five nothing else is told that could be relied on: it must not be run.
const (
	Unparsable  Doubt = iota // it is no command at all; what: the parser's message
	Empty                    // it holds no command, but blanks, comments or joined lines; what: the text
	Ambiguous                // bash may take it apart otherwise than the parser did
	TooComplex               // it is larger, nested deeper or grows more than is read; what: which limit
	InvalidText              // it holds control characters or invalid UTF-8
	HiddenText               // it holds characters that a reader does not see
	Feature                  // a feature of the shell that is not followed
	Evaluated                // a feature by which text becomes code, such as arithmetic on variables
	Dynamic                  // a word, or the place in which it stands, is not known before the command runs
)

// Visitor is told what a text would do, in the order in which that stands there. Dirs are the folders in which the
// shell may be then, relative to where the text starts, "" for that folder itself; a visitor does not keep or change
// them.
type Visitor interface {
	// Call is told of a simple command with its words, of which there is at least one. It returns where the shell may
	// be afterwards.
	Call(argv []Word, dirs []string) Outcome
	// Declare is told of a declaration such as export or local, once its assignments were told.
	Declare(builtin string)
	// Assign is told that a variable is set: to one of the values, or to what is not known where there are none.
	// Exported says that programs see it.
	Assign(name string, values []Word, exported bool, dirs []string)
	// Open is told that a redirection opens a file, to write it or only to read.
	Open(file Word, write bool, dirs []string)
	// Doubt is told what cannot be taken at its word.
	Doubt(d Doubt, what string)
}

// Reader takes shell texts apart for a visitor, which may have another text read while it is told of one. It is for one
// goroutine.
type Reader struct {
	Visitor Visitor
	// Root is the absolute path of the folder in which the text starts, "" where that is not known.
	Root string
	// Temp is what TMPDIR holds where the text does not set it, "" where that is not known.
	Temp string

	hides bool
	depth int // how deep statements are nested, those of all texts together
}

// Hides reports whether a quoted part of a text that was read so far holds a command substitution, which a feature of
// the shell that reads text as code would run.
func (r *Reader) Hides() bool { return r.hides }

// Read reads a text that runs in one of dirs, as a shell of that dialect does. It reports whether the text could be
// parsed; where it could not, the visitor was told a doubt and nothing else. It reads no file and keeps no text.
func (r *Reader) Read(src string, dialect Dialect, dirs []string) bool {
	if !r.readable(src) {
		return false
	}
	variant := syntax.LangBash
	if dialect == POSIX {
		variant = syntax.LangPOSIX
	}
	file, err := syntax.NewParser(syntax.Variant(variant), syntax.KeepComments(true)).Parse(strings.NewReader(src), "")
	if err != nil {
		r.Visitor.Doubt(Unparsable, err.Error())
		return false
	}
	if len(file.Stmts) == 0 {
		r.Visitor.Doubt(Empty, src)
		return false
	}
	if !r.alike(src, file) {
		return false
	}
	r.hides = r.hides || hidesCommand(file)
	w := &walker{reader: r, visitor: r.Visitor, src: src}
	w.vars = w.assignments(file)
	w.stmts(file.Stmts, dirs)
	return true
}

// hidesCommand reports whether a quoted part of the text holds a command substitution, which a feature of the shell
// that reads text as code would run.
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

// readable refuses text that two readers could read differently, and text that is too large or nested too deep to
// parse.
func (r *Reader) readable(src string) bool {
	if len(src) > maxCommand {
		r.Visitor.Doubt(TooComplex, "64 KiB")
		return false
	}
	if !utf8.ValidString(src) {
		r.Visitor.Doubt(InvalidText, "")
		return false
	}
	odd := false
	for _, c := range src {
		switch {
		case c == '\n' || c == '\t':
		case c < ' ' || c >= 0x7f && c < 0xa0:
			r.Visitor.Doubt(InvalidText, "")
			return false
		case c > 0x7f && Hidden(c):
			odd = true
		}
	}
	if odd {
		r.Visitor.Doubt(HiddenText, "")
	}
	if openers(src) > maxOpeners {
		r.Visitor.Doubt(TooComplex, "nesting")
		return false
	}
	return true
}

// openers counts what could open a nested construct, wherever it stands. A parser descends at most that deep.
func openers(src string) int {
	n := strings.Count(src, "(") + strings.Count(src, "{") + strings.Count(src, "[") + strings.Count(src, "`") +
		strings.Count(src, "?") + strings.Count(src, "!")
	for _, w := range strings.FieldsFunc(src, func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch w {
		case "if", "elif", "while", "until", "for", "case", "select", "function", "coproc", "time":
			n++
		}
	}
	return n
}

// Hidden reports whether a terminal or a reader would not see r as what it is.
func Hidden(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	switch {
	case r < 0xa0: // DEL and the C1 controls
		return true
	case r == 0x00ad, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164,
		r == 0xffa0:
		return true // soft hyphen, grapheme joiner and the letters that are drawn as nothing
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true // variation selectors and tags
	case r >= 0xfff0 && r <= 0xfffb:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Zs) ||
		unicode.Is(unicode.Noncharacter_Code_Point, r)
}
