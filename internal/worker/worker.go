// Package worker has a scripted worker work for pawl: in a folder made for it, with a requirement, through the program
// itself and by one of the ways in which agents work. It says how that ended.
package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/agent/scripted"
	"pawl/internal/firstrun"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/text/plan"
	"pawl/text/triage"
)

// Job is a worker with a requirement, in a folder of its own.
type Job struct {
	// Requirement is what the worker is asked for.
	Requirement string
	// Agent is who works: an installed agent, whose stand-in changes the files ("installed"), the scripted model
	// ("model"), or pawl's own agent with a plan that names the calls ("plan"), or one that runs a script ("command").
	Agent string
	// Artifacts are the files that the plan of the agent names.
	Artifacts string
	// Base are the files at the start, Work those that the worker writes, and Again those that it writes when it is
	// sent back. Gone and GoneAgain are deleted. A worker without Again says once more that all is well.
	Base, Work, Again map[string]string
	Gone, GoneAgain   []string
	// Script are commands of the shell that an installed agent or a command carries out besides, after the files.
	Script string
	// Criteria are those of a plan, as JSON.
	Criteria string
}

// Result is what came of a job.
type Result struct {
	// End is "done" or "already so" where the work landed, "asked: WHAT" where pawl waits for a person, and
	// "blocked: WHY".
	End string
	// Names are the words by which pawl names what is wrong.
	Names   []string
	Seconds float64
	Screen  string
	// Proof is what pawl says of the work, nil where it came to no word.
	Proof *view.Proof
}

// The ends of work that landed.
const (
	Done      = "done"
	AlreadySo = "already so"
)

// Landed reports whether the work landed without a question.
func (r Result) Landed() bool { return r.End == Done || r.End == AlreadySo }

// Held reports whether pawl waits for a person because of the work.
func (r Result) Held() bool {
	held := strings.HasPrefix(r.End, "asked: ") || strings.HasPrefix(r.End, "blocked: ")
	return held && r.End != "asked: plan" && r.End != "blocked: environment"
}

// Player has workers work, each in a folder of its own below Dir, with one user's caches.
type Player struct {
	Dir, Pawl string
	// Keep leaves the folders where they are.
	Keep bool
	// Patience is the limit of each command.
	Patience time.Duration
	// Env is the rest of the user's environment.
	Env []string
}

// Each has a function look at all of a list, so many at once, in any order. It stops with the context.
func Each(ctx context.Context, n, length int, look func(i int) error) error {
	failed := make([]error, length)
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(n, 1) {
		wg.Go(func() {
			for i := range next {
				failed[i] = look(i)
			}
		})
	}
	for i := range length {
		if failed[i] = ctx.Err(); failed[i] == nil {
			next <- i
		}
	}
	close(next)
	wg.Wait()
	return errors.Join(failed...)
}

// Play has a worker work in a folder of that name. The error says what kept it from working.
func (p *Player) Play(ctx context.Context, name string, j Job) (Result, error) {
	var r Result
	f := &folder{Player: p, base: filepath.Join(p.Dir, strings.ReplaceAll(name, "/", "-")), of: j}
	if !p.Keep {
		defer firstrun.Remove(f.base)
	}
	model, err := scripted.Serve("127.0.0.1:0", j.script())
	if err != nil {
		return r, err
	}
	defer model.Close()
	if err := f.make(ctx, model.URL); err != nil {
		return r, err
	}
	start := time.Now()
	r.Screen, err = f.run(ctx, append([]string{p.Pawl}, j.command(f.base)...)...)
	r.Seconds = time.Since(start).Seconds()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return r, err
	}
	status, err := ask[view.Status](ctx, f, "status")
	if err != nil {
		return r, fmt.Errorf("%w\n%s", err, r.Screen)
	}
	task, _ := ask[view.Task](ctx, f, "task", "show") // there is none where the requirement was not taken up
	r.End, r.Names, r.Proof = end(status), names(status, task), task.Proof
	return r, nil
}

// end says how a run ended.
func end(s view.Status) string {
	switch {
	case s.Approval != nil:
		return "asked: " + s.Approval.About
	case len(s.Questions) > 0:
		return "asked: question"
	case s.Blocked != nil:
		return "blocked: " + s.Blocked.Kind
	case s.Last == nil:
		return "nothing was done"
	case s.Last.Outcome != "completed":
		return s.Last.Outcome
	case s.Last.Proof == effect.AlreadySo:
		return AlreadySo
	case s.Last.Proof == effect.Proven:
		return Done
	}
	return "done, " + string(s.Last.Proof)
}

