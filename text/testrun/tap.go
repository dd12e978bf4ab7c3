package testrun

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// TAPReader reads what a program prints of its tests by the Test Anything Protocol: those at the left edge. Their names
// are all that they have.
type TAPReader struct {
	run    Run
	line   []byte
	plan   int // how many there are to be, -1 as long as nothing was said
	count  int
	bailed bool
}

// NewTAPReader returns a reader.
func NewTAPReader() *TAPReader { return &TAPReader{run: newRun(TAP), plan: -1} }

var (
	tapPlan = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^1\.\.(\d+)\s*(?:#.*)?$`) })
	tapTest = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(not )?ok\b[ \t]*(\d*)[ \t]*(?:- )?([^#]*?)[ \t]*(?:#[ \t]*(?i:(skip|todo))\b.*)?$`)
	})
)

// Write reads a part of the output, which may end anywhere. It never fails.
func (t *TAPReader) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			i = len(b) - 1
		}
		if len(t.line) < maxLine {
			t.line = append(t.line, b[:i+1]...)
		}
		if b[i] == '\n' {
			t.take(strings.TrimRight(string(t.line), "\r\n"))
			t.line = t.line[:0]
		}
		b = b[i+1:]
	}
	return n, nil
}

func (t *TAPReader) take(line string) {
	if m := tapPlan().FindStringSubmatch(line); m != nil {
		n, err := strconv.Atoi(m[1])
		t.bailed = t.bailed || t.plan >= 0 || err != nil
		t.plan = n
		return
	}
	m := tapTest().FindStringSubmatch(line)
	switch {
	case strings.HasPrefix(line, "Bail out!"):
		t.bailed = true
	case m == nil:
	default:
		t.count++
		name, end := Name{Test: m[3]}, Passed
		if name.Test == "" {
			name.Test = strconv.Itoa(t.count)
		}
		switch {
		case strings.EqualFold(m[4], "skip"):
			end = Skipped
		case m[1] != "" && m[4] != "":
			end = Excused
		case m[1] != "":
			end = Failed
		}
		t.run.end(name, end)
	}
}

// Spoke reports whether what was printed is by that protocol: it has a plan.
func (t *TAPReader) Spoke() bool { return t.plan >= 0 }

// Run is what was read. The report is whole when there were as many tests as it planned.
func (t *TAPReader) Run() Run {
	if len(t.line) > 0 {
		t.take(strings.TrimRight(string(t.line), "\r\n"))
		t.line = nil
	}
	t.run.Whole = t.plan >= 0 && t.plan == t.count && !t.bailed
	return t.run
}
