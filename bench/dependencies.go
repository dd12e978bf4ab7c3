package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/deps"
)

// The dependencies that a worktree is shown: as many packages of as many files as a project of the web has.
const (
	dependencyPackages = 1000
	dependencyFiles    = 50
	dependencyRounds   = 25
)

// benchDependencies measures how much longer the first command in a worktree waits where there are dependencies to be
// shown, beside the same command without any: finding them, comparing the lock files, and mounting the folder. The
// command reads one package.
func benchDependencies(ctx context.Context, s *settings, emit func(Result)) error {
	total := dependencyPackages * dependencyFiles
	s.say("dependencies of %d files", total)
	place := effect.Place{Workspace: filepath.Join(s.dir, "dependencies")}
	place.Tree = filepath.Join(place.Workspace, ".pawl", "worktrees", "1")
	if err := makeDependencies(place); err != nil {
		return err
	}
	box, err := sandbox.New(sandbox.Options{Mechanism: sandbox.MechanismNamespaces})
	if err != nil {
		return err
	}
	var with, without, finding []float64
	for round := range dependencyRounds + 1 {
		bare := sandbox.Spec{Argv: []string{"cat", "package-lock.json"}, Dir: place.Tree,
			Writable: []string{place.Tree}, Env: sandbox.Environ(os.Environ(), nil)}
		begin := time.Now()
		if _, err := box.Run(ctx, bare); err != nil {
			return err
		}
		alone := time.Since(begin)
		begin = time.Now()
		// A new process knows nothing of the project.
		found, err := (&deps.Finder{}).Find(ctx, place)
		if err != nil {
			return err
		}
		looked := time.Since(begin)
		full := bare
		full.Argv, full.Shown, full.Hidden = []string{"cat", "node_modules/p999/f49.js"}, found.Shown(), found.Hidden()
		r, err := box.Run(ctx, full)
		if err != nil || r.Exit != 0 || len(full.Shown) != 1 {
			return errors.Join(err, fmt.Errorf("the dependencies are not there: %d folders, exit status %d",
				len(full.Shown), r.Exit))
		}
		if round > 0 { // the first round warms the system's caches
			with, without, finding = append(with, float64(time.Since(begin))), append(without,
				float64(alone)), append(finding, float64(looked))
		}
	}
	more := median(with) - median(without)
	emit(Result{Case: "shown, " + grouped(float64(total)) + " files", Pawl: tookNanos(median(with)),
		Beside: tookNanos(median(without)), Yardstick: "the same without", Score: more / 1e6, Unit: "ms", Goal: 200,
		AtMost: true,
		Note:   fmt.Sprintf("a command in a worktree; %d runs", dependencyRounds)})
	emit(Result{Case: "found", Pawl: tookNanos(median(finding)), Score: median(finding) / 1e6, Unit: "ms", NoGoal: true,
		AtMost: true, Note: "the part of it before the command starts"})
	return os.RemoveAll(place.Workspace)
}

// makeDependencies makes a workspace with a lock file, a worktree with the same, and packages in the former.
func makeDependencies(place effect.Place) error {
	lock := make([]byte, 1<<20)
	for i := range lock {
		lock[i] = "{}\n "[i%4]
	}
	for _, dir := range []string{place.Workspace, place.Tree} {
		err := errors.Join(os.MkdirAll(dir, 0o755),
			os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"dependencies":{"p1":"1"}}`), 0o644),
			os.WriteFile(filepath.Join(dir, "package-lock.json"), lock, 0o644))
		if err != nil {
			return err
		}
	}
	for p := range dependencyPackages {
		dir := filepath.Join(place.Workspace, "node_modules", fmt.Sprintf("p%d", p))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for f := range dependencyFiles {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.js", f)), []byte("module.exports = 1\n"),
				0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
