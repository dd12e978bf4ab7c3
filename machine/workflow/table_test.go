package workflow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl"
	"pawl/internal/golden"
	"pawl/machine/machinetest"
	wf "pawl/machine/workflow"
	"pawl/text/message"
)

func TestCheckAndCounts(t *testing.T) {
	for _, d := range wf.Describe() {
		if p := d.Check(); len(p) != 0 {
			t.Errorf("%s: problems: %v", d.Name, p)
		}
	}
	stages, seed, ext := wf.Stages.Describe().Count()
	modes, modeSeed, modeExt := wf.Modes.Describe().Count()
	if stages != 5 || modes != 3 || seed != 23 || ext != 2 || modeSeed != 12 || modeExt != 0 {
		t.Errorf("%d × %d, rows %d + %d and %d + %d", stages, modes, seed, ext, modeSeed, modeExt)
	}
	if p := machinetest.Strict(wf.Stages.Describe()).Check(); len(p) != 0 {
		t.Errorf("problems of the strict table: %v", p)
	}
	golden.Check(t, "../../docs/machines/workflow.md",
		machinetest.Page("workflow", message.Translation, wf.Describe()...))
}

// TestCommandTable is the table of docs/spec/workflow.md#commands: name, variables that are set, class.
func TestCommandTable(t *testing.T) {
	want := [][3]string{
		{"~auto", "WORKFLOW_MODE=AUTO_FULL, CURRENT_STAGE=EVALUATE", "需求评估类"},
		{"~plan", "WORKFLOW_MODE=AUTO_PLAN, CURRENT_STAGE=EVALUATE", "需求评估类"},
		{"~exec", "STAGE_ENTRY_MODE=DIRECT, CURRENT_STAGE=DEVELOP", "目标选择类"},
		{"~init", "无状态变量", "场景确认类"},
		{"~upgrade", "无状态变量", "场景确认类"},
		{"~clean", "无状态变量", "场景确认类"},
		{"~test", "无状态变量", "场景确认类"},
		{"~commit", "无状态变量", "场景确认类"},
		{"~review", "无状态变量", "范围选择类"},
		{"~validate", "无状态变量", "范围选择类"},
		{"~rollback", "无状态变量", "目标选择类"},
		{"~help", "无状态变量", "直接执行类"},
	}
	rows := wf.Commands()
	if len(rows) != len(want) {
		t.Fatalf("%d commands, the seed has %d", len(rows), len(want))
	}
	for i, c := range rows {
		after, err := wf.Command(c.Name, wf.Initial())
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if got := [3]string{c.Name, changed(after),
			message.Translation("workflow.class." + string(c.Class))}; got != want[i] {
			t.Errorf("%v, the seed says %v", got, want[i])
		}
	}
}

// changed prints the seed's variables that differ from the initial ones, as the seed's table prints them.
func changed(v wf.Vars) string {
	var out []string
	was := wf.Initial()
	if v.Mode != was.Mode {
		out = append(out, "WORKFLOW_MODE="+string(v.Mode))
	}
	if v.Entry != was.Entry {
		out = append(out, "STAGE_ENTRY_MODE="+string(v.Entry))
	}
	if v.Stage != was.Stage {
		out = append(out, "CURRENT_STAGE="+string(v.Stage))
	}
	if len(out) == 0 && v == was {
		return "无状态变量"
	}
	return strings.Join(out, ", ")
}

// TestTablesAgreeWithCommands: the rows of both machines say what Command does.
func TestTablesAgreeWithCommands(t *testing.T) {
	for _, name := range []string{"~auto", "~plan", "~exec", wf.Request} {
		v, err := wf.Command(name, wf.Initial())
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := wf.Stages.Next(wf.None, wf.CommandGiven, name); !ok || r.To != v.Stage {
			t.Errorf("%s: the stage is %s, the row says %v", name, v.Stage, r)
		}
		if r, ok := wf.Modes.Next(wf.Interactive, wf.CommandGiven, name); !ok || r.To != v.Mode {
			t.Errorf("%s: the mode is %s, the row says %v", name, v.Mode, r)
		}
		if w, err := wf.Advance(wf.Initial(), wf.CommandGiven, name, wf.Evidence{}); err != nil || w != v {
			t.Errorf("%s: Advance gives %+v, %v", name, w, err)
		}
	}
}

func command(t *testing.T, name string, v wf.Vars) wf.Vars {
	t.Helper()
	next, err := wf.Command(name, v)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return next
}

