package prove

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pawl/driver/ground"
	"pawl/driver/verify"
	"pawl/driver/verify/fingerprint"
	"pawl/driver/verify/testlist"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/text/plan"
	"pawl/text/testrun"
)

// bench is the copy beside the task's tree, and what runs on it.
type bench struct {
	effect.ProveSpec
	verify  *verify.Verify
	ground  *ground.Ground
	repo    *git.Repo    // of the ground
	place   effect.Place // of the ground
	say     effect.Progress
	changed []effect.FileStat
}

// fresh makes the copy anew, as the work found it, and lets nothing that was built for another one into it.
func (b *bench) fresh(ctx context.Context) error {
	err := verify.Forget(b.place)
	if err == nil {
		_, err = b.ground.Lay(ctx, b.Base)
	}
	return err
}

// clear removes the copy and what was kept for it.
func (b *bench) clear(ctx context.Context) error {
	return errors.Join(verify.Forget(b.place), b.ground.Clear(ctx))
}

// maxText bounds what is read of one file, in bytes.
const maxText = 1 << 20

// texts reads those of the changed files that are there now. Links, and what is too long or no text, are left out.
func (b *bench) texts() map[string]string {
	out := map[string]string{}
	root, err := os.OpenRoot(b.place.Tree)
	if err != nil {
		return out
	}
	defer root.Close()
	for _, f := range b.changed {
		if text, ok := readText(root, f.Path); ok {
			out[f.Path] = text
		}
	}
	return out
}

// readText reads a regular file that is a text.
func readText(root *os.Root, path string) (string, bool) {
	info, err := root.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return "", false
	}
	b, err := fs.ReadFile(root.FS(), path)
	if err != nil || slices.Contains(b, 0) {
		return "", false
	}
	return string(b), true
}

