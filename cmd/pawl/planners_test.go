package main

import (
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
	// A title and a criterion, as the person rewords them, and how.
	title, criterion string
	edits            func(u *user, in planned)
}

var plannedIn = []planned{
	{lang: "en_US.UTF-8", edits: (*user).editsPlan, requirement: "Add a function sub to sum.sh that gives the difference of its two arguments, cover it with a test in tests/sub.sh, and explain sub in README.md",
		readme: "# Sums\n\nsub gives the difference.\n",
		titles: []string{"Write the test of sub", "Add sub", "Explain sub"}, criteria: [2]string{"sub gives the difference", "README.md explains sub"},
		title: "Add sub beside Sum", criterion: "sub gives the difference of two numbers, also a negative one"},
	{lang: "zh_CN.UTF-8", edits: (*user).editsPackage, requirement: "在 sum.sh 中新增函数 sub，返回两个参数之差，用 tests/sub.sh 中的测试覆盖它，并在 README.md 中说明 sub",
		readme: "# 求和\n\nsub 返回两数之差。\n",
		titles: []string{"编写 sub 的测试", "新增 sub", "说明 sub"}, criteria: [2]string{"sub 返回两数之差", "README.md 说明了 sub"},
		title: "在 sum 旁边新增 sub", criterion: "sub 返回两数之差，包括负数"},
}

// document is the plan as a model writes it.
func (p planned) document() json.RawMessage {
	step := func(n int, file string) map[string]any {
		return map[string]any{"step_id": fmt.Sprint("s", n+1), "title": p.titles[n], "intent": p.titles[n] + ": " + file,
			"expected_artifacts": []any{map[string]any{"type": "file", "value": file}}}
	}
	raw, err := json.Marshal(map[string]any{"goal": p.requirement, "risk_level": "medium",
		"verification": map[string]any{"mode": "test"},
		"steps":        []any{step(0, "tests/sub.sh"), step(1, "sum.sh"), step(2, "README.md")},
		"criteria": []any{
			map[string]any{"id": "c1", "text": p.criteria[0], "proof": "check", "run": "sh tests/sub.sh"},
			map[string]any{"id": "c2", "text": p.criteria[1], "proof": "diff", "paths": []string{"README.md"}, "texts": []string{"sub"}}}})
	if err != nil {
		panic(err) // texts always encode
	}
	return raw
}

// script is a model that answers with the plan and carries it out, a file in each step.
func (p planned) script() modeltest.Script {
	at := func(step, file, content string, read bool) modeltest.Branch {
		b := modeltest.Branch{When: `## Your step\n` + step + ": "}
		if read { // some agents write no file that they have not read
			b.Steps = append(b.Steps, modeltest.Step{Calls: []modeltest.Call{{Read: file}}})
		}
		b.Steps = append(b.Steps, modeltest.Step{Calls: []modeltest.Call{{Write: file, Content: content}}},
			modeltest.Step{Text: "Done."})
		return b
	}
	return modeltest.Script{JSON: map[string]json.RawMessage{"plan": p.document()},
		Branches: []modeltest.Branch{{Steps: []modeltest.Step{{Text: "What is to be done?"}}},
			at("s1", "tests/sub.sh", subTest, false), at("s2", "sum.sh", subShell, true), at("s3", "README.md", p.readme, true)}}
}

// TestPlanners has real coding agents judge a requirement and plan it, on a scripted model, and a person edit the plan;
// then the same agents carry it out, and it is proven and lands. The agents are those of TestAgents.
func TestPlanners(t *testing.T) {
	t.Parallel()
	var report []string
	// A model of the user's choice plans in the same way, and takes no program.
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
				in.edits(u, in)
				u.must(0, "audit", "verify")
				u.quiet()
				if got := u.read("sum.sh") + u.read("tests/sub.sh") + u.read("README.md"); got != subShell+subTest+in.readme ||
					u.git("status", "--porcelain") != "" {
					t.Errorf("the result did not land:\n%s", got)
				}
				how, resumed := u.heard(in, srv)
				report = append(report, fmt.Sprintf("| %s, %s | %s | landed in %s, %d model requests | %s |", p.Name,
					in.lang[:2], how, time.Since(began).Round(100*time.Millisecond), len(srv.Requests()), resumed))
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

// editsPlan edits the document of the plan that waits for a word, and approves it.
func (u *user) editsPlan(in planned) {
	u.t.Helper()
	u.must(9, "run", in.requirement)
	prd := u.reword(u.must(0, "plan", "show", "--prd").out, in.titles[1], in.title, in.criteria[0], in.criterion)
	file := filepath.Join(filepath.Dir(u.dir), "plan.md")
	if err := os.WriteFile(file, []byte(prd), 0o644); err != nil {
		u.t.Fatal(err)
	}
	u.must(0, "plan", "edit", "--from", file)
	u.must(0, "approve", u.state("CONFIRMING").Approval.Hash, "--yes")
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
	if len(task.Steps) != 3 || task.Steps[1].Title != in.title || task.Proof == nil || task.Proof.Verdict != "proven" ||
		!slices.ContainsFunc(task.Proof.Criteria, func(m effect.Met) bool {
			return m.Text == in.criterion && m.Verdict == "proven"
		}) {
		u.t.Errorf("%s", pretty(task))
	}
}

// heard looks at what the model was asked: to judge and to plan, by which form the answer came, to work on each step as
// the person worded it and in another session than the plan was made in; and whether one session had all steps.
func (u *user) heard(in planned, srv *modeltest.Server) (how, resumed string) {
	u.t.Helper()
	how, resumed = "words", "no"
	seen := map[string]bool{}
	for _, r := range srv.Requests() {
		about := func(heading, schema string) bool {
			return strings.Contains(r.Body, heading) || strings.Contains(r.Body, `"name":"`+schema+`"`)
		}
		judging, planning := about(modeltest.Judging, "intake"), about(modeltest.Planning, "plan")
		working := strings.Contains(r.Body, `## Your step\n`)
		seen["judged"], seen["planned"] = seen["judged"] || judging, seen["planned"] || planning
		if working && (judging || planning) {
			u.t.Error("the work is done in the session of the plan")
		}
		if working && strings.Contains(r.Body, in.title) {
			seen["title"] = true
		}
		if working && (strings.Contains(r.Body, in.criterion) || strings.Contains(r.Body, in.criteria[0])) {
			seen["criterion"] = true
		}
		if strings.Contains(r.Body, `## Your step\ns3: `) && strings.Contains(r.Body, `## Your step\ns1: `) {
			resumed = "yes"
		}
		switch {
		case !planning:
		case strings.Contains(r.Body, `propose_plan"`):
			how = "`propose_plan`"
		case strings.Contains(r.Body, `"StructuredOutput"`), strings.Contains(r.Body, `"json_schema"`):
			how = "schema"
		}
	}
	if len(seen) != 4 || !seen["judged"] || !seen["planned"] {
		u.t.Errorf("the model was asked: %v", seen)
	}
	return how, resumed
}
