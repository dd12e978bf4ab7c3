package workflow_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pawl"
	wf "pawl/machine/workflow"
)

// said is what docs/spec/workflow.md says of a command: what it sets over variables that were reset, whether it
// takes part in the mutual exclusion of flows (docs/spec/workflow.md#exclusion), and whether it may be given inside a
// flow (docs/spec/workflow.md#c2). It is written down here by hand; nothing of it is read from the code.
type said struct {
	sets   map[string]any
	flow   bool
	inside bool
}

var seedSays = map[string]said{
	"~auto":    {sets: map[string]any{"WORKFLOW_MODE": "AUTO_FULL", "CURRENT_STAGE": "EVALUATE"}, flow: true},
	"~plan":    {sets: map[string]any{"WORKFLOW_MODE": "AUTO_PLAN", "CURRENT_STAGE": "EVALUATE"}, flow: true},
	"~exec":    {sets: map[string]any{"STAGE_ENTRY_MODE": "DIRECT", "CURRENT_STAGE": "DEVELOP"}, flow: true},
	wf.Request: {sets: map[string]any{"CURRENT_STAGE": "EVALUATE"}, flow: true}, // 自然语言触发的完整工作流
	"~init":    {}, "~upgrade": {}, "~clean": {}, "~test": {}, "~commit": {}, "~rollback": {},
	"~review": {inside: true}, "~validate": {inside: true}, "~help": {inside: true},
}

// idle are the variables of 系统进入 IDLE 状态, in the seed's names (docs/spec/workflow.md#variables).
func idle() map[string]any {
	return map[string]any{
		"WORKFLOW_MODE": "INTERACTIVE", "CURRENT_STAGE": "", "STAGE_ENTRY_MODE": "NATURAL", "KB_SKIPPED": "",
		"CREATED_PACKAGE": "", "CURRENT_PACKAGE": "",
		"ACTIVE_TOOL": "", "SUSPENDED_STAGE": "", "TOOL_NESTING": 0.0, "SILENCE_BROKEN": false, "PATH": "",
		"COMMAND": "",
	}
}

// resetOrder is the reset protocol: what each step puts back. PATH and COMMAND are pawl's own and go with the stage.
var resetOrder = [][]string{
	{"CREATED_PACKAGE", "CURRENT_PACKAGE", "KB_SKIPPED", "ACTIVE_TOOL", "SUSPENDED_STAGE"},
	{"TOOL_NESTING", "SILENCE_BROKEN"},
	{"CURRENT_STAGE", "STAGE_ENTRY_MODE", "PATH", "COMMAND"},
	{"WORKFLOW_MODE"},
}

// standing is one state of the variables that a command can meet, with everything in it that a flow leaves behind.
type standing struct {
	vars   wf.Vars
	active bool // a flow is at work or suspended, or a tool is
}

// standings are all modes × stages × suspended by an external tool or not.
func standings() map[string]standing {
	out := map[string]standing{}
	for _, mode := range []wf.Mode{wf.Interactive, wf.AutoFull, wf.AutoPlan} {
		for _, stage := range []wf.Stage{wf.None, wf.Evaluate, wf.Analyze, wf.Design, wf.Develop, wf.Tweak} {
			for _, suspended := range []bool{false, true} {
				v := wf.Vars{
					Mode: mode, Stage: stage, Entry: wf.Direct, KBSkipped: wf.True,
					CreatedPackage: "plan/202602081200_a", CurrentPackage: "plan/202602081200_b",
					SilenceBroken: true, Path: wf.PathStandard, Command: "~before",
				}
				if stage == wf.None && !suspended {
					// What a flow left behind although it is over: the crash of an older program.
					v.Command = ""
				}
				if suspended {
					v.Stage, v.SuspendedStage, v.ActiveTool, v.ToolNesting = wf.None, stage, "mcp://a", 2
				}
				out[fmt.Sprintf("%s/%s/%t", mode, stage, suspended)] = standing{v, stage != wf.None || suspended}
			}
		}
	}
	return out
}

