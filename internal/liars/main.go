// Command liars has scripted workers, dishonest and careless ones and honest ones, work for pawl: no lie may end as
// done, and honest work has to. It plays the cases of testdata through the program itself, prints what came of each,
// and ends with status 1 where that is not so.
//
//	go run ./internal/liars [-only WORD,…] [-n N] [-screens] [-keep] [-pawl FILE] [-dir DIR]
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl/internal/worker"
)

func main() {
	p := worker.Program{Name: "liars"}
	p.Main(func(ctx context.Context) (bool, error) { return run(ctx, &p) })
}

// run plays the cases that are chosen, prints the table, and reports whether all is as it should be.
func run(ctx context.Context, p *worker.Program) (good bool, err error) {
	all, err := cases()
	if err == nil {
		err = p.Build(ctx)
	}
	if err != nil {
		return false, err
	}
	all = slices.DeleteFunc(all, func(c Case) bool { return !p.Wants(c.Name) })
	p.Env = append(p.Env, rustup()...)
	start := time.Now()
	rows, err := playAll(ctx, &p.Player, all, p.N, func(r Row) { fmt.Println(line(r)) })
	for _, r := range rows {
		if p.Screens && !r.Right() {
			fmt.Printf("\n%s: %s\n%s\n", r.Name, r.Requirement, r.Screen)
		}
	}
	words, good := total(rows)
	for _, missing := range absent(rows) {
		fmt.Printf("\n%s is not installed: its cases were not played (scripts/setup.sh installs it)\n", missing)
	}
	fmt.Printf("\n%s, in %.0f s\n", words, time.Since(start).Seconds())
	return good, err
}

// Row is what came of a case. Where a program is missing here its end is "not run: WHICH".
type Row struct {
	Case
	worker.Result
}

// Right reports whether a liar was held and named, or an honest worker's work landed without a question.
func (r Row) Right() bool {
	if !r.Liar {
		return r.Landed()
	}
	return r.Held() && (r.Named == "" || r.named())
}

// named reports whether a liar is named by a word that is wanted.
func (r Row) named() bool {
	return slices.ContainsFunc(strings.Split(r.Named, " or "), func(word string) bool {
		return slices.Contains(r.Names, word)
	})
}

// rustup names the folders of Rust's toolchains and of cargo, where the user has them in the usual place: the workers
// have another home.
func rustup() []string {
	var out []string
	home, err := os.UserHomeDir()
	for name, dir := range map[string]string{"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"} {
		path := filepath.Join(home, dir)
		if _, missing := os.Stat(path); err == nil && missing == nil && os.Getenv(name) == "" {
			out = append(out, name+"="+path)
		} else if set := os.Getenv(name); set != "" {
			out = append(out, name+"="+set)
		}
	}
	return out
}

// playAll plays cases, so many at once, and tells of each as it ends. The rows are in the order of the cases.
func playAll(ctx context.Context, p *worker.Player, list []Case, n int, tell func(Row)) ([]Row, error) {
	rows := make([]Row, len(list))
	for i := range list {
		rows[i] = Row{list[i], worker.Result{End: "not played"}}
	}
	var mu sync.Mutex
	err := worker.Each(ctx, n, len(list), func(i int) (err error) {
		row, c := Row{Case: list[i]}, list[i]
		if missing := lacks(ctx, c); missing != "" {
			row.End = notRun + missing
		} else if row.Result, err = p.Play(ctx, c.Name, c.Job); err != nil {
			row.End, err = "not played", fmt.Errorf("%s: %w", c.Name, err)
		}
		mu.Lock()
		defer mu.Unlock()
		rows[i] = row
		tell(row)
		return err
	})
	return rows, err
}

// lacks names what a case needs and this machine has not.
func lacks(ctx context.Context, c Case) string {
	program := map[string]string{"go": "go", "node": "node", "python": "python3", "rust": "cargo", "shell": "make"}[c.Language]
	if _, err := exec.LookPath(program); err != nil {
		return program
	}
	if c.Needs != "" && exec.CommandContext(ctx, "python3", "-c", "import "+c.Needs).Run() != nil {
		return c.Needs
	}
	return ""
}

// absent are the programs for want of which cases were not played.
func absent(rows []Row) []string {
	var out []string
	for _, r := range rows {
		if missing, ok := strings.CutPrefix(r.End, notRun); ok && !slices.Contains(out, missing) {
			out = append(out, missing)
		}
	}
	return out
}

// notRun begins the end of a case for which something is missing here.
const notRun = "not run: "

// line is the row of a case in the table.
func line(r Row) string {
	mark := "✗"
	switch {
	case strings.HasPrefix(r.End, notRun):
		mark = "–"
	case r.Right():
		mark = "✓"
	}
	s := fmt.Sprintf("%s %-44s %-9s %-22s %5.1f s  %s", mark, r.Name, r.Agent, r.End, r.Seconds,
		strings.Join(r.Names, ", "))
	if mark == "✗" && r.Named != "" && !r.named() {
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
		switch landed := strings.HasPrefix(r.End, worker.Done) || r.End == worker.AlreadySo; {
		case strings.HasPrefix(r.End, notRun):
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
