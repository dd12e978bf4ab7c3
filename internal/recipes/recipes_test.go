// Package recipes tries the recipes of CONTRIBUTING.md: it adds one of each to a copy of the checkout, as a contributor
// would, and has the copy built and tried. It holds tests only.
package recipes

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxFiles bounds the files of the program that a recipe touches.
const maxFiles = 3

var each = flag.Bool("each", false, "leave out one file of one recipe at a time, which has to be noticed; minutes")

// recipe is one of CONTRIBUTING.md, found there by its name, with an example: a patch in testdata, found by its name.
type recipe struct {
	name string
	// tests are the packages whose tests are run, with the tests to run, "" for all.
	tests map[string]string
	// golden are the packages whose tests write what is generated.
	golden []string
	// shown is what then stands in a file that is generated.
	shown map[string]string
	// said is what pawl then answers to a command line.
	said map[string]string
}

var recipes = []recipe{
	{name: "gate", golden: []string{"machine/task"}, tests: map[string]string{"machine/task": ""},
		shown: map[string]string{"docs/machines/task.md": "| `never-leased` |"}},
	{name: "command", tests: map[string]string{"kernel/tasks": "", "kernel/replay": "TestEveryCommandIsKnown"}},
	{name: "tool", golden: []string{"driver/drivertest"}, tests: map[string]string{"driver/count": ""},
		shown: map[string]string{"docs/tools.md": "## count_lines"}},
	{name: "agent", tests: map[string]string{"agent/makefile": ""}, said: map[string]string{"agent list": "makefile"}},
	{name: "store", tests: map[string]string{"store/timed": ""}},
	{name: "screen", golden: []string{"face/cli"}, shown: map[string]string{"docs/cli.md": "## pawl where"},
		said: map[string]string{"where --help": "pawl where --json"}},
}

// house are the tests that whatever is added has to pass, with those of them to leave out: TestFigures is golden and
// TestArrows… reads the types of every package, which would compile the copy a second time; the kernel is larger than a
// package may be, and its exception may not grow.
var house = map[string]string{"internal/archtest": "TestFigures|TestArrows", "text/message": ""}

// TestRecipes: each recipe names the files that it touches, and with those alone there is one more of what it is about.
func TestRecipes(t *testing.T) {
	c := newCopy(t)
	for _, r := range recipes {
		r.named(t, c)
		c.apply(t, r, "")
	}
	if err := c.try(t, recipes...); err != nil {
		t.Error(err)
	}
}

// TestEveryFileIsNeeded: a recipe names no file in vain, and whoever forgets one is told.
func TestEveryFileIsNeeded(t *testing.T) {
	if !*each {
		t.Skip("only with -each")
	}
	for _, r := range recipes {
		for _, without := range r.files(t) {
			t.Run(r.name+" without "+without, func(t *testing.T) {
				c := newCopy(t)
				c.apply(t, r, without)
				if err := c.try(t, r); err == nil {
					t.Error("nobody noticed")
				} else {
					t.Log(err)
				}
			})
		}
	}
}

func (r recipe) patch(t *testing.T) string {
	t.Helper()
	name, err := filepath.Abs(filepath.Join("testdata", r.name+".patch"))
	if err != nil {
		t.Fatal(err)
	}
	return name
}

var changed = regexp.MustCompile(`(?m)^\+\+\+ b/(\S+)`)

// files are the files of the program that a recipe's example touches.
func (r recipe) files(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile(r.patch(t))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range changed.FindAllStringSubmatch(string(raw), -1) {
		if !strings.HasSuffix(m[1], "_test.go") {
			out = append(out, m[1])
		}
	}
	return out
}

var (
	paths = regexp.MustCompile("`([^`\\s]+/[^`\\s]+)`")
	open  = regexp.MustCompile(`[A-Z]{2,}`) // a word for what the contributor names
)

// named holds what CONTRIBUTING.md says that a recipe touches against what its example does.
func (r recipe) named(t *testing.T, c *scratch) {
	t.Helper()
	page := string(c.read(t, "CONTRIBUTING.md"))
	title := regexp.MustCompile(`\*\*… an? ` + r.name + `\.\*\*`).FindStringIndex(page)
	if title == nil {
		t.Fatalf("CONTRIBUTING.md does not say how to add a %s", r.name)
	}
	paragraph, _, _ := strings.Cut(page[title[1]:], "\n\n")
	_, list, ok := strings.Cut(paragraph, "Files:")
	if !ok {
		t.Fatalf("CONTRIBUTING.md does not say which files a %s touches", r.name)
	}
	var patterns []string
	for _, m := range paths.FindAllStringSubmatch(list, -1) {
		patterns = append(patterns, open.ReplaceAllString(m[1], "*"))
	}
	files := r.files(t)
	for _, f := range files {
		if !slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, f); return ok }) {
			t.Errorf("a %s touches %s, which CONTRIBUTING.md does not name", r.name, f)
		}
	}
	if len(files) != len(patterns) || len(files) > maxFiles {
		t.Errorf("a %s touches %d files, CONTRIBUTING.md names %d, and at most %d are allowed", r.name, len(files),
			len(patterns), maxFiles)
	}
}

// scratch is a copy of the checkout. What is tried in it reads the copy's files. The compiler sees the checkout with the
// files of the copy that recipes touched in their places, so that whatever does not depend on them comes out of the
// cache.
type scratch struct {
	root, dir string
	touched   map[string]string // by the place in the checkout
}

// apart are folders of a checkout that are not its own.
var apart = []string{".git", ".tools", ".pawl", "bin"}

