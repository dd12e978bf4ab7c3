package verify

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"pawl/driver/verify/reporters"
	"pawl/driver/verify/testlist"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/text/testrun"
)

// telling is a check that says which tests it runs.
type telling struct {
	reporters.Reporter
	declared []testlist.Test
	run      testrun.Run
	folder   string // that of the check, as its command sees it
	products string // the same directory, as pawl sees it
	dir      string // that of the reporter, outside of the tree
	report   string // the file that is written into, "" where the events come on the output
	ask      []string
	events   reader
	plain    []byte // the end of what is printed beside them
}

// reader reads a run of tests from what its command prints.
type reader interface {
	io.Writer
	Run() testrun.Run
}

// reporting has a check say which tests it runs, where its runner is known: it changes the spec of its command. It is
// nil where the runner is not known, or where nothing is declared that it could run.
func (s *session) reporting(ctx context.Context, c effect.Check, spec *sandbox.Spec) (*telling, error) {
	if c.Kind != kindTest && c.Kind != kindCustom {
		return nil, nil
	}
	r, ok := reporters.Of(c.Command)
	if !ok {
		r = reporters.Spoken(c.Command)
	}
	if len(s.only) > 0 {
		r = s.narrowed(c, r)
	}
	t := &telling{Reporter: r, folder: s.ground.Sees(spec.Dir), products: spec.Dir, ask: s.ask}
	if t.declared = declares(s.Open, s.place, c, r); ok && len(t.declared) == 0 && len(t.ask) == 0 {
		return nil, nil
	}
	if r.Runner == testrun.Node && !s.nodeReports(ctx, c) {
		return nil, nil
	}
	if name, text := r.Module(); name != "" {
		// Commands may write there: each check gets it anew.
		dir, err := s.shelf.folder("tests", map[string][]byte{name: text})
		if err != nil {
			return nil, err
		}
		t.dir, t.report = dir, r.Report(dir)
	}
	command, vars := r.Apply(s.shelf.seen(t.dir), func(name string) string { return valueOf(spec.Env, name) })
	spec.Argv[len(spec.Argv)-1] = command
	for name, value := range vars {
		spec.Env = set(spec.Env, name, value)
	}
	next := spec.OnOutput
	switch r.Runner {
	case testrun.Go:
		t.events = testrun.NewGoReader(r.Verbose, func(b []byte) { t.prints(b); next(b) })
		spec.OnOutput = func(b []byte) { _, _ = t.events.Write(b) }
	case testrun.Cargo:
		t.events = testrun.NewCargoReader()
	case testrun.TAP:
		t.events = testrun.NewTAPReader()
	}
	if r.Runner == testrun.Cargo || r.Runner == testrun.TAP {
		spec.OnOutput = func(b []byte) { _, _ = t.events.Write(b); next(b) }
	}
	return t, nil
}

// declares lists the tests that the tree of a check declares for a runner.
func declares(open OpenTree, place effect.Place, c effect.Check, r reporters.Reporter) []testlist.Test {
	tree, closer, err := open(filepath.Join(place.Tree, filepath.FromSlash(c.Dir)))
	if err != nil {
		return nil
	}
	defer closer.Close()
	return testlist.Of(tree, r.Runner, r.Tags)
}

// nodeReports says whether the Node that a check runs with takes a reporter from outside, and the project does not
// bring one of its own: two of them would be refused.
func (s *session) nodeReports(ctx context.Context, c effect.Check) bool {
	version := s.version(ctx, "node")
	if !reporters.Reports(version[strings.LastIndexByte(version, ' ')+1:]) {
		return false
	}
	tree, closer, err := s.Open(filepath.Join(s.place.Tree, filepath.FromSlash(c.Dir)))
	if err != nil {
		return false
	}
	defer closer.Close()
	text, err := readLimited(tree, "package.json", maxMarker)
	return err != nil || !bytes.Contains(text, []byte("--test-reporter"))
}

