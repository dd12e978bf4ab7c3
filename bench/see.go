package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// How often the commands that look at a run are started, and how many lines are followed, this far apart.
const (
	seeRuns    = 41
	seeLines   = 40
	seeEvery   = 50 * time.Millisecond
	seeLongest = time.Minute
)

// benchSee measures what a person who looks at a run waits for: `pawl show` and `pawl diff` of a run that landed beside
// `git show` of its commit, how far `pawl logs -f` is behind the command that it follows, and the time to the prompt of
// a bare `pawl`.
func benchSee(ctx context.Context, s *settings, emit func(Result)) error {
	p, err := buildPawl(ctx, s)
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "see")
	if err := errors.Join(p.repository(ctx, dir), quiet(p.command(ctx, dir, "init"))); err != nil {
		return err
	}
	if err := benchShown(ctx, s, p, dir, emit); err != nil {
		return err
	}
	if err := benchFollowed(ctx, s, p, dir, emit); err != nil {
		return err
	}
	return benchScreen(ctx, s, p, dir, emit)
}

func benchShown(ctx context.Context, s *settings, p *program, dir string, emit func(Result)) error {
	plan, err := writePlan(s.dir, []string{"seq 40 > numbers.txt"})
	if err != nil {
		return err
	}
	if err := quiet(p.command(ctx, dir, "run", "--plan", plan, "--yes", "--json")); err != nil {
		return err
	}
	names := []string{"git show", "show", "diff"}
	times := make([][]float64, len(names))
	for round := range seeRuns + 1 {
		for i, name := range names {
			c := p.command(ctx, dir, name)
			if i == 0 {
				c = exec.CommandContext(ctx, "git", "show")
				c.Dir, c.Env = dir, p.env
			}
			took, err := wall(c)
			if err != nil {
				return err
			}
			if round > 0 { // the first round warms the system's caches
				times[i] = append(times[i], float64(took))
			}
		}
	}
	yard := median(times[0])
	for i, name := range names[1:] {
		own := median(times[i+1])
		emit(Result{Case: name, Pawl: tookNanos(own), Beside: tookNanos(yard), Yardstick: "git show", Score: own / yard,
			Unit: "×",
			Goal: 5, AtMost: true, Note: fmt.Sprintf("a run that landed; %d runs", seeRuns)})
	}
	return nil
}

// benchFollowed follows a command that says what time it is.
func benchFollowed(ctx context.Context, s *settings, p *program, dir string, emit func(Result)) error {
	s.say("a command of %d lines, followed", seeLines)
	ctx, cancel := context.WithTimeout(ctx, seeLongest)
	defer cancel()
	plan, err := writePlan(s.dir, []string{fmt.Sprintf("for i in $(seq %d); do sleep %g; date +%%s%%N; done", seeLines,
		seeEvery.Seconds())})
	if err != nil {
		return err
	}
	work := p.command(ctx, dir, "run", "--plan", plan, "--yes", "--json")
	if err := work.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- work.Wait() }()
	var behind []float64
	for len(behind) < seeLines/2 && ctx.Err() == nil { // it is followed as soon as there is something to follow
		late, err := follow(p.command(ctx, dir, "logs", "-f"))
		if err != nil {
			return errors.Join(err, ctx.Err())
		}
		behind = late
	}
	if err := errors.Join(<-ended, ctx.Err()); err != nil {
		return err
	}
	emit(Result{Case: "logs -f, behind the command", Pawl: tookNanos(median(behind)), Score: median(behind) / 1e6,
		Unit: "ms", Goal: 50, AtMost: true,
		Note: fmt.Sprintf("p99 %s; %d lines", short(quantile(behind, 0.99)), len(behind))})
	return nil
}

// follow reads what a command prints, and returns by how much each instant that it prints had passed. What was said
// before the command began to follow is printed at once and does not count.
func follow(c *exec.Cmd) (behind []float64, err error) {
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := c.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		now := time.Now()
		said, err := strconv.ParseInt(strings.TrimSpace(lines.Text()), 10, 64)
		if at := time.Unix(0, said); err == nil && at.After(began.Add(seeEvery)) {
			behind = append(behind, float64(now.Sub(at)))
		}
	}
	// Where nobody works yet there is nothing to follow, which it says with its status.
	var status *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &status) {
		return nil, err
	}
	return behind, lines.Err()
}
