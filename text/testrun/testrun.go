// Package testrun tells which tests a run of a known test runner had and how each of them ended, and which tests a tree
// declares. An exit status says neither: a runner that was told to run nothing, a test that ends its process, and a
// suite of which half is skipped all exit with 0. The names and ends come from the runner's own events; what is
// declared comes from the source, where no code of the tree has a say.
//
// Nothing here starts a process or reads a clock. Values are not safe for concurrent use while they are written to.
package testrun

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// End is how a test ended.
type End string

// The ends of a test.
const (
	Passed  End = "passed"
	Failed  End = "failed"
	Skipped End = "skipped"
	// Excused is a failure that the runner lets pass, because the test says that it is to fail: todo, expected failure.
	Excused End = "excused"
	// Unended is a test that began and of which nothing more was heard.
	Unended End = "unended"
)

// Name identifies a test within a project.
type Name struct {
	// File is where it stands: the import path of its package for Go, the crate for Rust, the class for Java, elsewhere
	// a file, with slashes, from the folder in which the check runs.
	File string `json:"file"`
	// Test is its name there: TestSub/zero, Class::test_x[1], or suite > adds.
	Test string `json:"test"`
}

func (n Name) String() string { return n.File + ": " + n.Test }

// compareNames orders names by file and test.
func compareNames(a, b Name) int {
	return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Test, b.Test))
}

// Runner is a test runner whose events can be read.
type Runner string

// The runners that are known.
const (
	Go       Runner = "go test"
	Node     Runner = "node:test"
	Unittest Runner = "unittest"
	Pytest   Runner = "pytest"
	Cargo    Runner = "cargo test"
	Java     Runner = "JUnit"
	TAP      Runner = "TAP"
)

// Run is what a runner said of one run.
type Run struct {
	Runner Runner
	// Ends maps each test that the runner named to its end.
	Ends map[Name]End
	// Said is what the tests that failed failed on, at most MaxSaid bytes of each.
	Said map[Name]string
	// Files are those that the runner spoke of, whether it ran a test of them or not.
	Files map[string]bool
	// Whole says that the runner came to the end of its report. One that did not says nothing about what is missing in
	// it.
	Whole bool
}

// MaxSaid bounds what is kept of what a test failed on, in bytes, and maxTelling the tests of which it is kept.
const (
	MaxSaid    = 4 << 10
	maxTelling = 1000
)

func newRun(r Runner) Run {
	return Run{Runner: r, Ends: map[Name]End{}, Said: map[Name]string{}, Files: map[string]bool{}}
}

// say notes what a test failed on.
func (r Run) say(name Name, text string) {
	if text != "" && len(r.Said) < maxTelling {
		r.Said[name] = strings.ToValidUTF8(text[:min(len(text), MaxSaid)], "")
	}
}

// Count is the number of tests with an end.
func (r Run) Count(e End) (n int) {
	for _, end := range r.Ends {
		if end == e {
			n++
		}
	}
	return n
}

// With are the tests with an end, sorted.
func (r Run) With(e End) []Name {
	var out []Name
	for name, end := range r.Ends {
		if end == e {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, compareNames)
	return out
}

// Silent are those of the declared tests that stand in a file that the runner spoke of, and of which it said no end.
// They are sorted. A file that the run left out says nothing: which files a check runs is decided by its definition.
func (r Run) Silent(declared []Name) []Name {
	heard := r.Plain()
	var out []Name
	for _, name := range declared {
		if end := heard.Ends[name]; r.Files[name.File] && (end == "" || end == Unended) {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, compareNames)
	return slices.Compact(out)
}

// Plain is the run by the names under which the source declares its tests. Of cases that share one, the worst end
// counts.
func (r Run) Plain() Run {
	out := newRun(r.Runner)
	out.Files, out.Whole = r.Files, r.Whole
	for _, name := range slices.SortedFunc(maps.Keys(r.Ends), compareNames) {
		plain := r.Runner.plain(name)
		out.end(plain, r.Ends[name])
		if out.Said[plain] == "" {
			out.say(plain, r.Said[name])
		}
	}
	return out
}

// plain is the name under which the source declares a test that the runner named: without the cases and suites that
// only a run knows.
func (r Runner) plain(n Name) Name {
	switch r {
	case Go:
		n.Test, _, _ = strings.Cut(n.Test, "/")
	case Node:
		if i := strings.LastIndex(n.Test, within); i >= 0 {
			n.Test = n.Test[i+len(within):]
		}
	case Unittest, Pytest:
		n.Test, _, _ = strings.Cut(n.Test, "[")
	case Cargo:
		n.Test = n.Test[1+strings.LastIndexByte(n.Test, ':'):]
	}
	return n
}

// within parts the name of a test from that of the suite around it.
const within = " > "

// end notes how a test ended. Of two ends under one name, as of cases that share it, the worse one stays.
func (r Run) end(name Name, e End) {
	r.Files[name.File] = true
	if was, ok := r.Ends[name]; !ok || slices.Index(worse, e) > slices.Index(worse, was) {
		r.Ends[name] = e
	}
}

// worse are the ends, the worst one last. Unended stands first, because any end is news of a test that only began.
var worse = []End{Unended, Passed, Skipped, Excused, Failed}
