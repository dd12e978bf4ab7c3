package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/kernel"
	"pawl/kernel/issues"
	"pawl/machine/board"
)

// The boards that are measured: their numbers of issues, three times as many dependencies, and a chain.
const (
	boardRoots  = 10 // of a hundred issues, how many wait for none
	boardPage   = 50
	boardRounds = 15
	chainLength = 10000
	boardBusy   = 8 // workers at work meanwhile
)

// The most that the ways of asking a board may take at 100,000 issues.
const (
	nextMost = 5 * time.Millisecond
	pageMost = 20 * time.Millisecond
	edgeMost = 10 * time.Millisecond
)

// benchBoard measures a board at 1,000 to 100,000 issues, through the kernel and the store, each commit on disk:
// registering them, the claim of the next one, the first page of a list, a new dependency, and the release of those
// that wait.
func benchBoard(ctx context.Context, s *settings, emit func(Result)) error {
	p, err := buildPawl(ctx, s)
	if err != nil {
		return err
	}
	boards := make([]*shelf, len(growthSizes))
	for at, n := range growthSizes {
		b, err := openWorkspace(ctx, p, filepath.Join(s.dir, fmt.Sprint(n)))
		if err != nil {
			return err
		}
		defer b.store.Close()
		s.say("a board with %s issues", grouped(n))
		if err := b.register(ctx, int(n), emit); err != nil {
			return err
		}
		boards[at] = b
	}
	var series []Series
	for _, m := range boardMeasures {
		s.say("%s", m.name)
		lines, tails, err := m.take(ctx, boards)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		for n, line := range lines {
			if m.growth {
				emitGrowth(line, growthSizes, m.most, emit)
				series = append(series, line)
			} else {
				m.emit(line, tails[n], emit)
			}
		}
	}
	if err := benchChain(ctx, s.dir, emit); err != nil {
		return err
	}
	for _, b := range boards {
		if err := b.verify(ctx); err != nil {
			return err
		}
	}
	last := boards[len(boards)-1]
	if err := last.commands(ctx, p, emit); err != nil {
		return err
	}
	if s.plots == "" {
		return nil
	}
	name, err := Plot(s.plots, "Asking a board for its next issue", growthSizes, series)
	if err == nil {
		s.say("wrote %s", name)
	}
	return err
}

// asked is something that is asked of each board in turns. The function asks once, and returns how long reading and
// deciding took and how long all of it did.
type asked struct {
	name   string
	most   time.Duration
	growth bool
	times  int // in each round
	rounds int
	reads  bool // nothing is committed
	before func(context.Context, *shelf) error
	ask    func(context.Context, *shelf) (read, whole time.Duration, err error)
}

var boardMeasures = []asked{
	{name: "next to plan", most: nextMost, growth: true, times: 5,
		ask: func(ctx context.Context, b *shelf) (time.Duration, time.Duration, error) {
			return nextIssue(ctx, b, true)
		}},
	{name: "next to execute", most: nextMost, growth: true, times: 5, before: planHalf,
		ask: func(ctx context.Context, b *shelf) (time.Duration, time.Duration, error) {
			return nextIssue(ctx, b, false)
		}},
	{name: "list, by registration", reads: true, most: pageMost, times: 5,
		ask: func(ctx context.Context, b *shelf) (time.Duration, time.Duration, error) {
			return readPage(ctx, b, kernel.Select{Kind: kernel.KindIssue, Limit: boardPage})
		}},
	{name: "list, one status", reads: true, most: pageMost, times: 5,
		ask: func(ctx context.Context, b *shelf) (time.Duration, time.Duration, error) {
			return readPage(ctx, b, kernel.Select{Kind: kernel.KindIssue,
				States: []string{string(board.IssueRegistered)},
				Limit:  boardPage})
		}},
	{name: "list, every status by rank", reads: true, most: pageMost, times: 5, ask: readColumns},
	{name: "new dependency", most: edgeMost, times: 5, ask: addEdge},
	{name: "circle, refused", reads: true, most: edgeMost, times: 5, ask: closeCircle},
	{name: "release of 3", times: 1, ask: func(ctx context.Context, b *shelf) (time.Duration, time.Duration, error) {
		return releaseIssue(ctx, b, 3)
	}},
	{name: "release of 1,000", times: 1, rounds: 3, ask: func(ctx context.Context, b *shelf) (time.Duration,
		time.Duration, error) {
		return releaseIssue(ctx, b, issues.MaxIssues)
	}},
}

// take measures each board in turns and returns two series, reading and deciding, and all of it with the commit, and
// for each how long the slowest of a hundred took on the largest board.
func (m *asked) take(ctx context.Context, boards []*shelf) (lines []Series, tails []float64, err error) {
	reads, wholes := make([][]float64, len(boards)), make([][]float64, len(boards))
	rounds := m.rounds
	if rounds == 0 {
		rounds = boardRounds
	}
	for _, b := range boards {
		if m.before != nil {
			if err := m.before(ctx, b); err != nil {
				return nil, nil, err
			}
		}
		if m.rounds == 0 {
			if _, _, err := m.ask(ctx, b); err != nil { // warms what is cold
				return nil, nil, err
			}
		}
	}
	for range rounds {
		for at, b := range boards {
			for range m.times {
				read, whole, err := m.ask(ctx, b)
				if err != nil {
					return nil, nil, err
				}
				reads[at], wholes[at] = append(reads[at], float64(read)), append(wholes[at], float64(whole))
			}
		}
	}
	lines = []Series{{Name: m.name}, {Name: m.name + ", committed"}}
	for at := range boards {
		lines[0].Ys, lines[1].Ys = append(lines[0].Ys, median(reads[at])), append(lines[1].Ys, median(wholes[at]))
	}
	last := len(boards) - 1
	tails = []float64{quantile(reads[last], 0.99), quantile(wholes[last], 0.99)}
	if m.reads {
		lines = lines[:1]
	}
	return lines, tails, nil
}

