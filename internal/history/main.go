// Command history has a scripted worker do what others have done before: changes between two published versions of Go
// modules (testdata/changes.txt), with their tests. Each is done twice: as it was, which pawl has to find proven, and
// with every second piece of the program left out. Then nothing may land while a test of the change is red, and where
// none is, pawl has to name the pieces that no test notices. The modules come from the module cache, or the Go module
// proxy; the list names them, and nothing of them is kept here.
//
//	go run ./internal/history [-only WORD,…] [-n N] [-screens] [-keep] [-pawl FILE] [-dir DIR]
//	go run ./internal/history -find [-pairs N] [MODULE …]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl/internal/worker"
	"pawl/kernel/effect"
	"pawl/kernel/view"
)

func main() {
	p := worker.Program{Name: "history"}
	finds := flag.Bool("find", false,
		"write the list anew, for these modules or those that are in it, with what else could stand there")
	pairs := flag.Int("pairs", 40, "look at so many versions of each module, the newest")
	p.Main(func(ctx context.Context) (bool, error) {
		all, err := parse(list)
		switch {
		case err != nil:
			return false, err
		case *finds:
			return true, find(ctx, os.Stdout, filepath.Join(p.Dir, "tried"), flag.Args(), *pairs, all)
		}
		return run(ctx, &p, slices.DeleteFunc(all, func(c Change) bool { return !p.Wants(c.String()) }))
	})
}

// run plays changes, prints the table, and reports whether all is as it should be.
func run(ctx context.Context, p *worker.Program, all []Change) (bool, error) {
	if err := p.Build(ctx); err != nil {
		return false, err
	}
	cache, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE").Output()
	if err != nil {
		return false, err
	}
	p.Env = []string{"GOMODCACHE=" + strings.TrimSpace(string(cache))}
	start := time.Now()
	rows := make([]Row, len(all))
	var mu sync.Mutex
	err = worker.Each(ctx, p.N, len(all), func(i int) error {
		row, err := play(ctx, &p.Player, all[i])
		mu.Lock()
		defer mu.Unlock()
		if rows[i] = row; err != nil {
			return fmt.Errorf("%s: %w", all[i], err)
		}
		fmt.Println(row.line())
		if p.Screens && !row.Right() {
			fmt.Printf("\n%s\n%s\n%s\n", row.Requirement, row.Whole.Screen, row.Half.Screen)
		}
		return nil
	})
	words, good := total(rows)
	fmt.Printf("\n%s, in %.0f s\n", words, time.Since(start).Seconds())
	return good && err == nil, err
}

// Row is what came of a change.
type Row struct {
	Change
	Whole, Half worker.Result
	// Red says that a test of the change fails with half of it.
	Red bool
	// Left are the hunks that were left out of the half, and Owed those of the change that no test notices: pawl has to
	// name them. Silent are those that it does not.
	Left   int
	Owed   int
	Silent []string
}

// Right reports whether pawl found the change proven, and said of the half what there is to say.
func (r Row) Right() bool {
	if r.Red && (r.Half.Landed() || !r.Half.Held()) {
		return false
	}
	return r.Whole.End == worker.Done && r.Half.End != "" && len(r.Silent) == 0
}

// play plays a change, whole and half. Whether tests notice something is tried apart from pawl.
func play(ctx context.Context, p *worker.Player, c Change) (Row, error) {
	r := Row{Change: c}
	before, after, err := load(ctx, c)
	if err != nil {
		return r, err
	}
	w := compare(c, before, after)
	if !w.fits() {
		return r, errors.New("it is too small or too large for the list")
	}
	name := strings.ReplaceAll(c.String(), "/", "-")
	tried := filepath.Join(p.Dir, name+"-tried")
	for _, is := range []struct {
		files func(int) bool
		red   bool
	}{{nothing, true}, {whole, false}} {
		if out, err := w.try(ctx, tried, w.with(is.files), !is.red); err != nil {
			return r, err
		} else if is.red != (out != "") {
			return r, errors.New("the list is wrong: its tests do not need the change, or fail with it\n" + out)
		}
	}
	out, err := w.try(ctx, tried, w.with(half), true)
	if err != nil {
		return r, err
	}
	r.Red = out != ""
	if r.Whole, err = p.Play(ctx, name+"-whole", w.job(whole)); err != nil {
		return r, err
	}
	if r.Half, err = p.Play(ctx, name+"-half", w.job(half)); err != nil || r.Red {
		return r, err
	}
	for i, h := range w.hunks {
		if half(i) {
			continue
		}
		r.Left++
		if out, err := w.try(ctx, tried, w.with(but(i)), false); err != nil {
			return r, err
		} else if out == "" {
			if r.Owed++; !names(r.Whole.Proof, h) {
				r.Silent = append(r.Silent, h.String())
			}
		}
	}
	return r, nil
}

// job is a worker who makes the change, as far as its hunks are wanted.
func (w *work) job(wanted func(int) bool) worker.Job {
	files := w.with(wanted)
	var touched []string
	for name, text := range files {
		if text != w.base[name] {
			touched = append(touched, name)
		}
	}
	slices.Sort(touched)
	return worker.Job{Requirement: w.Requirement, Agent: "installed", Artifacts: strings.Join(touched, " "),
		Base: w.base, Work: files}
}

// names reports whether pawl says that no test notices a hunk, or that it did not come to all.
func names(p *view.Proof, h hunk) bool {
	return p != nil && (p.Unreached > 0 || slices.ContainsFunc(p.Unnoticed, func(u effect.Part) bool {
		return u.Path == h.file && u.Line >= h.line && u.Line <= h.line+max(h.n-1, 0)
	}))
}

// line is the row of a change in the table.
func (r Row) line() string {
	mark, half := "✗", "green"
	if r.Right() {
		mark = "✓"
	}
	if r.Red {
		half = "red"
	}
	s := fmt.Sprintf("%s %-46s whole: %-16s %5.1f s  half, %-6s %-16s %5.1f s", mark, r.Change, r.Whole.End,
		r.Whole.Seconds, half+":", r.Half.End, r.Half.Seconds)
	if r.Owed > 0 {
		s += fmt.Sprintf("  %d of %d that are left out noticed by no test", r.Owed, r.Left)
	}
	if names := append(slices.Clone(r.Whole.Names), r.Half.Names...); len(names) > 0 {
		s += "  " + strings.Join(names, ", ")
	}
	if len(r.Silent) > 0 {
		s += "  (not named: " + strings.Join(r.Silent, ", ") + ")"
	}
	return s
}

// total counts. It is good where every row is right.
func total(rows []Row) (string, bool) {
	var proven, red, held, green, named, right int
	for _, r := range rows {
		if r.Right() {
			right++
		}
		if r.Whole.End == worker.Done {
			proven++
		}
		switch {
		case r.Half.End == "":
		case !r.Red:
			if green++; len(r.Silent) == 0 {
				named++
			}
		default:
			if red++; !r.Half.Landed() {
				held++
			}
		}
	}
	return fmt.Sprintf("%d changes: %d proven; half of each: %d red, of which %d are not done; %d green, of which %d "+
		"have what no test notices named", len(rows), proven, red, held, green, named), right > 0 && right == len(rows)
}
