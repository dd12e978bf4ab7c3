package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/agent"
	"pawl/agent/wire"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
	"pawl/kernel/view"
)

// The project is one of the shell: nothing of it has to be compiled.
const (
	sumShell = "# Sums.\nsum() { echo $(($1 + $2)); }\n"
	subShell = sumShell + "\nsub() { echo $(($1 - $2)); }\n"
	subTest  = ". ./sum.sh\ntest \"$(sub 5 3)\" = 2\n"
)

// planned is a requirement in one language, what a model plans for it, and what a person makes of that.
type planned struct {
	lang, requirement string
	readme            string
	titles            []string
	criteria          [2]string
	// A title and a criterion, as the person rewords them, and the command by which they do.
	title, criterion string
	carried          func(u *user, in planned)
	// wrong is what the worker writes first, "" for what is right, and reason what the reviewer says to that.
	wrong, reason string
}

var plannedIn = []planned{
	{lang: "en_US.UTF-8", carried: (*user).editsPlan, requirement: "Add a function sub to sum.sh that gives the difference of its two arguments, cover it with a test in tests/sub.sh, and explain sub in README.md",
		readme: "# Sums\n\nsub gives the difference.\n",
		titles: []string{"Write the test of sub", "Add sub", "Explain sub"}, criteria: [2]string{"sub gives the difference", "README.md explains sub"},
		title: "Add sub beside Sum", criterion: "sub gives the difference of two numbers, also a negative one"},
	{lang: "zh_CN.UTF-8", carried: (*user).editsPackage, requirement: "在 sum.sh 中新增函数 sub，返回两个参数之差，用 tests/sub.sh 中的测试覆盖它，并在 README.md 中说明 sub",
		readme: "# 求和\n\nsub 返回两数之差。\n",
		titles: []string{"编写 sub 的测试", "新增 sub", "说明 sub"}, criteria: [2]string{"sub 返回两数之差", "README.md 说明了 sub"},
		title: "在 sum 旁边新增 sub", criterion: "sub 返回两数之差，包括负数",
		wrong: sumShell + "\nsub() { d=$(($1 - $2)); echo ${d#-}; }\n", reason: "三减五不是二"},
}

// negativeTest is the test with which the reviewer objects.
const negativeTest = ". ./sum.sh\ntest \"$(sub 3 5)\" = -2\n"

func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts always encode
	}
	return raw
}

// document is the plan as a model writes it.
func (p planned) document() json.RawMessage {
	step := func(n int, file string) map[string]any {
		return map[string]any{"step_id": fmt.Sprint("s", n+1), "title": p.titles[n], "intent": p.titles[n] + ": " + file,
			"expected_artifacts": []any{map[string]any{"type": "file", "value": file}}}
	}
	return encoded(map[string]any{"goal": p.requirement, "risk_level": "medium",
		"verification": map[string]any{"mode": "test"},
		"steps":        []any{step(0, "tests/sub.sh"), step(1, "sum.sh"), step(2, "README.md")},
		"criteria": []any{
			map[string]any{"id": "c1", "text": p.criteria[0], "proof": "check", "run": "sh tests/sub.sh"},
			map[string]any{"id": "c2", "text": p.criteria[1], "proof": "diff", "paths": []string{"README.md"}, "texts": []string{"sub"}}}})
}

// script is a model that answers with the plan and carries it out, a file in each step. Where what it writes is wrong,
// it objects to that as the reviewer, with a test, and mends it as the worker.
func (p planned) script() modeltest.Script {
	branch := func(when, file, content string, read bool) modeltest.Branch {
		b := modeltest.Branch{When: when}
		if read { // some agents write no file that they have not read
			b.Steps = append(b.Steps, modeltest.Step{Calls: []modeltest.Call{{Read: file}}})
		}
		b.Steps = append(b.Steps, modeltest.Step{Calls: []modeltest.Call{{Write: file, Content: content}}},
			modeltest.Step{Text: "Done."})
		return b
	}
	at := func(step, file, content string, read bool) modeltest.Branch {
		return branch(`## Your step\n`+step+": ", file, content, read)
	}
	s := modeltest.Script{JSON: map[string]json.RawMessage{"plan": p.document(), "review": json.RawMessage(noObjection)},
		Branches: []modeltest.Branch{{Steps: []modeltest.Step{{Text: "What is to be done?"}}},
			at("s1", "tests/sub.sh", subTest, false), at("s2", "sum.sh", cmp.Or(p.wrong, subShell), true),
			at("s3", "README.md", p.readme, true)}}
	if p.wrong != "" {
		s.Branches = append(s.Branches, branch(modeltest.Repairing, "sum.sh", subShell, true))
		s.JSON["review#2"] = s.JSON["review"]
		s.JSON["review"] = encoded(map[string]any{"verdict": "objections", "objections": []any{map[string]any{
			"reason": p.reason, "test": map[string]string{"path": "tests/negative.sh", "content": negativeTest}}}})
	}
	return s
}

