package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	random "math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"pawl"
	"pawl/effect"
	"pawl/kernel"
	"pawl/machine/board"
	"pawl/store/sqlite"
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

// benchBoard measures a board at 1,000 to 100,000 issues, through the kernel and the store, each commit on disk: registering
// them, the claim of the next one, the first page of a list, a new dependency, and the release of those that wait.
func benchBoard(ctx context.Context, s *settings, emit func(Result)) error {
	boards := make([]*shelf, len(growthSizes))
	for at, n := range growthSizes {
		b, err := openShelf(ctx, filepath.Join(s.dir, fmt.Sprint(n)))
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
		lines, err := m.take(ctx, boards)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		for n, line := range lines {
			if m.growth {
				emitGrowth(line, growthSizes, m.most, emit)
				series = append(series, line)
			} else {
				m.emit(line, n, emit)
			}
		}
	}
	if err := benchChain(ctx, s, emit); err != nil {
		return err
	}
	for _, b := range boards {
		if err := b.verify(ctx); err != nil {
			return err
		}
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

// measure is something that is asked of each board in turns. The function asks once, and returns how long reading and deciding
// took and how long all of it did.
type measure struct {
	name   string
	most   time.Duration
	growth bool
	times  int // in each round
	rounds int
	before func(context.Context, *shelf) error
	ask    func(context.Context, *shelf) (read, whole time.Duration, err error)
}

var boardMeasures = []measure{
	{name: "next to plan", most: nextMost, growth: true, times: 5, ask: func(ctx context.Context, b *shelf) (time.Duration, time.Duration, error) {
		return b.next(ctx, true)
	}},
	{name: "next to execute", most: nextMost, growth: true, times: 5, before: (*shelf).plan, ask: func(ctx context.Context, b *shelf) (time.Duration, time.Duration, error) {
		return b.next(ctx, false)
	}},
	{name: "list, by registration", most: pageMost, times: 5, ask: func(ctx context.Context, b *shelf) (time.Duration, time.Duration, error) {
		return b.page(ctx, kernel.Select{Kind: kernel.KindIssue, Limit: boardPage})
	}},
	{name: "list, one status by rank", most: pageMost, times: 5, ask: func(ctx context.Context, b *shelf) (time.Duration, time.Duration, error) {
		return b.page(ctx, kernel.Select{Kind: kernel.KindIssue, States: []string{string(board.IssueRegistered)}, ByRank: true, Limit: boardPage})
	}},
	{name: "list, every status by rank", most: pageMost, times: 5, ask: (*shelf).columns},
	{name: "new dependency", most: edgeMost, times: 5, ask: (*shelf).edge},
	{name: "circle, refused", most: edgeMost, times: 5, ask: (*shelf).circle},
	{name: "release of 3", times: 1, ask: func(ctx context.Context, b *shelf) (time.Duration, time.Duration, error) { return b.release(ctx, 3) }},
	{name: "release of 1,000", times: 1, rounds: 3, ask: func(ctx context.Context, b *shelf) (time.Duration, time.Duration, error) {
		return b.release(ctx, kernel.MaxIssues)
	}},
}

// take measures each board in turns and returns two series: reading and deciding, and all of it with the commit.
func (m *measure) take(ctx context.Context, boards []*shelf) ([]Series, error) {
	reads, wholes := make([][]float64, len(boards)), make([][]float64, len(boards))
	rounds := m.rounds
	if rounds == 0 {
		rounds = boardRounds
	}
	for _, b := range boards {
		if m.before != nil {
			if err := m.before(ctx, b); err != nil {
				return nil, err
			}
		}
		if m.rounds == 0 {
			if _, _, err := m.ask(ctx, b); err != nil { // warms what is cold
				return nil, err
			}
		}
	}
	for range rounds {
		for at, b := range boards {
			for range m.times {
				read, whole, err := m.ask(ctx, b)
				if err != nil {
					return nil, err
				}
				reads[at], wholes[at] = append(reads[at], float64(read)), append(wholes[at], float64(whole))
			}
		}
	}
	out := []Series{{Name: m.name}, {Name: m.name + ", committed"}}
	for at := range boards {
		out[0].Ys, out[1].Ys = append(out[0].Ys, median(reads[at])), append(out[1].Ys, median(wholes[at]))
	}
	if slices.Equal(out[0].Ys, out[1].Ys) {
		out = out[:1] // nothing is committed
	}
	return out, nil
}

// emit holds the last value of a series against the most that it may be.
func (m *measure) emit(line Series, part int, emit func(Result)) {
	last := len(growthSizes) - 1
	note := ""
	for i, n := range growthSizes {
		if i > 0 {
			note += ", "
		}
		note += fmt.Sprintf("%s: %s", grouped(n), short(line.Ys[i]))
	}
	emit(Result{Case: line.Name + " of " + grouped(growthSizes[last]), Pawl: tookNanos(line.Ys[last]), Score: line.Ys[last] / 1e6, Unit: "ms",
		Goal: float64(m.most.Milliseconds()), AtMost: true, NoGoal: m.most == 0, Note: note})
	_ = part
}