func advance(t *testing.T, v wf.Vars, on wf.Event, when string, e wf.Evidence) wf.Vars {
	t.Helper()
	next, err := wf.Advance(v, on, when, e)
	if err != nil {
		t.Fatalf("%s(%s): %v", on, when, err)
	}
	return next
}

// TestScenario1: a command after a completed one inherits nothing.
func TestScenario1(t *testing.T) {
	v := command(t, "~auto", wf.Initial())
	v = advance(t, v, wf.Complexity, string(wf.PathStandard), wf.Evidence{Score: 8})
	if v.Path != wf.PathStandard || v.Stage != wf.Analyze {
		t.Fatalf("after the decision: %+v", v)
	}
	v.KBSkipped = wf.True
	v = advance(t, v, wf.ContextReady, "", wf.Evidence{})
	v = advance(t, v, wf.PackageReady, wf.PackageAuto, wf.Evidence{Package: "plan/202601300900_x"})
	if v.CreatedPackage == "" || v.Stage != wf.Develop {
		t.Fatalf("after the design: %+v", v)
	}
	if _, err := wf.Advance(v, wf.FlowDone, "",
		wf.Evidence{Pending: 1, Archived: true}); pawl.CodeOf(err) != pawl.CodeGate {
		t.Errorf("done with a pending task: %v", err)
	}
	if _, err := wf.Advance(v, wf.FlowDone, "", wf.Evidence{}); pawl.CodeOf(err) != pawl.CodeGate {
		t.Errorf("done without the archive: %v", err)
	}
	v = advance(t, v, wf.FlowDone, "", wf.Evidence{Archived: true})
	if v != wf.Initial() {
		t.Fatalf("after the flow: %+v", v)
	}
	if w := command(t, "~exec", v); changed(w) != "STAGE_ENTRY_MODE=DIRECT, CURRENT_STAGE=DEVELOP" ||
		w.Mode != wf.Interactive {
		t.Errorf("~exec inherits: %+v", w)
	}
}

// TestScenario2: canceling has the same effect on what follows as completing.
func TestScenario2(t *testing.T) {
	v := command(t, "~plan", wf.Initial())
	v = advance(t, v, wf.CancelFlow, "", wf.Evidence{})
	if v != wf.Initial() {
		t.Fatalf("after the cancel: %+v", v)
	}
	if w := command(t, "~auto", v); w.Mode != wf.AutoFull || w.Stage != wf.Evaluate {
		t.Errorf("~auto: %+v", w)
	}
}

// TestScenario3: while a flow runs, reading commands are let through, writing ones refused, and flow commands asked
// about.
func TestScenario3(t *testing.T) {
	running := command(t, "~auto", wf.Initial())
	for _, c := range wf.Commands() {
		v, err := wf.Command(c.Name, running)
		if v != running {
			t.Errorf("%s changed the running flow: %+v", c.Name, v)
		}
		if want := c.Effect == wf.Write; (pawl.CodeOf(err) == pawl.CodeBusy) != want {
			t.Errorf("%s while ~auto runs: %v", c.Name, err)
		}
	}
	if _, err := wf.Command(wf.Request, running); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("a plain request while ~auto runs: %v", err)
	}
	v, err := wf.Command("~exec", running.Reset())
	if want := command(t, "~exec", wf.Initial()); err != nil || v != want {
		t.Errorf("replaced: %+v, %v", v, err)
	}
}

// TestScenario4: a conversation leaves nothing behind, so that a command starts from the initial variables.
func TestScenario4(t *testing.T) {
	v := wf.Initial()
	for _, name := range []string{"~help", "~?", "help", " ~validate "} {
		if v = command(t, name, v); v != wf.Initial() {
			t.Fatalf("%s left something behind: %+v", name, v)
		}
	}
	if w := command(t, "~auto", v); w.Stage != wf.Evaluate {
		t.Errorf("~auto: %+v", w)
	}
}

