package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"pawl"
	"pawl/text/plan"
)

// The run that is measured: as many steps as a long plan has, each a command of 100 ms.
const (
	runSteps   = 20
	runCommand = "sleep 0.1"
	runRounds  = 5
)

// benchRun measures whole runs of a plan beside a shell script with the same commands. What lies between is pawl's own
// work: walls around each command, snapshots of the tree, commits of every move, checkpoint, landing and archive.
func benchRun(ctx context.Context, s *settings, emit func(Result)) error {
	bash, err := exec.LookPath("bash")
	if err != nil {
		return fmt.Errorf("the run's commands need bash: %w", err)
	}
	p, err := buildPawl(ctx, s)
	if err != nil {
		return err
	}
	p.env = append(p.env, "PAWL_MAX_PLAN_STEPS=30")
	file, err := writePlan(s.dir, slices.Repeat([]string{runCommand}, runSteps))
	if err != nil {
		return err
	}
	// Each command has a shell of its own, as pawl gives it one.
	script := strings.Repeat(bash+" -c '"+runCommand+"'\n", runSteps)
	ways := []struct {
		name string
		args []string
	}{{"in place", []string{"--in-place"}}, {"in a worktree", nil}}
	scripts, runs := []float64{}, make([][]float64, len(ways))
	for round := range runRounds {
		s.say("round %d of %d: %d commands as a script and as a plan", round+1, runRounds, runSteps)
		took, err := wall(exec.CommandContext(ctx, bash, "-c", script))
		if err != nil {
			return err
		}
		scripts = append(scripts, float64(took))
		for i, way := range ways {
			dir := filepath.Join(s.dir, fmt.Sprintf("run-%d-%d", round, i))
			if err := errors.Join(p.repository(ctx, dir), quiet(p.command(ctx, dir, "init"))); err != nil {
				return err
			}
			took, err := wall(p.command(ctx, dir, append([]string{"run", "--plan", file, "--yes", "--json"},
				way.args...)...))
			if err != nil {
				return err
			}
			runs[i] = append(runs[i], float64(took))
		}
	}
	yard := median(scripts)
	for i, way := range ways {
		own := median(runs[i])
		emit(Result{Case: fmt.Sprintf("%d steps %s", runSteps, way.name), Pawl: tookNanos(own), Beside: tookNanos(yard),
			Yardstick: "shell script",
			Score:     100 * (own - yard) / yard, Unit: "%", Goal: 15, AtMost: true,
			Note: fmt.Sprintf("%s of pawl's own for each step; %d runs", short((own-yard)/runSteps), runRounds)})
	}
	return nil
}

// writePlan writes a plan that carries out commands, a step each, and returns the name of its file.
func writePlan(dir string, commands []string) (string, error) {
	p := plan.Plan{Goal: "carry out a list of commands", Constraints: []string{}, RiskLevel: pawl.RiskLow,
		Verification: plan.VerificationPolicy{Mode: plan.VerifyNone, Commands: []string{}}}
	for i, command := range commands {
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			return "", err
		}
		p.Steps = append(p.Steps, plan.Step{StepID: fmt.Sprintf("s%d", i+1), Title: fmt.Sprintf("Command %d", i+1),
			Intent: "measure what surrounds it",
			Status: plan.Pending, ToolCalls: []plan.ToolCallTemplate{{Name: "run_terminal_cmd", ArgsHint: args}}})
	}
	text, err := json.MarshalIndent(&p, "", "  ")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "plan.json")
	return file, os.WriteFile(file, text, 0o644)
}
