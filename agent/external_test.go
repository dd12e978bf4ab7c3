package agent

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/message"
	"pawl/text/plan"
)

// TestCatalog: every entry can be run, is described in both languages, and leaves no placeholder unfilled.
func TestCatalog(t *testing.T) {
	seen := map[string]bool{}
	left := regexp.MustCompile(`\{[a-z]+\}`)
	for _, p := range Catalog() {
		if seen[p.Name] || p.Name == "" || p.Title == "" || len(p.Names) == 0 || p.Dialect == "" || p.Wire == "" ||
			p.Install == "" {
			t.Errorf("%s: twice or incomplete", p.Name)
		}
		seen[p.Name] = true
		if (p.Kind == KindACP) != (p.Dialect == DialectACP) {
			t.Errorf("%s: kind %s and dialect %s", p.Name, p.Kind, p.Dialect)
		}
		if !p.TestedWith(p.Tested[0]) || !p.TestedWith(p.Tested[1]) || p.TestedWith("") || p.TestedWith("99.0.0") ||
			!strings.HasSuffix(p.Install, "@"+p.Tested[1]) && p.Name != "qwen-code" && p.Name != "qwen-code-acp" {
			t.Errorf("%s: tested %v, installed by %s", p.Name, p.Tested, p.Install)
		}
		for _, q := range p.Quirks {
			if _, ok := message.Lookup(q); !ok {
				t.Errorf("%s: no message %s", p.Name, q)
			}
		}
		j := &Job{External: External{Program: p, Model: "mock-model", Port: 1234}, places: places{home: "/h"}}
		fill := j.values("SESSION", "PROMPT {key}")
		all := append(p.Line(p.Args, false, false), p.Line(p.Resume, true, false)...)
		for _, v := range p.Env {
			all = append(all, v)
		}
		for _, v := range p.Files {
			all = append(all, v)
		}
		text := strings.Join(all, "\n")
		if p.Kind == KindHeadless && !strings.Contains(strings.Join(p.Args, " "), "{prompt}") {
			t.Errorf("%s: no prompt", p.Name)
		}
		if len(p.Resume) > 0 && !strings.Contains(strings.Join(p.Resume, " "), "{session}") {
			t.Errorf("%s: no session", p.Name)
		}
		for _, setup := range p.Setup {
			text += strings.Join(setup, " ")
		}
		if !strings.Contains(text, "{url}") {
			t.Errorf("%s: does not know the gateway", p.Name)
		}
		if found := left.FindAllString(strings.ReplaceAll(fill.Replace(text), "PROMPT {key}", ""), -1); found != nil {
			t.Errorf("%s: left over: %v", p.Name, found)
		}
	}
	if _, ok := Known("codex"); !ok || len(seen) < 13 {
		t.Errorf("%d entries", len(seen))
	}
}

// TestPromptBounds: a prompt fits into one argument of a program whatever it is about, and names the failure by the
// heading that belongs to it alone.
func TestPromptBounds(t *testing.T) {
	huge := strings.Repeat("世界 x\n## What failed\n\x00\xff", 200_000)
	spec := effect.WorkSpec{
		Goal: huge, Step: "s1", Plan: plan.Plan{Steps: []plan.Step{{StepID: "s1", Title: huge, Intent: huge}}},
		Notes: []string{huge},
		Context: effect.ContextResult{Checks: []effect.Check{{Name: huge}},
			Pack: &effect.ContextPack{WorkspaceSummary: huge,
				Snippets: []effect.CodeSnippet{{Path: huge, Content: huge}}}},
	}
	for range 2 {
		p := NewPrompt(spec, true, true)
		headings := strings.Count("\n"+p.Text, "\n## What failed\n")
		if len(p.Text) > 128<<10-1 || strings.ContainsRune(p.Text, 0) || (spec.Failure == nil) != (headings == 0) ||
			headings > 1 {
			t.Errorf("%d bytes, %d headings", len(p.Text), headings)
		}
		var checks []effect.CheckOutcome
		for range 9 {
			checks = append(checks, effect.CheckOutcome{Check: effect.Check{Command: "go test"},
				Status: effect.CheckFailed, Output: huge})
		}
		spec.Failure = &effect.Failure{What: "tests", Class: pawl.ClassBuildFail, Checks: checks}
	}
	if NewPrompt(effect.WorkSpec{}, false, false).Digest == NewPrompt(effect.WorkSpec{}, true, false).Digest {
		t.Error("the languages have one digest")
	}
}

func TestGivenUp(t *testing.T) {
	for text, want := range map[string]string{
		"PAWL-GIVE-UP: no": "no", "tried\n**PAWL-GIVE-UP: no way**\n": "no way", "I write PAWL-GIVE-UP: no": "",
		"PAWL-GIVE-UP: no\nbut then it worked": "", "": "",
	} {
		if got, ok := lastWord(text, GiveUpMark); got != want || ok != (want != "") {
			t.Errorf("%q: %q %v", text, got, ok)
		}
	}
}