func TestUnknownCommands(t *testing.T) {
	for _, name := range []string{"", "~", "~AUTO", "~auto now", "auto\x00", strings.Repeat("~", 1000)} {
		if v, err := wf.Command(name, wf.Initial()); pawl.CodeOf(err) != pawl.CodeUsage || v != wf.Initial() {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}

func TestScoreGate(t *testing.T) {
	v := command(t, "~auto", wf.Initial())
	for _, c := range []struct {
		ev wf.Evidence
		ok bool
	}{{wf.Evidence{Score: 7}, true}, {wf.Evidence{Score: 6}, false}, {wf.Evidence{Score: 6, Continue: true}, true},
		{wf.Evidence{}, false}} {
		for _, p := range []wf.Path{wf.PathTweak, wf.PathLight, wf.PathStandard} {
			if _, err := wf.Advance(v, wf.Complexity, string(p), c.ev); (err == nil) != c.ok {
				t.Errorf("%s with %+v: %v", p, c.ev, err)
			}
		}
	}
	if _, err := wf.Advance(v, wf.Complexity, "huge",
		wf.Evidence{Score: 9}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("an unknown path: %v", err)
	}
}

func TestDesignEndsByMode(t *testing.T) {
	design := func(name string) wf.Vars {
		v := command(t, name, wf.Initial())
		v = advance(t, v, wf.Complexity, string(wf.PathLight), wf.Evidence{Score: 7})
		return advance(t, v, wf.ContextReady, "", wf.Evidence{})
	}
	e := wf.Evidence{Package: "p"}
	if v := advance(t, design("~plan"), wf.PackageReady, wf.PackagePlanOnly, e); v != wf.Initial() {
		t.Errorf("~plan ends with the design: %+v", v)
	}
	for name, when := range map[string]string{"~plan": wf.PackageAuto, "~auto": wf.PackagePlanOnly,
		wf.Request: wf.PackageAuto} {
		if _, err := wf.Advance(design(name), wf.PackageReady, when, e); pawl.CodeOf(err) != pawl.CodeGate {
			t.Errorf("%s + %s: %v", name, when, err)
		}
	}
	if _, err := wf.Advance(design("~auto"), wf.PackageReady, wf.PackageAuto,
		wf.Evidence{}); pawl.CodeOf(err) != pawl.CodeGate {
		t.Errorf("no package: %v", err)
	}
}

func TestInterruptKeepsTheStage(t *testing.T) {
	v := command(t, "~exec", wf.Initial())
	if w := advance(t, v, wf.Interrupt, "", wf.Evidence{}); w != v {
		t.Errorf("after an interruption: %+v", w)
	}
}

func TestModeSwitch(t *testing.T) {
	at := wf.Evidence{Confirming: true}
	for _, name := range []string{"~auto", "~plan"} {
		v := command(t, name, wf.Initial())
		if w, err := wf.SwitchMode(v, wf.ChooseSilent, at); err != nil || w != v {
			t.Errorf("%s, silent: %+v, %v", name, w, err)
		}
		w, err := wf.SwitchMode(v, wf.ChooseInteractive, at)
		if err != nil || w.Mode != wf.Interactive {
			t.Errorf("%s, interactive: %+v, %v", name, w, err)
		}
		if x, err := wf.SwitchMode(w, wf.ChooseSilent, at); err == nil || x != w {
			t.Errorf("%s: the switch was undone: %+v", name, x)
		}
		if w, err := wf.SwitchMode(w, wf.ChooseStart, at); err != nil || w.Mode != wf.Interactive {
			t.Errorf("%s, start: %+v, %v", name, w, err)
		}
		if _, err := wf.SwitchMode(v, wf.ChooseStart, at); err == nil {
			t.Errorf("%s: start is for INTERACTIVE only", name)
		}
		if _, err := wf.SwitchMode(v, wf.ChooseInteractive, wf.Evidence{}); pawl.CodeOf(err) != pawl.CodeGate {
			t.Errorf("%s: switched at another moment: %v", name, err)
		}
		late := advance(t, v, wf.Complexity, string(wf.PathLight), wf.Evidence{Score: 7})
		if _, err := wf.SwitchMode(late, wf.ChooseInteractive, at); pawl.CodeOf(err) != pawl.CodeGate {
			t.Errorf("%s: switched in another stage: %v", name, err)
		}
	}
}

func TestSilence(t *testing.T) {
	v := command(t, "~auto", wf.Initial())
	if v.Waits() {
		t.Error("AUTO_FULL waits")
	}
	if w := v.BreakSilence(); !w.Waits() || w.Mode != wf.AutoFull || w.Reply() != v {
		t.Errorf("broken silence: %+v", w)
	}
	if !command(t, wf.Request, wf.Initial()).Waits() {
		t.Error("INTERACTIVE does not wait")
	}
}

func TestTools(t *testing.T) {
	v := command(t, "~exec", wf.Initial())
	in, err := wf.EnterTool(v, "mcp://a")
	if err != nil || in.SuspendedStage != wf.Develop || in.Stage != wf.None || in.ToolNesting != 1 || !in.Active() {
		t.Fatalf("in the tool: %+v, %v", in, err)
	}
	if _, err := wf.Command("~auto", in); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("a flow inside a suspended flow: %v", err)
	}
	deep, err := wf.EnterTool(in, "mcp://b")
	if err != nil || deep.SuspendedStage != wf.Develop || deep.ToolNesting != 2 {
		t.Fatalf("in the inner tool: %+v, %v", deep, err)
	}
	if out, err := wf.LeaveTool(deep, "mcp://a", true); err != nil || out != in {
		t.Errorf("back in the outer tool: %+v, %v", out, err)
	}
	if out, err := wf.LeaveTool(in, "", true); err != nil || out != v {
		t.Errorf("back in the flow: %+v, %v", out, err)
	}
	if out, err := wf.LeaveTool(in, "", false); err != nil || out != wf.Initial() {
		t.Errorf("not resumed: %+v, %v", out, err)
	}
	for _, c := range []struct {
		v     wf.Vars
		outer string
	}{{v, ""}, {in, "mcp://a"}, {deep, ""}} {
		if out, err := wf.LeaveTool(c.v, c.outer, true); err == nil || out != c.v {
			t.Errorf("LeaveTool(%q) at nesting %d: %v", c.outer, c.v.ToolNesting, err)
		}
	}
	if _, err := wf.EnterTool(v, ""); err == nil {
		t.Error("a tool without a name")
	}
	alone, _ := wf.EnterTool(wf.Initial(), "mcp://a")
	if _, err := wf.Command("~auto", alone); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("a flow inside a tool: %v", err)
	}
}

