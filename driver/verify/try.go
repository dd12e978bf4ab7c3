package verify

import (
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"pawl/driver/verify/judges"
	"pawl/driver/verify/reporters"
	"pawl/driver/verify/testlist"
	"pawl/kernel/effect"
	"pawl/text/testrun"
)

// Trial is one run of a check, or of some of its tests.
type Trial struct {
	effect.CheckOutcome
	// Run is what the runner said of its tests, by the names of the source. It is empty where the runner is not known.
	// A test counts as passed only where the process that ran it came to its end, as far as that leaves a witness.
	Run testrun.Run
}

// Try runs one check in a place, narrowed to some tests where its runner can be told so: the whole of it where it
// cannot, and where no tests are named. An error means that nothing was found out.
func (v *Verify) Try(ctx context.Context, place effect.Place, c effect.Check, only []testrun.Name,
	perCheck time.Duration) (Trial, error) {
	s, err := v.open(ctx, place, perCheck, nil)
	if err != nil {
		return Trial{}, err
	}
	s.only, s.anew = only, true
	s.shelf.warm(ctx, []effect.Check{c})
	out := Trial{CheckOutcome: s.command(ctx, c)}
	if err := ctx.Err(); err != nil {
		return out, stopError(err)
	}
	if s.unheld != nil {
		return out, s.unheld
	}
	if s.told != nil && s.told.Runner != testrun.TAP { // whose tests cannot be tried alone
		s.told.doubt()
		out.Run = s.told.run.Plain()
		for name, said := range out.Run.Said {
			out.Run.Said[name] = tail([]byte(said), testrun.MaxSaid)
		}
	}
	return out, nil
}

// Tests lists the tests that a tree declares for the runner of a check, nil where that is not known.
func Tests(open OpenTree, place effect.Place, c effect.Check) []testlist.Test {
	r, ok := reporters.Of(c.Command)
	if !ok || c.Kind != kindTest && c.Kind != kindCustom {
		return nil
	}
	return declares(open, place, c, r)
}

// Judges reports whether a path is that of a test, or of what tests compare with.
func Judges(path string) bool { return judges.Test(path) }

// Environmental reports whether a text is what tools print when the machine is at fault.
func Environmental(text string) bool { return machineFailure().MatchString(text) }

// OutOfTime reports whether a check was ended because its time was up.
func OutOfTime(o effect.CheckOutcome) bool { return o.ExitCode == exitTimeout }

// narrowed is the reporter for a run of the tests that are wanted alone. A script of a package manager that calls
// Node's runner, and nothing before or behind it, is that call.
func (s *session) narrowed(c effect.Check, r reporters.Reporter) reporters.Reporter {
	if name := r.Script(); name != "" {
		var manifest struct {
			Scripts map[string]string `json:"scripts"`
		}
		tree, closer, err := s.Open(filepath.Join(s.place.Tree, filepath.FromSlash(c.Dir)))
		if err != nil {
			return r
		}
		defer closer.Close()
		text, err := readLimited(tree, "package.json", maxMarker)
		if err != nil || json.Unmarshal(text, &manifest) != nil ||
			manifest.Scripts["pre"+name]+manifest.Scripts["post"+name] != "" {
			return r
		}
		script, ok := reporters.Of(manifest.Scripts[name])
		if !ok || script.Runner != r.Runner {
			return r
		}
		if n, ok := script.Narrow(s.only); ok {
			return n
		}
		return r
	}
	n, _ := r.Narrow(s.only)
	return n
}

// doubt takes back that tests have passed of which the process did not come to its end.
func (t *telling) doubt() {
	if !t.Ends() {
		return
	}
	ended, folder := t.ended(), map[string]string{}
	for _, d := range t.declared {
		folder[d.File] = path.Dir(d.Path)
	}
	for name, end := range t.run.Ends {
		if in, ok := folder[name.File]; end == testrun.Passed && (!ok || !ended[in]) {
			t.run.Ends[name] = testrun.Unended
		}
	}
}

// ended are the folders, from that of the check, whose tests have left the witness of their end.
func (t *telling) ended() map[string]bool {
	out := map[string]bool{}
	dir, closer, err := OpenDir(t.dir)
	if err != nil {
		return out
	}
	defer closer.Close()
	folder, err := filepath.EvalSymlinks(t.folder)
	if err != nil {
		return out
	}
	logs, _ := fs.Glob(dir, "*.log") // the pattern is well-formed
	for _, log := range logs {
		text, err := readLimited(dir, log, int64(len(reporters.EndMark)))
		where, missing := readLimited(dir, strings.TrimSuffix(log, ".log")+".dir", 64<<10)
		if err != nil || missing != nil || string(text) != reporters.EndMark {
			continue
		}
		if rel, err := filepath.Rel(folder, strings.TrimSuffix(string(where), "\n")); err == nil {
			out[filepath.ToSlash(rel)] = true
		}
	}
	return out
}
