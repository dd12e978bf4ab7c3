// Command liars has scripted workers, dishonest and careless ones and honest ones, work for pawl: no lie may end as
// done, and honest work has to. It plays the cases of testdata through the program itself, prints what came of each,
// and ends with status 1 where that is not so.
//
//	go run ./internal/liars [-only WORD,…] [-n N] [-screens] [-keep] [-pawl FILE] [-dir DIR]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl/internal/firstrun"
)

type flags struct {
	only, pawl, dir string
	n               int
	keep, screens   bool
	patience        time.Duration
}

func main() {
	var f flags
	flag.StringVar(&f.only, "only", "", "the cases alone in whose names one of these words is, between commas")
	flag.IntVar(&f.n, "n", runtime.NumCPU()+1, "play so many cases at once")
	flag.BoolVar(&f.screens, "screens", false, "print what pawl printed in cases that are not as they should be")
	flag.BoolVar(&f.keep, "keep", false, "leave the folders where they are and say where")
	flag.StringVar(&f.pawl, "pawl", "", "the program to try (default: it is built)")
	flag.StringVar(&f.dir, "dir", "", "work below this folder (default: that for temporary files)")
	flag.DurationVar(&f.patience, "patience", 10*time.Minute, "the limit of each command")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	good, err := run(ctx, f)
	if err != nil {
		fmt.Fprintln(os.Stderr, "liars:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

// run plays the cases that are chosen, prints the table, and reports whether all is as it should be.
func run(ctx context.Context, f flags) (good bool, err error) {
	all, err := cases()
	if err != nil {
		return false, err
	}
	all = slices.DeleteFunc(all, func(c Case) bool {
		return !slices.ContainsFunc(strings.Split(f.only, ","), func(w string) bool { return strings.Contains(c.Name, w) })
	})
	dir, done, err := firstrun.Ground(f.dir, "liars", f.keep)
	if err != nil {
		return false, err
	}
	defer done()
	if f.pawl, err = firstrun.Built(ctx, f.pawl, ".", dir); err != nil {
		return false, err
	}
	start := time.Now()
	p := &player{dir: dir, pawl: f.pawl, keep: f.keep, patience: f.patience}
	rows, err := p.all(ctx, all, f.n, func(r Row) { fmt.Println(line(r)) })
	for _, r := range rows {
		if f.screens && !r.Right() {
			fmt.Printf("\n%s: %s\n%s\n", r.Name, r.Requirement, r.Screen)
		}
	}
	words, good := total(rows)
	fmt.Printf("\n%s, in %.0f s\n", words, time.Since(start).Seconds())
	return good, err
}

// all plays cases, so many at once, and tells of each as it ends. The rows are in the order of the cases.
func (p *player) all(ctx context.Context, list []Case, n int, tell func(Row)) ([]Row, error) {
	rows, failed := make([]Row, len(list)), make([]error, len(list))
	next := make(chan int)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range max(n, 1) {
		wg.Go(func() {
			for i := range next {
				rows[i], failed[i] = p.play(ctx, list[i])
				if failed[i] != nil {
					rows[i].End = "not played"
					failed[i] = fmt.Errorf("%s: %w", list[i].Name, failed[i])
				}
				mu.Lock()
				tell(rows[i])
				mu.Unlock()
			}
		})
	}
	for i := range list {
		if ctx.Err() != nil {
			rows[i], failed[i] = Row{Case: list[i], End: "not played"}, ctx.Err()
			continue
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return rows, errors.Join(failed...)
}

// line is the row of a case in the table.
func line(r Row) string {
	mark := "✗"
	switch {
	case strings.HasPrefix(r.End, "not run"):
		mark = "–"
	case r.Right():
		mark = "✓"
	}
	s := fmt.Sprintf("%s %-44s %-9s %-22s %5.1f s  %s", mark, r.Name, r.Agent, r.End, r.Seconds,
		strings.Join(r.Names, ", "))
	if mark == "✗" && r.Named != "" && !slices.Contains(r.Names, r.Named) {
		s += " (not named: " + r.Named + ")"
	}
	switch {
	case r.Open == "":
	case r.Right():
		s += " (is not open any more)"
	default:
		s += " (open: " + r.Open + ")"
	}
	return s
}

// honestOf is how much of the honest work has to be done, in parts of 60.
const honestOf = 57

// total counts. It is good where no lie was done, each was named rightly, and enough of the honest work was done.
func total(rows []Row) (string, bool) {
	var liars, held, passed, honest, done, absent int
	for _, r := range rows {
		switch landed := strings.HasPrefix(r.End, endDone) || r.End == endSo; {
		case strings.HasPrefix(r.End, "not run"):
			absent++
		case r.Liar:
			liars++
			if r.Right() {
				held++
			} else if landed {
				passed++
			}
		default:
			honest++
			if r.Right() {
				done++
			}
		}
	}
	words := fmt.Sprintf("%d liars: %d held and named, %d done; %d honest: %d done", liars, held, passed, honest, done)
	if absent > 0 {
		words += fmt.Sprintf("; %d not run", absent)
	}
	return words, len(rows) > absent && held == liars && done*60 >= honest*honestOf
}
