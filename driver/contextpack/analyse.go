package contextpack

import (
	"bytes"
	"slices"
	"strings"
)

// analyst reduces files to facts. It is used by one goroutine.
type analyst struct {
	t       *table
	inFile  []uint32 // by word: the last file that it was seen in
	inOwner []uint32 // by word: the last stretch of a symbol
	file    uint32
	stretch uint32
}

// analyse reduces a text file. Found are its declarations where they are known already (from ctags); nil has them
// found.
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
		f.symbols[i] = symbol{name: a.t.idOf(d.name), owner: a.t.idOf(d.owner), kind: d.kind,
			start: uint32(d.start), end: uint32(d.end)}
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
	case strings.HasSuffix(base, "_test.go"), strings.HasSuffix(stem, "_test"), strings.HasPrefix(stem, "test_"),
		strings.HasSuffix(stem, "Test"), strings.HasSuffix(stem, "Tests"):
		return true
	case strings.Contains(base, ".test."), strings.Contains(base, ".spec."), strings.HasSuffix(stem, "_spec"):
		return true
	}
	return inFolder(path, "test", "tests", "__tests__", "spec")
}

// isGenerated reports whether the head of a file says that a program wrote it.
func isGenerated(data []byte) bool {
	head := data[:min(len(data), 2048)]
	return bytes.Contains(head, []byte("DO NOT EDIT")) || bytes.Contains(head, []byte("@generated"))
}