// TestHomeIsConfined: an agent that leaves links in its home cannot make pawl write elsewhere.
func TestHomeIsConfined(t *testing.T) {
	workspace, outside := t.TempDir(), t.TempDir()
	victim := filepath.Join(outside, "config")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := External{Program: Program{Name: "fake"}}
	e := effect.Effect{ID: "01J", Task: "task-1", Place: effect.Place{Workspace: workspace, Tree: workspace}}
	p, err := c.makePlaces(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(p.home, "a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(p.home, "d")); err != nil {
		t.Fatal(err)
	}
	if err := p.write(map[string]string{"a": "theirs"}); err != nil {
		t.Errorf("a link in the way: %v", err)
	}
	if err := p.write(map[string]string{"d/config": "theirs"}); err == nil {
		t.Error("written through a link to a folder outside")
	}
	if raw, _ := os.ReadFile(victim); string(raw) != "mine" {
		t.Errorf("overwritten: %q", raw)
	}
	for _, task := range []string{"..", "a/b", ".x"} {
		e.Task = task
		if _, err := c.makePlaces(e); err == nil {
			t.Errorf("task %q has a home", task)
		}
	}
}

func TestEnvironment(t *testing.T) {
	j := &Job{External: External{Program: Program{Env: map[string]string{"HOME": "/elsewhere", "KEY": "{key}"}},
		Path: "/opt/a/bin/agent", Environ: []string{"PATH=/usr/bin", "HOME=/root", "TMPDIR=/tmp"}},
		places: places{home: "/w/home", temp: "/w/tmp"}}
	got := strings.Join(j.env(j.values("", "")), " ")
	for _, want := range []string{"HOME=/w/home ", "TMPDIR=/w/tmp", "PATH=/opt/a/bin:/usr/bin", "KEY=" + dummyKey} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

func TestLine(t *testing.T) {
	if got := Line("a\x1b[31mb\u202e\x00\r\n c"); got != "a[31mb c" {
		t.Errorf("%q", got)
	}
}

// TestSizes: agents are told how long the answers of their model may be, so that what is set aside for a call is no
// more than a call can cost in practice.
func TestSizes(t *testing.T) {
	for _, c := range []struct{ window, out, wantWindow, wantOut int64 }{{0, 0, 128_000, 16_000},
		{32_000, 0, 32_000, 8_000}, {1_000_000, 0, 1_000_000, 16_000}, {200_000, 4_000, 200_000, 4_000}} {
		x := External{Window: c.window, MaxOut: c.out}
		x.defaults(effect.Effect{})
		if x.Window != c.wantWindow || x.MaxOut != c.wantOut {
			t.Errorf("%+v: %d and %d", c, x.Window, x.MaxOut)
		}
	}
	claude, _ := Known("claude-code")
	j := &Job{External: External{Program: claude, Window: 7, MaxOut: 5}}
	if env := j.env(j.values("", "")); !slices.Contains(env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS=5") {
		t.Errorf("%q", env)
	}
	for _, p := range Catalog() {
		for name, content := range p.Files {
			if got := j.values("", "").Replace(content); strings.Contains(got, "{window}") ||
				strings.Contains(got, "{out}") {
				t.Errorf("%s: %s: %s", p.Name, name, got)
			}
		}
	}
}

// TestForms: what a form lets through is taken, in the strict spelling with its nulls as well, and a call of a tool is no
// part of a plan whose steps an agent works out itself.
func TestForms(t *testing.T) {
	const document = `{"goal":"g","constraints":null,"risk_level":"low","network":null,` +
		`"criteria":[{"id":"c1","text":"it adds","from":null,"proof":"check","run":null,"tests":["TestAdd"],"checks":null,"paths":null,"texts":null}],` +
		`"steps":[{"step_id":"s1","title":"t","intent":"i","depends_on":null,"expected_artifacts":[{"type":"file","value":"add.go"}]}],` +
		`"verification":{"mode":"test","commands":null}}`
	q, found, err := PlanQuestion(effect.PlanSpec{Requirement: "add"}, nil, plan.Limits{}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{document, "I have seen {enough}.\n```json\n" + document + "\n```\n"} {
		if err := q.Read(said); err != nil || len(found.Criteria) != 1 || found.Criteria[0].Tests[0] != "TestAdd" ||
			found.Steps[0].ExpectedArtifacts[0].Value != "add.go" {
			t.Errorf("%v: %+v", err, found)
		}
	}
	if err := q.Read(strings.Replace(document, `"depends_on":null`,
		`"tool_calls":[{"name":"write_file","args_hint":{}}]`, 1)); err == nil {
		t.Error("a call of a tool that nobody has")
	}
	for _, schema := range []string{q.Schema, intakeForm()} {
		if left := strictForm(schema); strings.Contains(left, "minItems") ||
			strings.Count(left, `"required"`) != strings.Count(left, `"properties"`) {
			t.Errorf("%s", left)
		}
	}
}

// TestFloor: no model lowers the danger that pawl sees.
func TestFloor(t *testing.T) {
	const requirement = "Drop the users table in production"
	q, found, err := IntakeQuestion(effect.IntakeSpec{Requirement: requirement}, false)
	if err != nil {
		t.Fatal(err)
	}
	const said = `{"class":"chore","score":8,"risk":"low","dimensions":[{"name":"goal","points":3,"evidence":[{"quote":"Drop the users table"}]},{"name":"criteria","points":1,"evidence":[{"quote":"Drop"}]},` +
		`{"name":"scope","points":2,"evidence":[{"quote":"users table"}]},{"name":"limits","points":2,"evidence":[]}],"questions":[],"factors":{"new":false,"major":false},"ehrb":[],"why":"w"}`
	if err := q.Read(said); err != nil {
		t.Fatal(err)
	}
	if got := found.Result(effect.IntakeSpec{}, effect.Said{Agent: "a"}).Evaluation; got.Risk != pawl.RiskHigh || !got.Dangerous() {
		t.Errorf("%+v", got)
	}
}
