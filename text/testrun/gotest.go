package testrun

import (
	"bytes"
	"encoding/json"
	"strings"
)

// GoReader reads the events of `go test -json` as they are written to it, and gives on what `go test` would have
// printed without -json. The order of lines and the indentation of subtests are those of go test; output of tests that
// passed is left out unless Verbose.
//
// Whatever is no event is given on as it is. A line that is longer than 1 MiB is taken for none.
type GoReader struct {
	// Verbose gives everything on, as `go test -v` does.
	Verbose bool
	// Plain takes what go test would have printed. The bytes are valid until it returns.
	Plain func([]byte)

	run  Run
	line []byte
	long bool
	open map[Name]*goTest
	// begun counts the packages of which an end is still to come.
	begun map[string]bool
	ended bool
}

// goTest is a test whose end is still to come, or that of the test around it.
type goTest struct {
	result string // the line that says how it ended
	output []byte
	failed bool
	inner  []*goTest
	depth  int
}

// maxLine and maxOutput bound what is held of a line, and of the output of a test of which the beginning is dropped.
const (
	maxLine   = 1 << 20
	maxOutput = 256 << 10
)

// goEvent is one line of `go test -json` (go doc test2json).
type goEvent struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// NewGoReader returns a reader that gives on to plain.
func NewGoReader(verbose bool, plain func([]byte)) *GoReader {
	return &GoReader{Verbose: verbose, Plain: plain, run: newRun(Go), open: map[Name]*goTest{},
		begun: map[string]bool{}}
}

// Write reads a part of the output, which may end anywhere. It never fails.
func (g *GoReader) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			g.keep(b)
			break
		}
		g.keep(b[:i+1])
		g.flush()
		b = b[i+1:]
	}
	return n, nil
}

// keep adds to the line that is being read. One that has become too long is given on as it comes.
func (g *GoReader) keep(b []byte) {
	if g.long {
		g.Plain(b)
		return
	}
	if g.line = append(g.line, b...); len(g.line) > maxLine {
		g.Plain(g.line)
		g.line, g.long = g.line[:0], true
	}
}

// flush takes the line that has been read.
func (g *GoReader) flush() {
	line := g.line
	g.line = g.line[:0]
	if g.long || len(line) == 0 {
		g.long = false
		return
	}
	var e goEvent
	if line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Action == "" {
		g.Plain(line)
		return
	}
	if e.Test == "" {
		g.ofPackage(e)
		return
	}
	g.ofTest(e)
}

func (g *GoReader) ofPackage(e goEvent) {
	switch e.Action {
	case "start":
		g.begun[e.Package], g.run.Files[e.Package] = true, true
	case "output", "build-output":
		if e.Output != "PASS\n" || g.Verbose { // go test prints it for a single package alone
			g.Plain([]byte(e.Output))
		}
	case "pass", "fail", "skip":
		for name, t := range g.open { // a process that ended has left these behind
			if name.File == e.Package && t.depth == 0 {
				g.show(t)
			}
			if name.File == e.Package {
				delete(g.open, name)
			}
		}
		delete(g.begun, e.Package)
		g.ended = true
	}
}

func (g *GoReader) ofTest(e goEvent) {
	name := Name{File: e.Package, Test: e.Test}
	t := g.open[name]
	if t == nil {
		t = &goTest{depth: strings.Count(e.Test, "/")}
		g.open[name] = t
		g.run.end(name, Unended)
		if i := strings.LastIndexByte(e.Test, '/'); i >= 0 {
			if outer := g.open[Name{File: e.Package, Test: e.Test[:i]}]; outer != nil {
				outer.inner = append(outer.inner, t)
			}
		}
	}
	switch e.Action {
	case "output":
		g.said(t, e.Output)
	case "pass":
		g.ends(name, t, Passed)
	case "skip":
		g.ends(name, t, Skipped)
	case "fail":
		t.failed = true
		g.ends(name, t, Failed)
	}
}

// said takes a line of a test's output.
func (g *GoReader) said(t *goTest, line string) {
	if strings.HasPrefix(line, "--- ") {
		t.result = line
	}
	switch {
	case g.Verbose:
		g.Plain([]byte(line))
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "=== "): // shown with it, or of no use once told apart
	default:
		if t.output = append(t.output, line...); len(t.output) > 2*maxOutput {
			t.output = append(t.output[:0], t.output[len(t.output)-maxOutput:]...)
		}
	}
}

// ends takes the end of a test. Where the process went away in the middle of one, go test reports the end of the
// package as that of the test: one that passed has said so itself.
func (g *GoReader) ends(name Name, t *goTest, e End) {
	if e == Failed || t.result != "" {
		g.run.end(name, e)
	}
	if e == Failed {
		g.run.say(name, string(t.said()))
	}
	if t.depth > 0 {
		return // it is shown with the test around it
	}
	if t.failed || t.result == "" {
		g.show(t)
	}
	g.forget(name.File, name.Test)
}

// said is what a test printed, with those within it that failed.
func (t *goTest) said() []byte {
	out := bytes.Clone(t.output)
	for _, inner := range t.inner {
		if inner.failed {
			out = append(out, inner.said()...)
		}
	}
	return out
}

// forget lets go of a test and of those within it.
func (g *GoReader) forget(file, test string) {
	for name := range g.open {
		if name.File == file && (name.Test == test || strings.HasPrefix(name.Test, test+"/")) {
			delete(g.open, name)
		}
	}
}

// show gives a test on as go test prints it: the result, what it logged, and the subtests that failed.
func (g *GoReader) show(t *goTest) {
	if g.Verbose {
		return
	}
	indent := strings.Repeat("    ", t.depth)
	if t.result != "" {
		g.Plain([]byte(indent + t.result))
	}
	for line := range bytes.Lines(t.output) {
		if t.depth > 0 && bytes.HasPrefix(line, []byte("    ")) {
			line = append([]byte(indent), line...)
		}
		g.Plain(line)
	}
	for _, inner := range t.inner {
		if inner.failed || inner.result == "" {
			g.show(inner)
		}
	}
}

// Run is what was read. The report is whole when every package that began has ended, and at least one has.
func (g *GoReader) Run() Run {
	if len(g.line) > 0 {
		g.flush()
	}
	g.run.Whole = g.ended && len(g.begun) == 0
	return g.run
}
