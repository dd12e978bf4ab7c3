package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"pawl/driver/checkpoint"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// The repository of which worktrees are made: as many files as a project of some years has, of 1 to 16 KiB.
const (
	worktreeFiles  = 2000
	worktreeRounds = 15
)

// benchWorktree measures how long a task waits for a worktree of its own: taken from a pool that was filled before,
// beside `git worktree add --detach`, at the commit that the pool is at and at the one before, where a few files are to
// be written. For comparison, the same with the first snapshot, and what the driver does without a pool.
func benchWorktree(ctx context.Context, s *settings, emit func(Result)) error {
	s.say("a repository of %d files", worktreeFiles)
	w := worktrees{dir: filepath.Join(s.dir, "repository"), memory: &git.Memory{}}
	w.place = effect.Place{Workspace: w.dir, Tree: w.dir, Git: true}
	w.pool = checkpoint.NewPool(w.memory, w.place, 2)
	if err := w.make(ctx); err != nil {
		return err
	}
	times := map[string][]float64{}
	for round := range worktreeRounds + 1 {
		s.say("round %d of %d", round, worktreeRounds)
		took, err := w.round(ctx)
		if err != nil {
			return err
		}
		for name, t := range took {
			if round > 0 { // the first round warms the system's caches
				times[name] = append(times[name], float64(t))
			}
		}
	}
	yard := median(times["git"])
	row := func(name, title, note string, goal bool) {
		emit(Result{Case: title, Pawl: tookNanos(median(times[name])), Beside: tookNanos(yard),
			Yardstick: "git worktree add", Score: median(times[name]) / yard,
			Unit: "×", Goal: 0.5, AtMost: true, NoGoal: !goal, Note: note})
	}
	files := grouped(worktreeFiles) + " files"
	row("take", "from the pool, "+files, fmt.Sprintf("at the commit of the pool; %d runs", worktreeRounds), true)
	row("move", "at another commit", "at the commit before, where 20 files differ", true)
	row("seen", "with a snapshot", "the first, which finds nothing remembered", false)
	row("cold", "without a pool", "the driver, which takes a snapshot as well", false)
	return w.pool.Drain(ctx)
}

// worktrees are what is measured.
type worktrees struct {
	dir          string
	before, head string
	memory       *git.Memory
	pool         checkpoint.Pool
	place        effect.Place
	made         int
}

// git runs git in the repository and returns the first line that it printed.
func (w *worktrees) git(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=bench", "-c",
		"user.email=bench@example.invalid"}, args...)...)
	c.Dir = w.dir
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, nil
}

// make makes the repository with two commits.
func (w *worktrees) make(ctx context.Context) error {
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return err
	}
	if _, err := w.git(ctx, "init", "-q", "-b", "main"); err != nil {
		return err
	}
	for _, commit := range []*string{&w.before, &w.head} {
		for i := range worktreeFiles {
			if commit == &w.head && i%100 > 0 {
				continue
			}
			name := filepath.Join(w.dir, fmt.Sprintf("p%d/s%d/f%d.txt", i%50, i%7, i))
			line := fmt.Sprintf("file %d, commit %p, a line as long as lines are in a text\n", i, commit)
			text := strings.Repeat(line, 1<<10/len(line)*(1+i%16))
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
				os.WriteFile(name, []byte(text), 0o644)); err != nil {
				return err
			}
		}
		_, added := w.git(ctx, "add", ".")
		_, committed := w.git(ctx, "commit", "-q", "-m", "A commit")
		id, err := w.git(ctx, "rev-parse", "HEAD")
		if err := errors.Join(added, committed, err); err != nil {
			return err
		}
		*commit = id
	}
	return nil
}

// next is the place of another task.
func (w *worktrees) next() effect.Place {
	w.made++
	p := w.place
	p.Tree = filepath.Join(w.dir, ".pawl", "worktrees", fmt.Sprintf("task-%d", w.made))
	return p
}

// round measures each way once.
func (w *worktrees) round(ctx context.Context) (map[string]time.Duration, error) {
	took := map[string]time.Duration{}
	if err := w.pool.Fill(ctx); err != nil {
		return nil, err
	}
	theirs := filepath.Join(w.dir, ".pawl", "theirs")
	add := exec.CommandContext(ctx, "git", "worktree", "add", "--detach", theirs, w.head)
	add.Dir = w.dir
	var err error
	if took["git"], err = wall(add); err != nil {
		return nil, err
	}
	if _, err := w.git(ctx, "worktree", "remove", "--force", theirs); err != nil {
		return nil, err
	}
	var places []effect.Place
	for name, base := range map[string]string{"take": w.head, "move": w.before} {
		p := w.next()
		places = append(places, p)
		start := time.Now()
		_, ok, err := w.pool.Take(ctx, p, base)
		took[name] = time.Since(start)
		if err != nil || !ok {
			return nil, fmt.Errorf("nothing was ready to be taken: %w", err)
		}
		if name == "take" {
			_, err := checkpoint.NewSnapshotter(w.memory).Snapshot(ctx, p)
			took["seen"] = time.Since(start)
			if err != nil {
				return nil, err
			}
		}
	}
	p := w.next()
	start := time.Now()
	receipt := checkpoint.NewWorktree(w.memory).Do(ctx,
		effect.Effect{Place: p, Spec: effect.Encode(effect.WorktreeSpec{Base: w.head})}, nil)
	took["cold"] = time.Since(start)
	err = receipt.Err()
	for _, p := range append(places, p) {
		err = errors.Join(err, checkpoint.NewCleanup(w.memory).Do(ctx,
			effect.Effect{Place: p, Spec: effect.Encode(effect.CleanupSpec{})}, nil).Err())
	}
	return took, err
}
