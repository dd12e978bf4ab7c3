package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// What is proposed is small enough to be one piece of work, and large enough to be half done.
const (
	leastHunks = 2
	mostHunks  = 14
	mostLines  = 160
	mostFiles  = 12
	slowest    = 2 * time.Minute
)

// find writes the part of the list that is about these modules, or all of it: the changes between neighbouring
// versions, the newest so many, whose tests are red without the rest of them. Those in the list have their requirement.
func find(ctx context.Context, out io.Writer, dir string, modules []string, pairs int, known []Change) error {
	if len(modules) == 0 {
		for _, c := range known {
			modules = append(modules, c.Module)
		}
		slices.Sort(modules)
		modules = slices.Compact(modules)
	}
	for _, module := range modules {
		versions, err := versionsOf(ctx, module)
		if err != nil {
			return err
		}
		for i := len(versions) - 1; i > 0 && len(versions)-i <= pairs; i-- {
			c := Change{Module: module, From: versions[i-1], To: versions[i]}
			if err := between(ctx, out, dir, c, known); err != nil {
				fmt.Fprintf(out, "# %s %s: %v\n", module, versions[i], err)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

// versionsOf are the versions of a module, in order, without those that are not meant for everybody.
func versionsOf(ctx context.Context, module string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-versions", module)
	cmd.Dir = os.TempDir() // as download
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m -versions %s: %w", module, err)
	}
	fields := strings.Fields(string(raw))
	return slices.DeleteFunc(fields[min(1, len(fields)):], func(v string) bool { return strings.Contains(v, "-") }), nil
}

// between proposes the changes between two versions, a folder each.
func between(ctx context.Context, out io.Writer, dir string, c Change, known []Change) error {
	before, after, err := load(ctx, c)
	if err != nil {
		return err
	}
	var dirs []string
	for name, text := range after {
		if strings.HasSuffix(name, "_test.go") && before[name] != text {
			dirs = append(dirs, path.Dir(name))
		}
	}
	slices.Sort(dirs)
	for _, c.Dir = range slices.Compact(dirs) {
		w := compare(c, before, after)
		if !w.fits() {
			continue
		}
		red, err := w.try(ctx, dir, w.with(nothing), false)
		if err != nil {
			return err
		} else if red == "" {
			continue
		}
		start := time.Now()
		if broken, err := w.try(ctx, dir, w.with(whole), true); err != nil {
			return err
		} else if broken != "" || time.Since(start) > slowest {
			first, _, _ := strings.Cut(strings.TrimSpace(broken), "\n")
			fmt.Fprintf(out, "# %s: after %.0f s %s\n", c, time.Since(start).Seconds(), first)
			continue
		}
		c.Requirement = "TODO: the change in a sentence. " + strings.Join(failed().FindAllString(red, 5), " ")
		for _, k := range known {
			if k.String() == c.String() && k.From == c.From {
				c.Requirement = k.Requirement
			}
		}
		fmt.Fprintf(out, "%s %s %s %s\n\t%s\n", c.Module, c.From, c.To, c.Dir, c.Requirement)
	}
	return nil
}

// fits reports whether a change is worth a try.
func (w *work) fits() bool {
	lines, files := 0, map[string]bool{}
	for _, h := range w.hunks {
		lines += h.n + strings.Count(w.base[h.file][h.edit.Start:h.edit.End], "\n")
		files[h.file] = true
	}
	for _, text := range w.tests {
		if strings.Contains(text, "\x00") {
			return false // the stand-in of an agent writes texts
		}
	}
	return len(w.gone) == 0 && len(w.hunks) >= leastHunks && len(w.hunks) <= mostHunks && lines <= mostLines &&
		len(files)+len(w.tests) <= mostFiles
}

// failed matches what go test says of tests that are red.
var failed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`--- FAIL: \w+|undefined: [\w.]+`) })
