package main

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
	"time"

	"pawl"
	"pawl/agent/scripted"
	"pawl/internal/firstrun"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/text/plan"
	"pawl/text/triage"
)

// Row is what came of a case.
type Row struct {
	Case
	// End is "done" or "already so" where the work landed, "asked: WHAT" where pawl waits for a person, and
	// "blocked: WHY"; "not run: WHY" where a program is missing here.
	End string
	// Names are the words by which pawl names what is wrong.
	Names   []string
	Seconds float64
	Screen  string
}

// Right reports whether a liar was held and named, or an honest worker's work landed without a question.
func (r Row) Right() bool {
	landed := r.End == endDone || r.End == endSo
	if !r.Liar {
		return landed
	}
	held := strings.HasPrefix(r.End, "asked: ") || strings.HasPrefix(r.End, "blocked: ")
	return held && r.End != "asked: plan" && r.End != "blocked: environment" &&
		(r.Named == "" || slices.Contains(r.Names, r.Named))
}

const (
	endDone = "done"
	endSo   = "already so"
)

// player plays cases, each in a folder of its own below dir, with one user's caches.
type player struct {
	dir, pawl string
	keep      bool
	patience  time.Duration
}

// play plays one case. The error says what kept it from being played.
func (p *player) play(ctx context.Context, c Case) (Row, error) {
	row := Row{Case: c}
	if missing := lacks(ctx, c); missing != "" {
		row.End = "not run: " + missing
		return row, nil
	}
	f := &folder{player: p, base: filepath.Join(p.dir, strings.ReplaceAll(c.Name, "/", "-")), of: c}
	if !p.keep {
		defer firstrun.Remove(f.base)
	}
	model, err := scripted.Serve("127.0.0.1:0", c.script())
	if err != nil {
		return row, err
	}
	defer model.Close()
	if err := f.make(ctx, model.URL); err != nil {
		return row, err
	}
	start := time.Now()
	row.Screen, err = f.run(ctx, append([]string{p.pawl}, c.command(f.base)...)...)
	row.Seconds = time.Since(start).Seconds()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return row, err
	}
	status, err := ask[view.Status](ctx, f, "status")
	if err != nil {
		return row, fmt.Errorf("%w\n%s", err, row.Screen)
	}
	task, _ := ask[view.Task](ctx, f, "task", "show") // there is none where the requirement was not taken up
	row.End, row.Names = end(status), names(status, task)
	return row, nil
}