// names are the words by which pawl names what is wrong: the reasons of a proof, and what the checks say.
func names(s view.Status, t view.Task) []string {
	found := map[string]bool{}
	if t.Proof != nil {
		for _, m := range t.Proof.Criteria {
			if m.Verdict == effect.Unproven {
				found[string(m.Why)] = true
			}
		}
	}
	for _, f := range t.Failures {
		switch {
		case strings.HasPrefix(f.Error.Key, "kernel.unproven"):
			for _, w := range strings.FieldsFunc(strings.Join(f.Error.Args, " "), func(r rune) bool {
				return r == ' ' || r == ','
			}) {
				found[w] = true
			}
		case strings.Contains(f.Error.Key, "lost"):
			found["tests lost"] = true
		default:
			found["failed check"] = true
		}
	}
	if v := t.Verified; v != nil {
		for _, o := range v.Checks {
			switch {
			case len(o.Lost) > 0:
				found["tests lost"] = true
			case o.Status == effect.CheckFailed:
				found["failed check"] = true
			}
		}
	}
	if s.Approval != nil && s.Approval.About == "checks" {
		found["checks touched"] = true
	}
	maps.DeleteFunc(found, func(w string, _ bool) bool { return w == "" || w[0] == 'c' && w[1] >= '0' && w[1] <= '9' })
	return slices.Sorted(maps.Keys(found))
}

// folder is the place of one job: a home, a repository, and the stand-in for an installed agent.
type folder struct {
	*Player
	base string
	of   Job
}

func (f *folder) env() []string {
	home := filepath.Join(f.base, "home")
	out := []string{"HOME=" + home, "USER=ada", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "PAWL_MAX_FIXES=1",
		"XDG_CACHE_HOME=" + filepath.Join(f.Dir, "cache"), "GOTOOLCHAIN=local", "GOFLAGS=",
		"PATH=" + filepath.Join(f.base, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")}
	if v := os.Getenv("TMPDIR"); v != "" {
		out = append(out, "TMPDIR="+v)
	}
	return append(out, f.Env...)
}

// run runs a program in the repository, as the user.
func (f *folder) run(ctx context.Context, argv ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, f.Patience)
	defer stop()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = filepath.Join(f.base, "work"), f.env(), &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("%s: %w\n%s", argv[0], ctx.Err(), out.String())
	}
	return out.String(), err
}

// ask asks pawl for its state.
func ask[T any](ctx context.Context, f *folder, args ...string) (v T, err error) {
	cmd := exec.CommandContext(ctx, f.Pawl, append(args, "--json")...)
	cmd.Dir, cmd.Env = filepath.Join(f.base, "work"), f.env()
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &v)
	}
	return v, err
}

// make makes the folder.
func (f *folder) make(ctx context.Context, model string) error {
	home := filepath.Join(f.base, "home")
	key := filepath.Join(home, "key")
	files := map[string]string{
		"home/key": "key-of-the-sample\n",
		"home/.gitconfig": "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n" +
			"[gc]\n\tauto = 0\n",
		"home/.config/pawl/config.yaml": fmt.Sprintf(
			"model:\n  kind: openai\n  base_url: %s/v1\n  name: mock-model\n  key_file: %s\n", model, key),
		"bin/codex": f.of.standIn(),
		"plan.json": string(encode(f.of.plan())),
	}
	for name, text := range f.of.Base {
		files["work/"+name] = text
	}
	if f.of.Agent == "command" {
		var b strings.Builder
		shell(&b, f.of.Work, f.of.Gone, f.of.Script)
		files["work/"+commandFile] = b.String()
	}
	for name, text := range files {
		path := filepath.Join(f.base, filepath.FromSlash(name))
		mode := os.FileMode(0o644)
		switch {
		case strings.HasPrefix(name, "bin/"):
			mode = 0o755
		case strings.HasPrefix(name, "home/"):
			mode = 0o600
		}
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err = errors.Join(err, os.WriteFile(path, []byte(text), mode)); err != nil {
			return err
		}
	}
	for _, line := range []string{"init -q", "add -A", "commit -q -m base"} {
		if out, err := f.run(ctx, append([]string{"git"}, strings.Fields(line)...)...); err != nil {
			return fmt.Errorf("git %s: %w: %s", line, err, out)
		}
	}
	return nil
}

// commandFile is the script that a command runs. Whoever reads the command does not see which files it will change.
const commandFile = "apply"

// command is what the user says to pawl.
func (j Job) command(base string) []string {
	switch j.Agent {
	case "plan", "command":
		return []string{"run", "--plan", filepath.Join(base, "plan.json"), "--yes"}
	case "model":
		return []string{"run", j.Requirement, "--agent", "llm", "--yes"}
	}
	return []string{"run", j.Requirement, "--agent", "codex", "--yes"}
}