// TestEveryCommandInEveryState walks every command and a request in plain words over every mode, stage and active flow,
// suspended or not, and compares all the variables after it with what the seed says.
func TestEveryCommandInEveryState(t *testing.T) {
	if len(seedSays) != 13 || len(wf.Commands()) != 12 {
		t.Fatalf("%d commands with the request, %d in the table", len(seedSays), len(wf.Commands()))
	}
	walked := 0
	for at, s := range standings() {
		for name, c := range seedSays {
			before := fields(t, s.vars)
			started := idle()
			maps.Copy(started, c.sets)
			started["COMMAND"] = name

			// The command alone: a flow excludes flows and what writes, and nothing else.
			want, code := before, pawl.Code("")
			switch {
			case s.active && !c.inside:
				code = pawl.CodeBusy
			case c.flow:
				want = started
			}
			after, err := wf.Command(name, s.vars)
			compare(t, "Command "+name+" at "+at, after, err, want, code)

			// 用户确认取消 → 执行状态重置 → 执行新命令
			if c.flow {
				after, err = wf.Command(name, s.vars.Reset())
				compare(t, "Command "+name+" in the place of "+at, after, err, started, "")
			}
			walked++
		}
	}
	if walked != 13*3*6*2 {
		t.Errorf("%d combinations", walked)
	}
}

func compare(t *testing.T, what string, after wf.Vars, err error, want map[string]any, code pawl.Code) {
	t.Helper()
	if pawl.CodeOf(err) != code {
		t.Errorf("%s: %v, want code %q", what, err, code)
	}
	got := fields(t, after)
	for _, n := range slices.Sorted(maps.Keys(want)) {
		if got[n] != want[n] {
			t.Errorf("%s: %s = %v, the seed says %v", what, n, got[n], want[n])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d variables, want %d", what, len(got), len(want))
	}
}

// TestResetFromEveryState: each step of the protocol puts back what the seed names in it, and touches nothing that
// belongs to another one; after all of them the system is IDLE.
func TestResetFromEveryState(t *testing.T) {
	steps := wf.ResetSteps()
	if len(steps) != len(resetOrder) {
		t.Fatalf("%d steps", len(steps))
	}
	for at, s := range standings() {
		v, want := s.vars, fields(t, s.vars)
		for n, step := range steps {
			for _, name := range resetOrder[n] {
				want[name] = idle()[name]
			}
			for _, name := range step.Names {
				if !slices.Contains(resetOrder[n], name) {
					t.Errorf("step %d says that it resets %s", n+1, name)
				}
			}
			v = step.Apply(v)
			compare(t, fmt.Sprintf("step %d at %s", n+1, at), v, nil, want, "")
			// An interrupted reset goes on where it stopped, and ends where a whole one does.
			if step.Apply(v) != v {
				t.Errorf("step %d at %s is not the same a second time", n+1, at)
			}
			compare(t, "the reset again, from the beginning, at "+at, v.Reset(), nil, idle(), "")
		}
		compare(t, "the reset at "+at, s.vars.Reset(), nil, idle(), "")
	}
}

// TestEveryEndResets: canceling and completing leave the same behind (场景2: 取消和完成对后续命令的影响相同), whatever the flow came
// through, and so does an external tool after which nobody wants to go on.
func TestEveryEndResets(t *testing.T) {
	done := wf.Evidence{Archived: true, Package: "plan/202602081200_a"}
	ends := 0
	for at, s := range standings() {
		if s.vars.ToolNesting > 0 {
			out, err := s.vars, error(nil)
			for out.ToolNesting > 1 && err == nil {
				out, err = wf.LeaveTool(out, "mcp://outer", false)
			}
			if err != nil {
				t.Fatal(err)
			}
			out, err = wf.LeaveTool(out, "", false)
			compare(t, "the tool is left at "+at, out, err, idle(), "")
			ends++
			continue
		}
		for _, on := range []struct {
			event wf.Event
			when  string
			ends  bool
		}{
			{wf.CancelFlow, "", s.vars.Stage != wf.None},
			{wf.FlowDone, "", s.vars.Stage == wf.Develop || s.vars.Stage == wf.Tweak},
			{wf.PackageReady, wf.PackagePlanOnly, s.vars.Stage == wf.Design && s.vars.Mode == wf.AutoPlan},
		} {
			after, err := wf.Advance(s.vars, on.event, on.when, done)
			what := strings.TrimSpace(string(on.event)+" "+on.when) + " at " + at
			if on.ends {
				compare(t, what, after, err, idle(), "")
				ends++
			} else if err == nil || after != s.vars {
				t.Errorf("%s: %+v, %v", what, after, err)
			}
		}
	}
	if ends != 3*6+3*5+3*2+1 {
		t.Errorf("%d ends", ends)
	}
}
