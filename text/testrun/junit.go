package testrun

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

// junitCase is a test in a report of JUnit's form, as Maven and Gradle write them.
type junitCase struct {
	Class    string      `xml:"classname,attr"`
	Name     string      `xml:"name,attr"`
	Skipped  *struct{}   `xml:"skipped"`
	Failures []junitFail `xml:"failure"`
	Errors   []junitFail `xml:"error"`
}

type junitFail struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit gathers a run from reports of JUnit's form. The file of a test is its outermost class.
type JUnit struct {
	run    Run
	broken bool
	suites int
}

// NewJUnit returns a run of which nothing was read yet.
func NewJUnit() *JUnit { return &JUnit{run: newRun(Java)} }

// Add reads one report. One that is torn, or has other tests than it says, makes the run one that is not whole.
func (j *JUnit) Add(r io.Reader) {
	d := xml.NewDecoder(io.LimitReader(r, maxEvents))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	said, found, open := 0, 0, false
	for {
		t, err := d.Token()
		if err != nil {
			j.broken = j.broken || !errors.Is(err, io.EOF) || !open || said != found
			return
		}
		e, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case e.Name.Local == "testsuite":
			j.suites++
			open = true
			for _, a := range e.Attr {
				if a.Name.Local == "tests" {
					n, _ := strconv.Atoi(a.Value)
					said += n
				}
			}
		case e.Name.Local == "testcase":
			var c junitCase
			if d.DecodeElement(&c, &e) != nil {
				j.broken = true
				return
			}
			found++
			j.take(c)
		}
	}
}

func (j *JUnit) take(c junitCase) {
	class, _, _ := strings.Cut(c.Class, "$")
	name := Name{File: class, Test: strings.TrimSuffix(c.Name, "()")}
	end := Passed
	switch fails := append(c.Failures, c.Errors...); {
	case len(fails) > 0:
		end = Failed
		j.run.say(name, strings.TrimSpace(fails[0].Message+"\n"+fails[0].Text))
	case c.Skipped != nil:
		end = Skipped
	}
	j.run.end(name, end)
}

// Run is what was read.
func (j *JUnit) Run() Run {
	j.run.Whole = j.suites > 0 && !j.broken
	return j.run
}