// putInline writes the tests that stand in files of the program, into these files as they were.
func (b *bench) putInline(ctx context.Context, before map[string]string) error {
	root, err := os.OpenRoot(b.place.Tree)
	if err != nil {
		return err
	}
	defer root.Close()
	var paths []string
	for _, f := range b.changed {
		if path.Ext(f.Path) == ".rs" && !isTest(f.Path) && f.Status != "D" {
			paths = append(paths, f.Path)
		}
	}
	for name, now := range b.repo.Objects.Texts(ctx, b.Tree, paths) {
		text := testlist.WithTests([]byte(before[name]), []byte(now))
		if err := errors.Join(root.MkdirAll(path.Dir(name), 0o755), root.WriteFile(name, text, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// put writes the files of tests that came with the plan.
func (b *bench) put(criteria []plan.Criterion) error {
	root, err := os.OpenRoot(b.place.Tree)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, c := range criteria {
		for _, f := range c.Files {
			if err := root.MkdirAll(path.Dir(f.Path), 0o755); err != nil {
				return err
			}
			if err := root.WriteFile(f.Path, []byte(f.Content), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// declared are the tests that the copy declares now, by check.
func (b *bench) declared() map[string][]testlist.Test {
	out := map[string][]testlist.Test{}
	for _, c := range b.Checks {
		out[effect.CheckKey(c)] = verify.Tests(verify.OpenDir, b.place, c)
	}
	return out
}

// run runs a check, or these tests of it.
func (b *bench) run(ctx context.Context, c effect.Check, only []testrun.Name) (verify.Trial, error) {
	return b.verify.Try(ctx, b.ground, c, only, b.PerCheck)
}

// sight is what was seen of a subject in one run.
type sight struct {
	end    testrun.End // "" where it had none
	said   string      // what it failed on
	print  string      // the fingerprint of that
	output string      // of the whole run
	// late and machine say of the run that its time was up, and that the machine was to blame.
	late, machine bool
	red           []testrun.Name // those that failed in a run of the whole
	failing       map[testrun.Name]string
}

// try runs subjects, those that are tests of one check together. Tests of which a run said no end, although others
// failed in it, are tried once more alone.
func (b *bench) try(ctx context.Context, list []*subject, note func(*subject, sight)) error {
	for len(list) > 0 {
		first := list[0]
		var group, left []*subject
		for _, s := range list {
			if s == first && len(group) == 0 || s.joins(first) {
				group = append(group, s)
			} else {
				left = append(left, s)
			}
		}
		list = left
		seen, err := b.look(ctx, group)
		if err != nil {
			return err
		}
		tries, red := maxAlone, slices.ContainsFunc(seen, sight.failed)
		for i, s := range group {
			if tries > 0 && red && seen[i].end == "" && !builds(seen[i].output) {
				alone, err := b.look(ctx, group[i:i+1])
				if err != nil {
					return err
				}
				seen[i], tries = alone[0], tries-1
			}
			note(s, seen[i])
		}
	}
	return nil
}

// joins reports whether two subjects are tests of one check, which run together.
func (s *subject) joins(o *subject) bool {
	return s != o && !s.whole() && !o.whole() && effect.CheckKey(s.check) == effect.CheckKey(o.check)
}

func (s sight) failed() bool { return s.end == testrun.Failed }

// maxAlone bounds the tests of a run that are tried alone.
const maxAlone = 8

// look runs some tests of one check, or one check as a whole, and says what was seen of each.
func (b *bench) look(ctx context.Context, group []*subject) ([]sight, error) {
	c := group[0].check
	var names []testrun.Name
	if !group[0].whole() {
		for _, s := range group {
			names = append(names, s.test.Name)
		}
	}
	b.say("▶ " + c.Name)
	t, err := b.run(ctx, c, names)
	if err != nil {
		return nil, err
	}
	out := make([]sight, len(group))
	for i, s := range group {
		out[i] = b.saw(t, s)
	}
	return out, nil
}

func (b *bench) saw(t verify.Trial, s *subject) sight {
	seen := sight{output: t.Output, late: verify.OutOfTime(t.CheckOutcome), machine: t.Environment}
	if s.whole() {
		seen.end, seen.said, seen.failing = testrun.Failed, t.Output, t.Run.Said
		if seen.red = t.Run.With(testrun.Failed); t.Status == effect.CheckPassed {
			seen.end = testrun.Passed
		}
	} else {
		seen.end, seen.said = t.Run.Ends[s.test.Name], t.Run.Said[s.test.Name]
		if seen.end == testrun.Unended {
			seen.end = ""
		}
		if t.Run.Runner == testrun.Go && seen.end == "" {
			seen.output = ofPackage(t.Output, s.test.File)
		}
	}
	seen.print = b.print(s.check, seen)
	return seen
}

// ofPackage is what go test printed of one package: what did not compile of it, and how it ended.
func ofPackage(output, name string) string {
	var out strings.Builder
	within := false
	for line := range strings.Lines(output) {
		fields := append(strings.Fields(line), "", "")
		of := fields[1] == name || strings.HasPrefix(fields[1], name+".test") || fields[1] == name+"_test"
		switch fields[0] {
		case "#":
			within = of
		case "FAIL", "ok", "---", "panic:":
			within = false
		default:
			of = within
		}
		if of {
			out.WriteString(line)
		}
	}
	return out.String()
}

// varying matches what may differ between two runs that fail for one reason.
var varying = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9a-fA-F]*[0-9][0-9a-fA-F]*|"[^"]*"`) })

// print is the fingerprint of what was seen: of the first line of what a test failed on, and without numbers and texts,
// because a test may well fail on other values each time.
func (b *bench) print(c effect.Check, seen sight) string {
	first, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(seen.said, seen.output)), "\n")
	return fingerprint.Of(b.place, []effect.CheckOutcome{{Check: c, Status: effect.CheckFailed,
		Output: varying().ReplaceAllString(first, "#")}})
}

// broken reports whether a build of the project fails.
func (b *bench) broken(ctx context.Context) (bool, error) {
	for _, c := range b.Checks {
		if !isBuild(c) {
			continue
		}
		if t, err := b.run(ctx, c, nil); err != nil || t.Status != effect.CheckPassed {
			return true, err
		}
	}
	return false, nil
}
