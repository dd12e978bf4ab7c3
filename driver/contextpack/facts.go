package contextpack

import (
	"bytes"
	"slices"
	"strings"
)

// facts are what the index keeps of a file.
type facts struct {
	lang    language
	marks   marks
	lines   uint32
	about   string // one line that says what the file is, "" when it does not
	imports []uint32
	symbols []symbol // in the order of their first lines, an outer one before what is in it
	words   []uint32 // each once
}

// marks are what a file is, besides its language. They are kept in the cache.
type marks uint8

const (
	unread    marks = 1 << iota // binary, secret, or not readable
	tests                       // holds tests
	generated                   // says that a program wrote it
	sampled                     // so large that only parts of it were read
	starts                      // holds the entry point of a program
)

// kind is what a symbol is. Kinds are kept in the cache.
type kind uint8

const (
	kindFunc kind = iota + 1
	kindType
	kindValue
	kindSection // of a text
)

// symbol is a declaration. Lines count from 1, both ends included, and a comment above it belongs to it.
type symbol struct {
	name, owner uint32 // owner is the receiver's type, or the class
	kind        kind
	start, end  uint32
	// refs are the names that it uses, each once and in the order in which it first does: the numbers of words differ
	// from one reading of a tree to the next, and the steps of ranking must not.
	refs []uint32
}

// Bounds of what is kept of one file.
const (
	maxWord       = 64     // bytes; longer words are data
	maxWords      = 6000   // distinct words of a file
	maxSymbols    = 4000   // declarations of a file
	maxSourceLine = 60_000 // lines of a file that are told apart
)

// outlined is a declaration as a parser found it.
type outlined struct {
	name, owner string
	kind        kind
	start, end  int
}

// analyst reduces files to facts. It is used by one goroutine.
type analyst struct {
	t       *table
	inFile  []uint32 // by word: the last file that it was seen in
	inOwner []uint32 // by word: the last stretch of a symbol
	file    uint32
	stretch uint32
}

// analyse reduces a text file. Found are its declarations where they are known already (from ctags); nil has them found.
func (a *analyst) analyse(path string, data []byte, found []outlined) *facts {
	f := &facts{lang: languageOf(path, data), lines: uint32(min(bytes.Count(data, []byte{'\n'})+1, 1<<30))}
	if isTest(path) {
		f.marks |= tests
	}
	if isGenerated(data) {
		f.marks |= generated
	}
	var decls []outlined
	switch {
	case found != nil:
		decls = found
	case f.lang == golang:
		var g goFile
		g.read(path, data)
		decls = g.decls
		f.about = g.about
		for _, p := range g.imports {
			f.imports = append(f.imports, a.t.idOf(p))
		}
		if g.main {
			f.marks |= starts
		}
	}
	if decls == nil {
		decls = outline(f.lang, data)
	}
	if f.about == "" && f.lang != golang {
		f.about = aboutText(f.lang, data)
	}
	if entryNames[path[strings.LastIndexByte(path, '/')+1:]] {
		f.marks |= starts
	}
	a.scan(f, data, tidy(decls, int(f.lines)))
	return f
}

// tidy puts declarations in order and within the file.
func tidy(decls []outlined, lines int) []outlined {
	for i := range decls {
		d := &decls[i]
		d.start = max(1, min(d.start, lines))
		d.end = max(d.start, min(d.end, lines))
	}
	slices.SortStableFunc(decls, func(x, y outlined) int {
		if x.start != y.start {
			return x.start - y.start
		}
		return y.end - x.end
	})
	return decls[:min(len(decls), maxSymbols)]
}

// scan collects the words of a file and gives the names among them to the innermost declaration around them.
func (a *analyst) scan(f *facts, data []byte, decls []outlined) {
	a.file++
	f.symbols = make([]symbol, len(decls))
	for i, d := range decls {
		f.symbols[i] = symbol{name: a.t.idOf(d.name), owner: a.t.idOf(d.owner), kind: d.kind, start: uint32(d.start), end: uint32(d.end)}
	}
	owner := f.owners(int(f.lines))
	current := int32(-1)
	scanWords(data, f.lang, func(word []byte, line int, code bool) bool {
		id := a.t.id(word)
		a.room(id)
		if a.inFile[id] != a.file {
			a.inFile[id] = a.file
			f.words = append(f.words, id)
		}
		if at := owner[min(line, len(owner)-1)]; at != current {
			current = at
			a.stretch++
		}
		if code && current >= 0 && a.inOwner[id] != a.stretch && len(word) > 2 {
			a.inOwner[id] = a.stretch
			s := &f.symbols[current]
			if id != s.name {
				s.refs = append(s.refs, id)
			}
		}
		return len(f.words) < maxWords
	})
	for i := range f.symbols {
		a.stretch++
		f.symbols[i].refs = slices.DeleteFunc(f.symbols[i].refs, func(id uint32) bool {
			again := a.inOwner[id] == a.stretch
			a.inOwner[id] = a.stretch
			return again
		})
	}
}

// owners gives for each of so many lines, from 1, the innermost declaration around it, -1 for none. It is as long as two
// lines more.
func (f *facts) owners(lines int) []int32 {
	out := make([]int32, min(lines, maxSourceLine)+2)
	var open []int32
	next := 0
	for l := range out {
		for ; next < len(f.symbols) && int(f.symbols[next].start) <= l; next++ {
			open = append(open, int32(next))
		}
		for len(open) > 0 && int(f.symbols[open[len(open)-1]].end) < l {
			open = open[:len(open)-1]
		}
		out[l] = -1
		if len(open) > 0 {
			out[l] = open[len(open)-1]
		}
	}
	return out
}

func (a *analyst) room(id uint32) {
	for int(id) >= len(a.inFile) {
		n := max(1024, 2*len(a.inFile), int(id)+1)
		a.inFile = append(a.inFile, make([]uint32, n-len(a.inFile))...)
		a.inOwner = append(a.inOwner, make([]uint32, n-len(a.inOwner))...)
	}
}

// isTest reports whether a path names tests.
func isTest(path string) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	stem, _, _ := strings.Cut(base, ".")
	switch {
	case strings.HasSuffix(base, "_test.go"), strings.HasSuffix(stem, "_test"), strings.HasPrefix(stem, "test_"), strings.HasSuffix(stem, "Test"), strings.HasSuffix(stem, "Tests"):
		return true
	case strings.Contains(base, ".test."), strings.Contains(base, ".spec."), strings.HasSuffix(stem, "_spec"):
		return true
	}
	return inFolder(path, "test", "tests", "__tests__", "spec")
}

// inFolder reports whether one of the folders of a path has one of the names.
func inFolder(path string, names ...string) bool {
	for {
		dir, rest, ok := strings.Cut(path, "/")
		if !ok {
			return false
		}
		if slices.Contains(names, dir) {
			return true
		}
		path = rest
	}
}

// isGenerated reports whether the head of a file says that a program wrote it.
func isGenerated(data []byte) bool {
	head := data[:min(len(data), 2048)]
	return bytes.Contains(head, []byte("DO NOT EDIT")) || bytes.Contains(head, []byte("@generated"))
}