// TestPlanners has real coding agents judge a requirement and plan it, on a scripted model, and a person edit the plan;
// then the same agents carry it out and review it, each time in another session, and it is proven and lands. What was
// seen of each becomes a line of docs/agents.md. The agents are those of TestAgents.
func TestPlanners(t *testing.T) {
	t.Parallel()
	var report []string
	// A model of the user's choice does the same, and takes no program.
	for _, p := range append(driven(t), agent.Program{Name: "llm", Wire: wire.Chat}) {
		for _, in := range plannedIn {
			t.Run(p.Name+" "+in.lang, func(t *testing.T) {
				began := time.Now()
				u := newUser(t)
				u.write("sum.sh", sumShell)
				u.write("tests/sum.sh", ". ./sum.sh\ntest \"$(sum 2 3)\" = 5\n")
				u.write("test.sh", "#!/bin/sh\nfor t in tests/*.sh; do sh \"$t\" || exit 1; done\n")
				u.write("README.md", "# Sums\n")
				u.repository()
				u.path, u.vars = installed(t), []string{"LANG=" + in.lang}
				srv := u.modelled(kindOf(p.Wire), in.script(), "agent: "+p.Name)
				defer func() { // also of an agent that did not come to the end
					report = append(report, fmt.Sprintf("| %s, %s | %s |", p.Name, in.lang[:2], u.saw(srv, began)))
				}()
				in.carried(u, in)
				u.must(0, "audit", "verify")
				u.quiet()
				if got := u.read("sum.sh") + u.read("tests/sub.sh") + u.read("README.md"); got != subShell+subTest+in.readme ||
					u.git("status", "--porcelain") != "" {
					t.Errorf("the result did not land:\n%s", got)
				}
				u.reviewed(in, p.Name)
				u.heard(in, srv)
			})
		}
	}
	if len(report) > 0 {
		t.Logf("\n%s", strings.Join(report, "\n"))
		if name := os.Getenv("PAWL_PLANNERS_REPORT"); name != "" {
			if err := os.WriteFile(name, []byte(strings.Join(report, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// editsPlan sits before a terminal, goes through the stages of ~auto, edits the document of the plan that waits for a
// word, and approves it.
func (u *user) editsPlan(in planned) {
	u.t.Helper()
	edited := filepath.Join(filepath.Dir(u.dir), "plan.md")
	u.vars = append(u.vars, "EDITOR=cp "+edited)
	p := u.sit(120, 60, "~auto "+in.requirement)
	p.Patience = patience
	asks := func(what string, nth int) {
		u.t.Helper()
		p.Until(what, func() bool {
			s := p.Screen()
			return strings.Count(s, what) == nth && strings.HasSuffix(s, "▮\n") || p.Gone()
		})
		if p.Gone() {
			u.t.Fatalf("it ended before it asked %q:\n%s", what, p.Screen())
		}
	}
	asks("Go on silently (y), interactively (i)", 1)
	p.Types("i\r")
	asks("Go on (y)", 1)
	p.Types("y\r")
	asks("Approve plan", 1)
	prd := u.reword(u.must(0, "plan", "show", "--prd").out, in.titles[1], in.title, in.criteria[0], in.criterion)
	if err := os.WriteFile(edited, []byte(prd), 0o644); err != nil {
		u.t.Fatal(err)
	}
	p.Types("e\r")
	asks("Approve plan", 2)
	p.Types("y\r")
	p.Ends()
	u.shown("T-001", in)
}

// editsPackage edits the files of the package that ~plan leaves, and carries it out.
func (u *user) editsPackage(in planned) {
	u.t.Helper()
	u.must(0, "~plan "+in.requirement)
	u.state("IDLE")
	found, err := filepath.Glob(filepath.Join(u.dir, ".pawl", "plan", "*", "tasks.md"))
	if err != nil || len(found) != 1 {
		u.t.Fatal(found, err)
	}
	raw, err := os.ReadFile(found[0])
	if err == nil { // the person names no file, and the criteria stay what was planned
		err = os.WriteFile(found[0], []byte(u.reword(string(raw), in.titles[1]+" `sum.sh`", in.title)), 0o644)
	}
	if err != nil {
		u.t.Fatal(err)
	}
	in.criterion = in.criteria[0]
	u.must(0, "~exec")
	u.shown("T-002", in)
}

// reword puts words into the place of others, on the one line that says just these.
func (u *user) reword(text string, words ...string) string {
	u.t.Helper()
	for ; len(words) > 0; words = words[2:] {
		lines := strings.Split(text, "\n")
		at := slices.IndexFunc(lines, func(l string) bool {
			return strings.Contains(l, words[0]) && !strings.Contains(l, words[0]+": ") && !strings.HasPrefix(l, "# ")
		})
		if at < 0 {
			u.t.Fatalf("%q is on no line of its own:\n%s", words[0], text)
		}
		lines[at] = strings.Replace(lines[at], words[0], words[1], 1)
		text = strings.Join(lines, "\n")
	}
	return text
}

// shown checks that what the person worded was carried out and proven.
func (u *user) shown(label string, in planned) {
	u.t.Helper()
	u.state("IDLE")
	task := u.task(label)
	if len(task.Steps) < 3 || task.Steps[1].Title != in.title || task.Proof == nil || task.Proof.Verdict != "proven" ||
		!slices.ContainsFunc(task.Proof.Criteria, func(m effect.Met) bool {
			return m.Text == in.criterion && m.Verdict == "proven"
		}) {
		u.t.Errorf("%s", pretty(task))
	}
}

// reviewed checks that the agent reviewed the work, in the run's record: that it has no objection, or that it had one
// with a test that failed, for which the work went back once.
func (u *user) reviewed(in planned, name string) {
	u.t.Helper()
	list := decode[view.Report](u, "show").Reviews
	want := 1
	if in.wrong != "" {
		want = 2
	}
	if len(list) != want {
		u.t.Fatalf("%d reviews: %+v", len(list), list)
	}
	for i, r := range list {
		back := i+1 < want
		if r.Agent != name || r.Fault != nil || r.SentBack != back || (len(r.Objections) > 0) != back ||
			back && (r.Objections[0].Reason != in.reason || !r.Objections[0].Red()) {
			u.t.Errorf("review %d: %+v", i+1, r)
		}
	}
	if a := u.must(0, "show"); strings.Count(a.out, name+" (mock-model): ") != want || !strings.Contains(a.out, in.reason) {
		u.t.Errorf("the reviews are not shown: %v", a)
	}
	if u.read("tests/negative.sh") != "" {
		u.t.Error("the reviewer's test landed")
	}
}

// about reports what a request is about: which of the documents it asks for, and whether it is work on a step.
func about(r modeltest.Request) (judging, planning, reviewing, working bool) {
	asks := func(heading, schema string) bool {
		return strings.Contains(r.Body, heading) || strings.Contains(r.Body, `"name":"`+schema+`"`)
	}
	return asks(modeltest.Judging, "intake"), asks(modeltest.Planning, "plan"), asks(modeltest.Reviewing, "review"),
		strings.Contains(r.Body, `## Your step\n`)
}

// heard looks at what the model was asked: to judge, to plan and to review, to work on each step as the person worded
// it, and to mend what the reviewer objects to; each of the first three in a session of its own.
func (u *user) heard(in planned, srv *modeltest.Server) {
	u.t.Helper()
	seen := map[string]bool{}
	for _, r := range srv.Requests() {
		judging, planning, reviewing, working := about(r)
		for what, is := range map[string]bool{"judged": judging, "planned": planning, "reviewed": reviewing,
			"title": working && strings.Contains(r.Body, in.title), "criterion": working &&
				(strings.Contains(r.Body, in.criterion) || strings.Contains(r.Body, in.criteria[0])),
			"mended": in.wrong == "" || working && strings.Contains(r.Body, modeltest.Repairing) &&
				strings.Contains(r.Body, in.reason)} {
			seen[what] = seen[what] || is
		}
		if working && (judging || planning || reviewing) || reviewing && (judging || planning) {
			u.t.Error("what was asked for was done in one session with something else")
		}
	}
	for what, is := range seen {
		if !is {
			u.t.Errorf("the model was not asked: %s", what)
		}
	}
}

// saw is what was seen of an agent, as the cells of a line of docs/agents.md: whether it judges, plans, works, reviews
// and goes on with its session, and what became of the work.
func (u *user) saw(srv *modeltest.Server, began time.Time) string {
	judges, plans, resumes, reviews, became := "no", "no", "no", "no", "landed in"
	steps := map[string]bool{}
	for _, r := range srv.Requests() {
		judging, planning, _, working := about(r)
		if judging {
			judges = "its model"
		}
		switch {
		case planning && (strings.Contains(r.Body, `"StructuredOutput"`) || strings.Contains(r.Body, `"json_schema"`)):
			plans = "by a schema"
		case planning && plans == "no":
			plans = "in words"
		}
		for _, step := range []string{"s1", "s2", "s3"} {
			if working && strings.Contains(r.Body, `## Your step\n`+step+": ") {
				steps[step] = true
			}
		}
		if strings.Contains(r.Body, `## Your step\ns3: `) && strings.Contains(r.Body, `## Your step\ns1: `) {
			resumes = "yes"
		}
	}
	var run view.Report
	if a := u.pawl("show", "--json"); json.Unmarshal([]byte(a.out), &run) == nil && len(run.Reviews) > 0 {
		var said []string
		for _, r := range run.Reviews {
			switch {
			case r.Fault != nil:
				said = append(said, "no: "+r.Fault.Key)
			case r.SentBack:
				said = append(said, "objects, and the work goes back")
			default:
				said = append(said, "no objection")
			}
		}
		reviews = strings.Join(said, ", then ")
	}
	switch {
	case u.read("sum.sh") == sumShell:
		became = "did not land, in"
	case u.t.Failed():
		became = "landed otherwise than it should, in"
	}
	return fmt.Sprintf("%s | %s | %d steps | %s | %s | %s %s, %d model requests", judges, plans, len(steps), reviews,
		resumes, became, time.Since(began).Round(100*time.Millisecond), len(srv.Requests()))
}
