package testrun

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// CargoReader reads what `cargo test` prints, as it is written to it: the programs that it runs, and what each of them,
// built with Rust's own harness, says of its tests. The file of a test is the crate that it was compiled into, and "doc
// CRATE" for examples in comments.
type CargoReader struct {
	run  Run
	line []byte
	file string // the crate that speaks
	// left counts the tests of the crate that are still to be named, and open says that its last line is to come.
	left int
	open bool
	// broken says that a program ended without its last line, or named other tests than it said it would.
	broken bool
	ended  bool
	said   Name // the test whose output is shown
	output []byte
}

// NewCargoReader returns a reader.
func NewCargoReader() *CargoReader { return &CargoReader{run: newRun(Cargo)} }

var (
	cargoRuns = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s+Running (?:unittests )?\S.* \((?:.*[/\\])?([^/\\()]+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)$|^\s+Doc-tests (\S+)$`)
	})
	cargoBegins = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^running (\d+) tests?$`) })
	cargoTest   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:, .*| <[\d.]+s>)?$`)
	})
	cargoEnds = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^test result: (?:ok|FAILED)\. \d+ passed; \d+ failed;`)
	})
	cargoSaid = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^---- (.+?)(?: - should panic)? stdout ----$`) })
)

// Write reads a part of the output, which may end anywhere. It never fails.
func (c *CargoReader) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			i = len(b) - 1
		}
		if len(c.line) < maxLine {
			c.line = append(c.line, b[:i+1]...)
		}
		if b[i] == '\n' {
			c.take(strings.TrimRight(string(c.line), "\r\n"))
			c.line = c.line[:0]
		}
		b = b[i+1:]
	}
	return n, nil
}

// take takes one line.
func (c *CargoReader) take(line string) {
	if m := cargoRuns().FindStringSubmatch(line); m != nil {
		c.close()
		if c.file = m[1]; m[2] != "" {
			c.file = "doc " + m[2]
		}
		c.run.Files[c.file], c.open, c.left = true, true, -1
		return
	}
	if m := cargoBegins().FindStringSubmatch(line); m != nil && c.file != "" {
		if n, _ := strconv.Atoi(m[1]); c.left < 0 { // one that says so twice is not believed the second time
			c.left = n
		} else {
			c.broken = true
		}
		return
	}
	if m := cargoTest().FindStringSubmatch(line); m != nil && c.file != "" {
		c.run.end(Name{File: c.file, Test: m[1]}, map[string]End{"ok": Passed, "FAILED": Failed, "ignored": Skipped}[m[2]])
		c.left--
		return
	}
	if cargoEnds().MatchString(line) {
		c.hear()
		c.broken = c.broken || c.left != 0 || !c.open
		c.open, c.ended = false, true
		return
	}
	if m := cargoSaid().FindStringSubmatch(line); m != nil {
		c.hear()
		c.said = Name{File: c.file, Test: m[1]}
		return
	}
	switch {
	case line == "failures:":
		c.hear()
	case c.said.Test != "" && len(c.output) < MaxSaid:
		c.output = append(append(c.output, line...), '\n')
	}
}

// hear notes what the test said whose output was shown.
func (c *CargoReader) hear() {
	c.run.say(c.said, strings.TrimSpace(string(c.output)))
	c.said, c.output = Name{}, nil
}

// close ends the crate that spoke.
func (c *CargoReader) close() {
	c.broken = c.broken || c.open
	c.open = false
}

// Run is what was read. The report is whole when each program that was run said at its end how many of its tests had
// which, and named as many as it had begun with.
func (c *CargoReader) Run() Run {
	if len(c.line) > 0 {
		c.take(strings.TrimRight(string(c.line), "\r\n"))
		c.line = nil
	}
	c.close()
	c.run.Whole = c.ended && !c.broken
	return c.run
}
