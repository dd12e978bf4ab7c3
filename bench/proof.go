package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"pawl/driver/checkpoint"
	"pawl/driver/ground"
	"pawl/driver/prove"
	"pawl/driver/verify"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/git"
	"pawl/text/plan"
)

const (
	proofRounds = 3
	// proofTime is that for taking parts away, and proofSleep how long the checks of the project take at least.
	proofTime  = 20 * time.Second
	proofSleep = 10 * time.Second
)

// proofBase is a project whose tests take their time, and proofWork a function with its test.
var (
	proofBase = map[string]string{".gitignore": "/.pawl/\n", "go.mod": "module example.org/shop\n\ngo 1.24\n",
		"price.go": "package shop\n\n// Sum adds up.\nfunc Sum(a, b int) int { return a + b }\n",
		"price_test.go": fmt.Sprintf("package shop\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestSum(t *testing.T) {\n"+
			"\ttime.Sleep(%d)\n\tif Sum(1, 2) != 3 {\n\t\tt.Fatal(\"Sum\")\n\t}\n}\n", proofSleep)}
	proofWork = map[string]string{
		"max.go": "package shop\n\n// Max is the higher price.\nfunc Max(a, b int) int { return max(a, b) }\n",
		"max_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestMax(t *testing.T) {\n\tif Max(3, 9) != 9 || Max(5, 2) != 5 {\n" +
			"\t\tt.Fatal(\"Max\")\n\t}\n}\n"}
)

// benchProof measures how much longer than its checks work takes that is proven: tried without the work and with it, and
// then with parts of it taken away. Each round has a repository of its own, whose cache of builds the checks have filled.
func benchProof(ctx context.Context, s *settings, emit func(Result)) error {
	box, err := sandbox.New(sandbox.Options{})
	if err != nil {
		return err
	}
	defer box.Close()
	var checks, proof, parts []float64
	for round := range proofRounds {
		s.say("round %d of %d", round+1, proofRounds)
		took, err := proofRound(ctx, box, filepath.Join(s.dir, fmt.Sprintf("proof-%d", round)))
		if err != nil {
			return err
		}
		checks, proof, parts = append(checks, took[0]), append(proof, took[1]), append(parts, took[2])
	}
	yard, added := median(checks), median(proof)
	emit(Result{Case: "tried without and with", Pawl: tookNanos(yard + added), Beside: tookNanos(yard),
		Yardstick: "its checks alone", Score: 100 * added / yard, Unit: "%", Goal: 15, AtMost: true,
		Note: fmt.Sprintf("added; go test sleeps %s; %d runs", proofSleep, proofRounds)})
	emit(Result{Case: "and parts taken away", Pawl: tookNanos(median(parts) - added), Score: (median(parts) - added) / 1e9,
		Unit: "s", Goal: proofTime.Seconds(), AtMost: true, Note: fmt.Sprintf("of the %s that it may take", proofTime)})
	return nil
}

// proofRound returns how long the checks took, the proof without parts taken away, and that with them.
func proofRound(ctx context.Context, box *sandbox.Box, dir string) (took [3]float64, err error) {
	place, memory, base, err := worked(ctx, dir, proofBase, proofWork)
	if err != nil {
		return took, err
	}
	shots := checkpoint.NewSnapshotter(memory)
	checker := verify.New(verify.Config{Box: box, Host: verify.Host{Env: os.Environ(), LookPath: sandbox.LookPath},
		Open: verify.OpenDir, Snapshot: shots.Snapshot, Changed: shots.Diff})
	list := []effect.Check{{Name: "go test", Command: "go test ./...", Kind: "test", Level: 2}}
	begin := time.Now()
	r := checker.Do(ctx, effect.Effect{Place: place, Spec: effect.Encode(effect.VerifySpec{Checks: list, Required: true})}, nil)
	took[0] = float64(time.Since(begin))
	verified, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil || !verified.Passed {
		return took, errors.Join(err, r.Err(), fmt.Errorf("the checks failed: %+v", verified.Outcomes))
	}
	for i, budget := range []time.Duration{0, proofTime} {
		spec := effect.ProveSpec{Base: base, Tree: verified.Tree, Checks: list, Budget: budget, PerCheck: 5 * time.Minute,
			Criteria: []plan.Criterion{{ID: "c1", Text: "Max is the higher price", Proof: plan.ProofCheck, Texts: []string{"Max"}}}}
		begin = time.Now()
		r = prove.New(checker, &ground.Maker{Memory: memory, Puts: box.Puts}).Do(ctx, effect.Effect{Place: place, Spec: effect.Encode(spec)}, nil)
		took[i+1] = float64(time.Since(begin))
		result, err := effect.Decode[effect.ProveResult](r.Result)
		if err != nil || !r.OK || len(result.Witnesses) == 0 || !result.Witnesses[0].Shows() {
			return took, errors.Join(err, r.Err(), fmt.Errorf("nothing was shown: %+v", result))
		}
	}
	return took, nil
}

// worked makes a repository with the files of a project, and a worktree of pawl's in which others were written.
func worked(ctx context.Context, dir string, files, work map[string]string) (place effect.Place, memory *git.Memory,
	base string, err error) {
	write := func(dir string, files map[string]string) {
		for name, text := range files {
			path := filepath.Join(dir, name)
			err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
		}
	}
	write(dir, files)
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "First"}} {
		c := exec.CommandContext(ctx, "git", args...)
		c.Dir = dir
		err = errors.Join(err, quiet(c))
	}
	head, e := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "HEAD").Output()
	if err = errors.Join(err, e); err != nil {
		return place, nil, "", err
	}
	memory = &git.Memory{}
	place = effect.Place{Workspace: dir, Tree: filepath.Join(dir, ".pawl", "worktrees", "1"), Git: true}
	base = string(head[:len(head)-1])
	r := checkpoint.NewWorktree(memory).Do(ctx, effect.Effect{Place: place,
		Spec: effect.Encode(effect.WorktreeSpec{Base: base})}, nil)
	if !r.OK {
		return place, nil, "", r.Err()
	}
	write(place.Tree, work)
	return place, memory, base, err
}