// tests is what the check said of its tests. Events that came on the output are taken out of the result, which holds
// then what the command would have printed without them.
func (t *telling) tests(r *sandbox.Result) *effect.TestRun {
	if t == nil {
		return nil
	}
	if tap, ok := t.events.(*testrun.TAPReader); ok && !tap.Spoke() {
		return nil
	}
	if t.events != nil {
		if t.run = t.events.Run(); t.Runner == testrun.Go {
			r.Output = t.plain
		}
	} else if t.Runner == testrun.Java {
		t.run = t.gather()
	} else if t.run = t.read(); !t.run.Whole && len(t.run.Ends) == 0 && r.Exit != 0 {
		return nil // it failed before its tests: the exit status says it
	}
	run := t.run
	out := &effect.TestRun{Runner: string(t.Runner), Passed: run.Count(testrun.Passed),
		Failed: run.Count(testrun.Failed), Whole: run.Whole}
	out.Asked = t.asked(run)
	left := slices.Concat(run.With(testrun.Skipped), run.With(testrun.Excused))
	out.Skipped, out.Left = len(left), shown(left)
	out.Silent = shown(t.silent())
	return out
}

// silent are the tests of which the run should have said how they ended.
func (t *telling) silent() []testrun.Name {
	declared := testlist.Names(t.declared)
	if !t.run.Whole && len(t.run.Files) == 0 {
		return declared
	}
	return t.run.Silent(declared)
}

// belies says why a run that ended with 0 is no pass, "" where it may be one: its runner said that a test failed, or
// came to no end although nothing else can have run in its place.
func (t *telling) belies() string {
	switch {
	case t == nil:
		return ""
	case t.run.Count(testrun.Failed) > 0:
		return "it ended with 0 although it said that tests failed: " + oneLine(shown(t.run.With(testrun.Failed)), 5)
	case !t.run.Whole && t.Certain():
		return "it ended with 0 and did not say how these tests ended: " + oneLine(shown(t.silent()), 5)
	}
	return ""
}

// asked are the ends of the tests that are wanted one by one, nil where the run named none of them.
func (t *telling) asked(run testrun.Run) map[string]string {
	if len(t.ask) == 0 {
		return nil
	}
	ends := make(map[string]testrun.End, len(run.Ends))
	for name, end := range run.Ends {
		ends[name.String()] = end
	}
	var out map[string]string
	for _, name := range t.ask {
		if end, ok := ends[name]; ok {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = string(end)
		}
	}
	return out
}

// prints keeps the end of what is printed.
func (t *telling) prints(b []byte) {
	if t.plain = append(t.plain, b...); len(t.plain) > 2*boxOutput {
		t.plain = append(t.plain[:0], t.plain[len(t.plain)-boxOutput:]...)
	}
}

// read reads the report. One that is not there, no file, or a link that leads out of the folder, which commands may
// write, is one that says nothing.
func (t *telling) read() testrun.Run {
	dir, closer, err := OpenDir(filepath.Dir(t.report))
	if err != nil {
		return testrun.Run{Runner: t.Runner}
	}
	defer closer.Close()
	f, err := openRegular(dir, filepath.Base(t.report))
	if err != nil {
		return testrun.Run{Runner: t.Runner}
	}
	defer f.Close()
	return testrun.Read(t.Runner, f, filepath.ToSlash(t.folder))
}

// maxJUnit bounds the reports of a build tool that are read.
const maxJUnit = 20_000

// gather reads the reports that a build tool has left below the folder of the check.
func (t *telling) gather() testrun.Run {
	all := testrun.NewJUnit()
	dir, closer, err := OpenDir(t.products)
	if err != nil {
		return all.Run()
	}
	defer closer.Close()
	left, seen := maxJUnit, 0
	_ = fs.WalkDir(dir, ".", func(p string, e fs.DirEntry, err error) error {
		switch seen++; {
		case err != nil && e != nil && e.IsDir():
			return fs.SkipDir
		case left == 0 || seen > maxEntries:
			return fs.SkipAll
		case err != nil || !e.Type().IsRegular() || !t.Gathers(p):
			return nil
		}
		left--
		if f, err := dir.Open(p); err == nil {
			all.Add(f)
			_ = f.Close()
		}
		return nil
	})
	return all.Run()
}

func shown(list []testrun.Name) []string {
	out := make([]string, 0, min(len(list), effect.MaxTestNames))
	for _, n := range list[:min(len(list), effect.MaxTestNames)] {
		out = append(out, n.String())
	}
	slices.Sort(out)
	return out
}

func valueOf(env []string, name string) string {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