// standIn is a program that behaves as an installed agent does that changes files by itself: told to work it does what
// the case says, told of a failure what the case says of that, and each time it says that all is well.
func (j Job) standIn() string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\ncase \"$1\" in --version) echo 'codex-cli 0.169.0'; exit 0;; esac\n" +
		"echo '{\"type\":\"thread.started\",\"thread_id\":\"th-1\"}'\nset -e\ncase \"$*\" in\n")
	for _, does := range []struct {
		told   string // a heading of what it is told
		files  map[string]string
		gone   []string
		script string
		says   string
	}{
		{told: scripted.Judging, says: string(encode(j.judged()))},
		{told: scripted.Planning, says: string(encode(j.planned()))},
		{told: scripted.Repairing, files: j.Again, gone: j.GoneAgain, says: scripted.Finished},
		{files: j.Work, gone: j.Gone, script: j.Script, says: scripted.Finished},
	} {
		b.WriteString("*'" + does.told + "'*)\n")
		shell(&b, does.files, does.gone, does.script)
		said := encode(map[string]any{"type": "item.completed",
			"item": map[string]string{"type": "agent_message", "text": does.says}})
		b.WriteString("printf '%s\\n' " + quoted(string(said)) + "\n;;\n")
	}
	b.WriteString("esac\necho '{\"type\":\"turn.completed\"}'\n")
	return b.String()
}

// shell writes the commands that make changes.
func shell(b *strings.Builder, files map[string]string, gone []string, script string) {
	for _, name := range gone {
		fmt.Fprintf(b, "rm -rf %s\n", quoted(name))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(b, "mkdir -p %s\n", quoted(filepath.Dir(name)))
		fmt.Fprintf(b, "printf %%s %s > %s\n", quoted(files[name]), quoted(name))
	}
	b.WriteString(script)
}

// quoted is a text as a word of the shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// script is the same as what a model does, which is asked besides whether the requirement is clear, and for a plan.
func (j Job) script() scripted.Script {
	steps := func(files map[string]string, gone []string) []scripted.Step {
		var calls []scripted.Call
		for _, name := range gone {
			calls = append(calls, scripted.Call{Run: "rm -rf " + quoted(name)})
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			calls = append(calls, scripted.Call{Write: name, Content: files[name]})
		}
		last := scripted.Step{Text: scripted.Finished}
		if len(calls) == 0 {
			return []scripted.Step{last}
		}
		return []scripted.Step{{Calls: calls}, last}
	}
	return scripted.Script{
		Branches: []scripted.Branch{{Steps: steps(j.Work, j.Gone)},
			{When: scripted.Repairing, Steps: steps(j.Again, j.GoneAgain)}},
		JSON: map[string]json.RawMessage{"intake": encode(j.judged()), "plan": encode(j.planned())},
	}
}

// judged says that the requirement is clear.
func (j Job) judged() triage.Evaluation {
	said := []triage.Evidence{{Quote: j.Requirement}}
	return triage.Evaluation{
		Class: triage.ClassBugfix, Score: 10, Risk: pawl.RiskLow, Questions: []triage.Question{},
		HighRisk: []triage.Finding{}, Why: "It is clear.",
		Dimensions: []triage.Dimension{
			{Name: triage.Goal, Points: 3, Evidence: said}, {Name: triage.Criteria, Points: 3, Evidence: said},
			{Name: triage.Scope, Points: 2, Evidence: said}, {Name: triage.Limits, Points: 2,
				Evidence: []triage.Evidence{}},
		},
		Factors: triage.Factors{Design: triage.DesignNone, Extent: triage.ExtentPoint},
	}
}

// planned is the plan of an agent, which leaves its step to the work and names the files that it is about.
func (j Job) planned() map[string]any {
	step := map[string]any{"step_id": "s1", "title": "Do it", "intent": j.Requirement}
	if j.Artifacts != "" {
		var files []map[string]string
		for name := range strings.FieldsSeq(j.Artifacts) {
			files = append(files, map[string]string{"type": "file", "value": name})
		}
		step["expected_artifacts"] = files
	}
	return map[string]any{"goal": j.Requirement, "risk_level": "low", "steps": []any{step},
		"verification": map[string]any{"mode": "test"}}
}

// plan is a plan whose calls do the work.
func (j Job) plan() plan.Plan {
	step := plan.Step{StepID: "s1", Title: "Do it", Intent: j.Requirement, Status: plan.Pending}
	call := func(tool string, args map[string]string) {
		step.ToolCalls = append(step.ToolCalls, plan.ToolCallTemplate{Name: tool, ArgsHint: encode(args)})
	}
	if j.Agent == "command" {
		call("run_terminal_cmd", map[string]string{"command": "sh ./" + commandFile})
	} else {
		for _, name := range j.Gone {
			call("delete_file", map[string]string{"path": name})
		}
		for _, name := range slices.Sorted(maps.Keys(j.Work)) {
			call("write_file", map[string]string{"path": name, "content": j.Work[name]})
		}
	}
	p := plan.Plan{
		Goal: j.Requirement, Constraints: []string{}, RiskLevel: pawl.RiskLow, Steps: []plan.Step{step},
		Verification: plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}, Required: true,
			StopOnFail: true},
	}
	if j.Criteria != "" {
		if err := json.Unmarshal([]byte(j.Criteria), &p.Criteria); err != nil {
			panic(fmt.Sprintf("%s: %v", j.Requirement, err))
		}
	}
	return p
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // plans, judgements and maps of text always encode
	}
	return raw
}
