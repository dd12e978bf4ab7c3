package script

import (
	"encoding/json"
	"slices"
	"strconv"

	"pawl/kernel/effect"
	"pawl/text/plan"
)

// runTool is the seed's name of the tool that runs a command.
const runTool = "run_terminal_cmd"

// maxSteps bounds a proposal to what a plan may hold (max_plan_steps, docs/spec/turn.md#planning).
const maxSteps = 12

// wanted says which fixers serve a goal, in the order in which they run. Linters come before formatters, because what a
// linter rewrites has to be formatted again.
var wanted = map[goal][]class{
	goalFormat: {formatters},
	goalLint:   {linters, formatters},
	goalTidy:   {tidiers},
	goalChecks: {linters, formatters},
}

// steps returns the steps that serve the goals with the fixers that are installed. Each command appears once.
func (v *view) steps(found effect.ContextResult, goals []goal, intent string) []plan.Step {
	defer v.close()
	fixers := v.fixers(found)
	var classes []class
	for _, c := range []class{tidiers, linters, formatters} {
		if slices.ContainsFunc(goals, func(g goal) bool { return slices.Contains(wanted[g], c) }) {
			classes = append(classes, c)
		}
	}
	var commands []string
	for _, c := range classes {
		for _, f := range fixers {
			if f.class == c && !slices.Contains(commands, f.shell()) {
				commands = append(commands, f.shell())
			}
		}
	}
	return proposal(commands, "s", intent)
}

// proposal turns commands into steps that follow each other.
func proposal(commands []string, prefix, intent string) []plan.Step {
	if len(commands) > maxSteps {
		commands = commands[:maxSteps]
	}
	steps := make([]plan.Step, 0, len(commands))
	for i, command := range commands {
		why := intent
		if why == "" {
			why = command
		}
		s := plan.Step{
			StepID: prefix + strconv.Itoa(i+1),
			Title:  title(command),
			Intent: why,
			Status: plan.Pending,
			ToolCalls: []plan.ToolCallTemplate{{
				Name:     runTool,
				ArgsHint: arguments(command),
			}},
			ExpectedArtifacts: []plan.Artifact{{Type: plan.ArtifactCommand, Value: command}},
		}
		if i > 0 {
			s.DependsOn = []string{prefix + strconv.Itoa(i)}
		}
		steps = append(steps, s)
	}
	return steps
}

// title is a command cut to what a step's title may hold.
func title(command string) string {
	if r := []rune(command); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return command
}

// arguments are those of run_terminal_cmd for a fixer: to run it twice is the same as to run it once.
func arguments(command string) json.RawMessage {
	raw, err := json.Marshal(struct {
		Command    string `json:"command"`
		Idempotent bool   `json:"idempotent"`
	}{command, true})
	if err != nil {
		return nil // a struct of a string and a bool always encodes
	}
	return raw
}
