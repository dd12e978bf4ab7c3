package contextpack

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"pawl/sandbox/safeopen"
	"pawl/text/policy"
)

// Bounds of reading.
const (
	maxFiles   = 50_000  // files of a tree; later ones in the order of names are left out
	maxContent = 1 << 20 // bytes of a file that is searched; longer ones are known by name only
	maxRead    = 2 << 30 // bytes that are searched in all
	sniff      = 8_000   // bytes in which a NUL makes a file binary
)

// errEnough ends a walk that found all that it may.
var errEnough = errors.New("enough")

// file is what a search found out about a file.
type file struct {
	path      string
	size      int64
	lines     int
	text      bool   // it was searched
	generated bool   // it says that a program wrote it
	about     string // one line that says what the file is, "" when it does not
	found     []int  // the terms that are in it
	score     float64
}

// scanned is a tree as a search found it.
type scanned struct {
	files []*file
	idf   []float64 // by term: how rare it is among files
	cut   bool      // not everything was read
}

// Walk visits the regular files of a tree with the open directory that each is in, without what .gitignore excludes.
// search.Files is one. It returns the error with which visit ended it.
type Walk func(ctx context.Context, root *safeopen.Root,
	visit func(in *safeopen.Dir, rel string, d fs.DirEntry) error) error

// scan searches the files of a tree for the terms of a query. Names that are no text, or that a model could be made to
// misread, are left out.
func scan(ctx context.Context, root *safeopen.Root, walk Walk, q *query) (*scanned, error) {
	s := &scanned{}
	var workers sync.WaitGroup
	room, read := make(chan struct{}, runtime.GOMAXPROCS(0)), int64(0)
	err := walk(ctx, root, func(in *safeopen.Dir, rel string, d fs.DirEntry) error {
		if inFolder(rel, "node_modules", "vendor", ".hg", ".svn") || len(rel) > 1024 || oneLine(rel, len(rel)) != rel {
			return nil
		}
		if len(s.files) == maxFiles {
			return errEnough
		}
		info, err := d.Info()
		if err != nil {
			return nil // gone since it was listed
		}
		f := &file{path: rel, size: info.Size()}
		s.files = append(s.files, f)
		if read += f.size; f.size > maxContent || read > maxRead || secret(rel) {
			s.cut = s.cut || read > maxRead
			return nil
		}
		data, err := in.ReadFile(path.Base(rel), maxContent, nil)
		if err != nil || isBinary(data) {
			return nil
		}
		room <- struct{}{}
		workers.Go(func() { f.search(data, q.terms); <-room })
		return nil
	})
	workers.Wait()
	if errors.Is(err, errEnough) {
		s.cut, err = true, nil
	}
	s.weigh(q)
	return s, err
}

// search notes what is in a file.
func (f *file) search(data []byte, terms []term) {
	f.text, f.lines = true, bytes.Count(data, []byte{'\n'})+1
	head := data[:min(len(data), 2048)]
	f.generated = bytes.Contains(head, []byte("DO NOT EDIT")) || bytes.Contains(head, []byte("@generated"))
	f.about = aboutText(f.path, string(head))
	data = bytes.ToLower(data)
	for i, t := range terms {
		if bytes.Contains(data, []byte(t.text)) {
			f.found = append(f.found, i)
		}
	}
}

// weigh gives every file a score: the rarer a term of the query is, the more it counts, and most in the file's name.
func (s *scanned) weigh(q *query) {
	s.idf = make([]float64, len(q.terms))
	for _, f := range s.files {
		for _, t := range f.found {
			s.idf[t]++
		}
	}
	for i, n := range s.idf {
		s.idf[i] = rarity(len(s.files), int(n))
	}
	for _, f := range s.files {
		for _, t := range f.found {
			f.score += q.terms[t].weight * s.idf[t]
		}
		f.score /= 1 + 0.2*math.Log(1+float64(f.lines)/200)
		name := strings.ToLower(stemOf(f.path))
		for i, t := range q.terms {
			if len(t.text) > 2 && strings.Contains(name, t.text) {
				f.score += 1.5 * t.weight * s.idf[i] * float64(len(t.text)) / float64(len(name))
			}
		}
	}
}

// rarity is how much something says that so many of all have.
func rarity(all, have int) float64 { return math.Log(1 + float64(all)/float64(1+have)) }

// quality is how likely a file is what somebody wants to see.
func (f *file) quality() float64 {
	q := 1.0
	if f.generated {
		q *= 0.4
	}
	if isTest(f.path) {
		q *= 0.3
	}
	if inFolder(f.path, "testdata", "third_party", "fixtures", "dist", "build", "examples", "example") {
		q *= 0.3
	}
	if !isCode(f.path) {
		q *= 0.5
	}
	return q
}

// stemOf is the name of a file without what says what kind of file it is.
func stemOf(p string) string {
	base := path.Base(p)
	return strings.TrimSuffix(strings.TrimSuffix(base, path.Ext(base)), "_test")
}

// isTest reports whether a path names tests.
func isTest(p string) bool {
	base := path.Base(p)
	stem, _, _ := strings.Cut(base, ".")
	for _, end := range []string{"_test", "Test", "Tests", "_spec"} {
		if strings.HasSuffix(stem, end) {
			return true
		}
	}
	return strings.HasPrefix(stem, "test_") || strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") ||
		inFolder(p, "test", "tests", "__tests__", "spec")
}

// inFolder reports whether one of the directories of a path has one of the names.
func inFolder(p string, names ...string) bool {
	dirs := strings.Split(p, "/")
	return slices.ContainsFunc(dirs[:len(dirs)-1], func(d string) bool { return slices.Contains(names, d) })
}

func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), sniff)], 0) >= 0 }

// secret reports whether policy refuses to have a file read.
func secret(rel string) bool {
	req := policy.Request{Tool: "grep", Permissions: []policy.Permission{policy.FSRead},
		Paths: []policy.Path{{Rel: rel, Op: policy.OpRead}}}
	return policy.Judge(req, policy.Standard()).Decision == policy.Deny
}

// aboutText is the line in which a file says what it is: the first heading of a text, and the first comment of a
// source.
func aboutText(p, head string) string {
	text := extension(p) == "md"
	for line := range strings.Lines(head) {
		about := strings.Trim(line, "/*#-!\" \t\r\n")
		low := strings.ToLower(about)
		switch {
		case about == "", strings.HasPrefix(line, "#!"), strings.HasPrefix(line, "<"), strings.HasPrefix(line, "["),
			strings.Contains(low, "copyright"), strings.Contains(low, "licen"), strings.HasPrefix(low, "go:build"):
		case text, isCode(p) && isComment(line):
			return oneLine(about, 160)
		default:
			return ""
		}
	}
	return ""
}