func newCopy(t *testing.T) *scratch {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	c := &scratch{root: root, dir: t.TempDir(), touched: map[string]string{}}
	err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, name) // below root
		switch {
		case err != nil:
			return err
		case slices.Contains(apart, rel) && e.IsDir():
			return filepath.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(c.dir, rel), 0o755)
		case !e.Type().IsRegular():
			return nil
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(c.dir, rel), raw, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *scratch) read(t *testing.T, rel string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(c.dir, rel))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// apply adds the example of a recipe, but for one file unless that is "". One line around each change has to be as it
// was: an example whose surroundings moved on is written anew, by hand or from a git diff -U1.
func (c *scratch) apply(t *testing.T, r recipe, without string) {
	t.Helper()
	args := []string{"apply", "-C1"}
	if without != "" {
		args = append(args, "--exclude="+without)
	}
	cmd := exec.Command("git", append(args, r.patch(t))...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(c.dir)) // the copy is in no repository
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the example of a %s does not fit any more: %v\n%s", r.name, err, out)
	}
	raw, err := os.ReadFile(r.patch(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range changed.FindAllSubmatch(raw, -1) {
		if rel := string(m[1]); rel != without {
			c.touched[filepath.Join(c.root, rel)] = filepath.Join(c.dir, rel)
		}
	}
}

// try does what a contributor is told to do after each of the recipes, and returns the first thing that is not right.
func (c *scratch) try(t *testing.T, added ...recipe) error {
	t.Helper()
	for _, file := range slices.Sorted(maps.Values(c.touched)) {
		raw, err := os.ReadFile(file)
		if err != nil || !strings.HasSuffix(file, ".go") {
			continue // what was taken away is missed by the compiler
		}
		if done, err := format.Source(raw); err != nil || !bytes.Equal(done, raw) {
			return fmt.Errorf("%s is not formatted (%v)", file, err)
		}
	}
	tests, golden := map[string]string{}, map[string]bool{}
	for _, r := range added {
		maps.Copy(tests, r.tests)
		for _, p := range r.golden {
			golden[p] = true
		}
	}
	if err := c.build(t, slices.Concat(slices.Collect(maps.Keys(tests)), slices.Collect(maps.Keys(golden)),
		slices.Collect(maps.Keys(house)))); err != nil {
		return err
	}
	for p := range golden {
		if err := c.test(p, "-update"); err != nil {
			return err
		}
	}
	for p, only := range tests {
		if err := c.test(p, "-test.run="+only); err != nil {
			return err
		}
	}
	for p, skip := range house {
		if err := c.test(p, "-test.skip="+skip); err != nil {
			return err
		}
	}
	return c.look(t, added)
}

// build compiles the program and the tests of some packages.
func (c *scratch) build(t *testing.T, packages []string) error {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"Replace": c.touched})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	slices.Sort(packages)
	for i, p := range packages {
		packages[i] = "./" + p
	}
	bin := filepath.Join(c.dir, "bin") + string(filepath.Separator)
	if _, err := c.run(c.root, "go", "build", "-overlay", overlay, "-ldflags=-s", "-o", bin, "./cmd/pawl"); err != nil {
		return err
	}
	_, err = c.run(c.root, "go", append([]string{"test", "-c", "-vet=off", "-overlay", overlay, "-ldflags=-s", "-o", bin},
		slices.Compact(packages)...)...)
	if err != nil {
		return err
	}
	deps, err := c.run(c.root, "go", "list", "-overlay", overlay, "-deps", "./cmd/pawl")
	if err != nil {
		return err
	}
	for file := range c.touched {
		rel, _ := filepath.Rel(c.root, filepath.Dir(file)) // below root
		if !strings.HasSuffix(file, ".go") || strings.Contains(rel, "test") {
			continue
		}
		if !slices.Contains(strings.Fields(deps), path.Join("pawl", filepath.ToSlash(rel))) {
			return fmt.Errorf("the program does without %s", rel)
		}
	}
	return nil
}

// test runs the tests of a package on the files of the copy.
func (c *scratch) test(pkg string, args ...string) error {
	_, err := c.run(filepath.Join(c.dir, pkg), filepath.Join(c.dir, "bin", path.Base(pkg)+".test"), args...)
	return err
}

// look asks the new program for what was added, and what was generated of it.
func (c *scratch) look(t *testing.T, added []recipe) error {
	t.Helper()
	pawl := filepath.Join(c.dir, "bin", "pawl")
	if out, err := c.run(c.dir, pawl, "machine", "check"); err != nil {
		return fmt.Errorf("pawl machine check: %w\n%s", err, out)
	}
	for _, r := range added {
		for file, want := range r.shown {
			if !bytes.Contains(c.read(t, file), []byte(want)) {
				return fmt.Errorf("%s does not show the %s: %q", file, r.name, want)
			}
		}
		for line, want := range r.said {
			out, err := c.run(c.dir, pawl, strings.Fields(line)...)
			if err != nil {
				return err
			}
			if !strings.Contains(out, want) {
				return fmt.Errorf("pawl %s does not say %q:\n%s", line, want, out)
			}
		}
	}
	return nil
}

// run runs a program in a folder and returns what it printed; the error has it, too. The home of pawl is the copy.
func (c *scratch) run(dir, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	if filepath.Base(program) == "pawl" { // the tests see to that themselves, and need Go's caches
		cmd.Env = append(os.Environ(), "HOME="+c.dir, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "LC_ALL=C.UTF-8")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out), err
}
