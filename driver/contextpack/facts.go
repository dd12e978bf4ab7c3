package contextpack

import (
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

// owners gives for each of so many lines, from 1, the innermost declaration around it, -1 for none. It is as long as
// two lines more.
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

// stamp tells whether a file is as it was, without opening it.
type stamp struct {
	size, mtime int64
	ino         uint64
}

// entry is a file of the index. Entries are never changed once they are in it.
type entry struct {
	path  string
	stamp stamp
	sum   [16]byte // of the content, for a file that only looks different
	// young says that the file was so new when it was read that a change after that may have left its time alone.
	young bool
	*facts
}
