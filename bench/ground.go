package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pawl/driver/checkpoint"
	"pawl/driver/ground"
	"pawl/driver/verify"
	"pawl/kernel/effect"
	"pawl/sandbox"
)

const (
	groundFiles  = 2000
	groundRounds = 15
)

// benchGround measures how much longer a verification takes on a fresh checkout than in the worktree, for a project of
// many files whose check takes no time, and for one whose checks take their time.
func benchGround(ctx context.Context, s *settings, emit func(Result)) error {
	box, err := sandbox.New(sandbox.Options{})
	if err != nil {
		return err
	}
	defer box.Close()
	many := map[string]string{".gitignore": "/.pawl/\n"}
	for i := range groundFiles {
		many[fmt.Sprintf("d%d/f%d.txt", i%40, i)] = fmt.Sprintf("file %d\n", i)
	}
	for _, c := range []struct {
		name         string
		files, work  map[string]string
		check        effect.Check
		rounds       int
		goal, factor float64 // of the unit; the score is a share of the yardstick, in %, where the factor is 0
		unit         string
	}{
		{fmt.Sprintf("%d files", groundFiles), many, map[string]string{"new.txt": "n\n"},
			effect.Check{Name: "none", Command: "true", Kind: "custom"}, groundRounds, 300, 1e-6, "ms"},
		{"checks of " + proofSleep.String(), proofBase, proofWork,
			effect.Check{Name: "go test", Command: "go test -count=1 ./...", Kind: "test"}, proofRounds, 10, 0, "%"},
	} {
		place, memory, _, err := worked(ctx, filepath.Join(s.dir, "ground-"+c.check.Kind), c.files, c.work)
		if err != nil {
			return err
		}
		shots := checkpoint.NewSnapshotter(memory)
		var in, on []float64
		for round := range c.rounds + 1 {
			s.say("%s, round %d of %d", c.name, round, c.rounds)
			for _, grounds := range []*ground.Maker{nil, {Memory: memory, Puts: box.Puts}} {
				checker := verify.New(verify.Config{Box: box, Host: verify.Host{Env: os.Environ(), LookPath: sandbox.LookPath},
					Open: verify.OpenDir, Snapshot: shots.Snapshot, Changed: shots.Diff, Grounds: grounds})
				begin := time.Now()
				r := checker.Do(ctx, effect.Effect{Place: place, Spec: effect.Encode(effect.VerifySpec{
					Checks: []effect.Check{c.check}, Required: true})}, nil)
				took := float64(time.Since(begin))
				switch {
				case !r.OK:
					return errors.Join(r.Err(), fmt.Errorf("the check failed: %s", r.Result))
				case round == 0: // which fills caches
				case grounds == nil:
					in = append(in, took)
				default:
					on = append(on, took)
				}
			}
		}
		yard, whole := median(in), median(on)
		score := (whole - yard) * c.factor
		if c.factor == 0 {
			score = 100 * (whole - yard) / yard
		}
		emit(Result{Case: c.name, Pawl: tookNanos(whole), Beside: tookNanos(yard), Yardstick: "in the worktree itself",
			Score: score, Unit: c.unit, Goal: c.goal, AtMost: true, Note: fmt.Sprintf("added; %d runs", c.rounds)})
	}
	return nil
}