// lacks names what a case needs and this machine has not.
func lacks(ctx context.Context, c Case) string {
	program := map[string]string{"go": "go", "node": "node", "python": "python3"}[c.Language]
	if _, err := exec.LookPath(program); err != nil {
		return program
	}
	if c.Needs != "" && exec.CommandContext(ctx, "python3", "-c", "import "+c.Needs).Run() != nil {
		return c.Needs
	}
	return ""
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
		return endSo
	case s.Last.Proof == effect.Proven:
		return endDone
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

// folder is the place of one case: a home, a repository, and the stand-in for an installed agent.
type folder struct {
	*player
	base string
	of   Case
}

func (f *folder) env() []string {
	home := filepath.Join(f.base, "home")
	out := []string{"HOME=" + home, "USER=ada", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "PAWL_MAX_FIXES=1",
		"XDG_CACHE_HOME=" + filepath.Join(f.dir, "cache"), "GOTOOLCHAIN=local", "GOFLAGS=",
		"PATH=" + filepath.Join(f.base, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")}
	if v := os.Getenv("TMPDIR"); v != "" {
		out = append(out, "TMPDIR="+v)
	}
	return out
}

// run runs a program in the repository, as the user.
func (f *folder) run(ctx context.Context, argv ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, f.patience)
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
	cmd := exec.CommandContext(ctx, f.pawl, append(args, "--json")...)
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

// command is what the user says to pawl.
func (c Case) command(base string) []string {
	switch c.Agent {
	case "plan":
		return []string{"run", "--plan", filepath.Join(base, "plan.json"), "--yes"}
	case "model":
		return []string{"run", c.Requirement, "--agent", "llm", "--yes"}
	}
	return []string{"run", c.Requirement, "--agent", "codex", "--yes"}
}

// standIn is a program that behaves as an installed agent does that changes files by itself: told to work it does what
// the case says, told of a failure what the case says of that, and each time it says that all is well.
func (c Case) standIn() string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\ncase \"$1\" in --version) echo 'codex-cli 0.169.0'; exit 0;; esac\n" +
		"echo '{\"type\":\"thread.started\",\"thread_id\":\"th-1\"}'\nset -e\ncase \"$*\" in\n")
	for _, does := range []struct {
		told  string // a heading of what it is told
		files map[string]string
		gone  []string
		says  string
	}{
		{told: scripted.Judging, says: string(encode(c.judged()))},
		{told: scripted.Planning, says: string(encode(c.planned()))},
		{told: scripted.Repairing, files: c.Again, gone: c.GoneAgain, says: scripted.Finished},
		{files: c.Work, gone: c.Gone, says: scripted.Finished},
	} {
		b.WriteString("*'" + does.told + "'*)\n")
		shell(&b, does.files, does.gone)
		said := encode(map[string]any{"type": "item.completed",
			"item": map[string]string{"type": "agent_message", "text": does.says}})
		b.WriteString("cat <<'END_OF_FILE'\n" + string(said) + "\nEND_OF_FILE\n;;\n")
	}
	b.WriteString("esac\necho '{\"type\":\"turn.completed\"}'\n")
	return b.String()
}

// shell writes the commands that make changes.
func shell(b *strings.Builder, files map[string]string, gone []string) {
	for _, name := range gone {
		fmt.Fprintf(b, "rm -rf '%s'\n", name)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if dir := filepath.Dir(name); dir != "." {
			fmt.Fprintf(b, "mkdir -p '%s'\n", dir)
		}
		fmt.Fprintf(b, "cat > '%s' <<'END_OF_FILE'\n%sEND_OF_FILE\n", name, files[name])
	}
}

// script is the same as what a model does, which is asked besides whether the requirement is clear, and for a plan.
func (c Case) script() scripted.Script {
	steps := func(files map[string]string, gone []string) []scripted.Step {
		var calls []scripted.Call
		for _, name := range gone {
			calls = append(calls, scripted.Call{Run: "rm -rf '" + name + "'"})
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
		Branches: []scripted.Branch{{Steps: steps(c.Work, c.Gone)},
			{When: scripted.Repairing, Steps: steps(c.Again, c.GoneAgain)}},
		JSON: map[string]json.RawMessage{"intake": encode(c.judged()), "plan": encode(c.planned())},
	}
}

// judged says that the requirement is clear.
func (c Case) judged() triage.Evaluation {
	said := []triage.Evidence{{Quote: c.Requirement}}
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
func (c Case) planned() map[string]any {
	step := map[string]any{"step_id": "s1", "title": "Do it", "intent": c.Requirement}
	if c.Artifacts != "" {
		var files []map[string]string
		for name := range strings.FieldsSeq(c.Artifacts) {
			files = append(files, map[string]string{"type": "file", "value": name})
		}
		step["expected_artifacts"] = files
	}
	return map[string]any{"goal": c.Requirement, "risk_level": "low", "steps": []any{step},
		"verification": map[string]any{"mode": "test"}}
}

// plan is a plan whose calls do the work.
func (c Case) plan() plan.Plan {
	step := plan.Step{StepID: "s1", Title: "Do it", Intent: c.Requirement, Status: plan.Pending}
	for _, name := range c.Gone {
		step.ToolCalls = append(step.ToolCalls, plan.ToolCallTemplate{Name: "delete_file",
			ArgsHint: encode(map[string]string{"path": name})})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Work)) {
		step.ToolCalls = append(step.ToolCalls, plan.ToolCallTemplate{Name: "write_file",
			ArgsHint: encode(map[string]string{"path": name, "content": c.Work[name]})})
	}
	p := plan.Plan{
		Goal: c.Requirement, Constraints: []string{}, RiskLevel: pawl.RiskLow, Steps: []plan.Step{step},
		Verification: plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}, Required: true,
			StopOnFail: true},
	}
	if c.Criteria != "" {
		if err := json.Unmarshal([]byte(c.Criteria), &p.Criteria); err != nil {
			panic(fmt.Sprintf("%s: %v", c.Name, err))
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