// emit holds the last value of a series against the most that it may be.
func (m *asked) emit(line Series, tail float64, emit func(Result)) {
	last := len(growthSizes) - 1
	note := "p99 " + short(tail)
	for i, n := range growthSizes {
		note += fmt.Sprintf(", %s: %s", grouped(n), short(line.Ys[i]))
	}
	emit(Result{Case: line.Name + " of " + grouped(growthSizes[last]), Pawl: tookNanos(line.Ys[last]),
		Score: line.Ys[last] / 1e6, Unit: "ms",
		Goal: float64(m.most.Milliseconds()), AtMost: true, NoGoal: m.most == 0, Note: note})
}

// benchChain measures what is worst: a chain of issues in which each waits for the one before it.
func benchChain(ctx context.Context, dir string, emit func(Result)) error {
	b, err := openShelf(ctx, filepath.Join(dir, "chain"))
	if err != nil {
		return err
	}
	defer b.store.Close()
	links := make([]issues.NewIssue, chainLength)
	for i := range links {
		links[i] = issues.NewIssue{Title: fmt.Sprintf("Link %d", i), External: fmt.Sprintf("LINK-%d", i),
			Height: int64(chainLength - 1 - i)}
		if i > 0 {
			links[i].After = []string{fmt.Sprintf("LINK-%d", i-1)}
		}
	}
	if _, err := b.add(ctx, links); err != nil {
		return err
	}
	first, last, err := b.ends(ctx)
	if err != nil {
		return err
	}
	chain := grouped(chainLength)
	for _, c := range []struct {
		name   string
		rounds int
		ask    func() (read, whole time.Duration, err error)
	}{
		{"one more at the foot of a chain of " + chain, 5, func() (time.Duration, time.Duration, error) {
			on := last
			if last, err = addAnother(ctx, b); err != nil {
				return 0, 0, err
			}
			return b.do(ctx, nil, &issues.AddDependency{Issue: last, On: on})
		}},
		{"one more at its head", 5, func() (time.Duration, time.Duration, error) {
			i := first
			if first, err = addAnother(ctx, b); err != nil {
				return 0, 0, err
			}
			return b.do(ctx, nil, &issues.AddDependency{Issue: i, On: first})
		}},
		{"its head waits for its foot, refused", 3, func() (time.Duration, time.Duration, error) {
			read, whole, err := b.do(ctx, nil, &issues.AddDependency{Issue: first, On: last})
			return read, whole, refused(err)
		}},
	} {
		var reads, wholes []float64
		for range c.rounds {
			read, whole, err := c.ask()
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			reads, wholes = append(reads, float64(read)), append(wholes, float64(whole))
		}
		emit(Result{Case: c.name, Pawl: tookNanos(median(reads)), Score: median(reads) / 1e6, Unit: "ms",
			Goal: float64(edgeMost.Milliseconds()), AtMost: true,
			Note: fmt.Sprintf("with the commit %s; longest %s", short(median(wholes)), short(slices.Max(wholes)))})
	}
	return b.verify(ctx)
}

// commands measures whole processes that show the board, from their start to the arrival of the first line about an
// issue.
func (b *shelf) commands(ctx context.Context, p *program, emit func(Result)) error {
	for _, args := range [][]string{{"issue", "list"}, {"issue", "list", "--status", string(board.IssueRegistered)},
		{"issue", "list", "--status", string(board.IssueCompleted)},
		{"issue", "queue"}} {
		var firsts, wholes []float64
		for range listRuns {
			first, whole, _, err := firstRow(p.command(ctx, filepath.Dir(b.dir), args...), "ISS-")
			if err != nil {
				return err
			}
			firsts, wholes = append(firsts, float64(first)), append(wholes, float64(whole))
		}
		emit(Result{Case: "pawl " + strings.Join(args, " "), Pawl: tookNanos(median(firsts)),
			Score: median(firsts) / 1e6, Unit: "ms", Goal: float64(pageMost.Milliseconds()),
			AtMost: true, Note: fmt.Sprintf("a process, to its first row; to its end %s; %s issues, %d runs",
				short(median(wholes)), grouped(float64(len(b.ids))), listRuns)})
	}
	return nil
}

// ends returns the first and the last issue that were registered.
func (b *shelf) ends(ctx context.Context) (first, last string, err error) {
	rows, err := b.store.Load(ctx, kernel.Select{Kind: kernel.KindIssue, Limit: 1, HotOnly: true},
		kernel.Select{Kind: kernel.KindIssue, Newest: true, Limit: 1, HotOnly: true})
	if err != nil || len(rows[0])+len(rows[1]) != 2 {
		return "", "", errors.Join(err, missing(true, "an issue"))
	}
	return rows[0][0].ID, rows[1][0].ID, nil
}

// addAnother registers an issue and returns its id.
func addAnother(ctx context.Context, b *shelf) (string, error) {
	if _, err := b.add(ctx, []issues.NewIssue{{Title: "One more"}}); err != nil {
		return "", err
	}
	_, last, err := b.ends(ctx)
	return last, err
}