// TestResetOrder is the protocol of docs/spec/workflow.md#reset.
func TestResetOrder(t *testing.T) {
	want := []string{
		"CREATED_PACKAGE CURRENT_PACKAGE KB_SKIPPED ACTIVE_TOOL SUSPENDED_STAGE", "TOOL_NESTING SILENCE_BROKEN",
		"CURRENT_STAGE STAGE_ENTRY_MODE", "WORKFLOW_MODE",
	}
	full := wf.Vars{
		Mode: wf.AutoFull, Stage: wf.Develop, Entry: wf.Direct, KBSkipped: wf.True, CreatedPackage: "a",
		CurrentPackage: "b",
		ActiveTool:     "c", SuspendedStage: wf.Design, ToolNesting: 2, SilenceBroken: true, Path: wf.PathLight,
		Command: "~auto",
	}
	v, untouched := full, fields(t, full)
	for i, s := range wf.ResetSteps() {
		if strings.Join(s.Names, " ") != want[i] {
			t.Errorf("step %d resets %v, want %s", i+1, s.Names, want[i])
		}
		v = s.Apply(v)
		now := fields(t, v)
		for _, n := range s.Names {
			if now[n] != fields(t, wf.Initial())[n] {
				t.Errorf("step %d leaves %s at %v", i+1, n, now[n])
			}
			delete(untouched, n)
		}
		for n, was := range untouched {
			if now[n] != was && n != "PATH" && n != "COMMAND" {
				t.Errorf("step %d touches %s", i+1, n)
			}
		}
	}
	if v != wf.Initial() || full.Reset() != wf.Initial() {
		t.Errorf("after the reset: %+v", v)
	}
}

func fields(t *testing.T, v wf.Vars) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAnyWalk: whatever is tried, the variables stay within their values, an error changes nothing, and no stage means
// reset.
func TestAnyWalk(t *testing.T) {
	names := []string{wf.Request, "~x"}
	for _, c := range wf.Commands() {
		names = append(names, c.Name)
	}
	whens := []string{"", "tweak", "light", "standard", wf.PackageAuto, wf.PackageConfirmed, wf.PackagePlanOnly}
	rapid.Check(t, func(t *rapid.T) {
		v := wf.Initial()
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			var next wf.Vars
			var err error
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				next, err = wf.Command(rapid.SampledFrom(names).Draw(t, "name"), v)
			case 1:
				next = v.Reset()
			case 2:
				next, err = wf.SwitchMode(v, rapid.SampledFrom([]string{"silent", "interactive", "start"}).Draw(t,
					"choice"), wf.Evidence{Confirming: true})
			default:
				next, err = wf.Advance(v, rapid.SampledFrom(machinetest.Events(wf.Stages)).Draw(t, "on"),
					rapid.SampledFrom(whens).Draw(t, "when"),
					wf.Evidence{Score: rapid.IntRange(0, 10).Draw(t, "score"), Package: "p", Archived: true})
			}
			if err != nil && next != v {
				t.Fatalf("an error changed %+v to %+v: %v", v, next, err)
			}
			if !wf.Stages.Known(next.Stage) || !wf.Modes.Known(next.Mode) {
				t.Fatalf("not a value: %+v", next)
			}
			if !next.Active() && next != wf.Initial() {
				t.Fatalf("idle, and not reset: %+v", next)
			}
			v = next
		}
	})
}
