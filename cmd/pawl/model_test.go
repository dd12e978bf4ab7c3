package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/agent/wire"
	"pawl/internal/modeltest"
)

const (
	sumWrong = "package sum\n\n// Sum adds.\nfunc Sum(a, b int) int { return a - b }\n"
	sumWorse = "package sum\n\n// Sum adds.\nfunc Sum(a, b int) int { return a * b }\n"
	sumRight = "package sum\n\n// Sum adds.\nfunc Sum(a, b int) int { return a + b }\n"
	sumTest  = "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif got := Sum(2, 3); got != 5 {\n\t\tt.Errorf(\"Sum(2, 3) = %d\", got)\n\t}\n}\n"
)

// planOf is what a model answers when it is asked for a plan: one step that it will work out later.
const planOf = `{"goal":"mend Sum","constraints":[],"risk_level":"low","steps":[{"step_id":"s1","title":"Mend Sum","intent":"Sum must add"}],` +
	`"verification":{"mode":"test","commands":[],"required":true,"stop_on_fail":true}}`

// clear is what a model says of the requirements of these tests: it quotes them all, and what one does not say does not
// count.
const (
	clear = `{"class":"bugfix","score":9,"risk":"low","dimensions":[{"name":"goal","points":3,"evidence":` + quoted +
		`},{"name":"criteria","points":2,"evidence":` + quoted + `},` +
		`{"name":"scope","points":2,"evidence":` + quoted +
		`},{"name":"limits","points":2,"evidence":[]}],"questions":[],"factors":{"new":false,"major":false,"design":"none","extent":"point"},"ehrb":[],"why":"clear"}`
	quoted  = `[{"quote":"Sum"},{"quote":"mend it"},{"quote":"write a note"},{"quote":"go test fails"}]`
	unclear = `{"class":"bugfix","score":3,"risk":"low","dimensions":[{"name":"goal","points":1,"evidence":` + quoted +
		`},{"name":"criteria","points":0,"evidence":[]},` +
		`{"name":"scope","points":0,"evidence":[]},{"name":"limits","points":2,"evidence":[]}],"questions":[{"about":"scope","text":"Which function?"}],` +
		`"factors":{"new":false,"major":false},"ehrb":[],"why":"vague"}`
)

// asking adds the answers to intake and planning to a script.
func asking(s modeltest.Script) modeltest.Script {
	s.JSON = map[string]json.RawMessage{"intake": json.RawMessage(clear), "plan": json.RawMessage(planOf)}
	return s
}

// faulty is a user with a small module whose test fails, and a model on loopback.
func faulty(t *testing.T, kind string, s modeltest.Script, more ...string) (*user, *modeltest.Server) {
	t.Helper()
	u := newUser(t)
	u.write("go.mod", "module example.org/sum\n\ngo 1.26\n")
	u.write("sum.go", sumWrong)
	u.write("sum_test.go", sumTest)
	u.module().repository()
	return u, u.modelled(kind, s, more...)
}

// modelled starts a model on loopback and writes it into the user's settings, for the agent that the first of more
// names.
func (u *user) modelled(kind string, s modeltest.Script, more ...string) *modeltest.Server {
	u.t.Helper()
	srv := modeltest.Go(u.t, s)
	url := srv.URL
	if kind == "openai" {
		url += "/v1"
	}
	agent := "agent: llm"
	if len(more) > 0 && strings.HasPrefix(more[0], "agent: ") {
		agent, more = more[0], more[1:]
	}
	key := filepath.Join(filepath.Dir(u.dir), "key")
	if err := os.WriteFile(key, []byte("model-key\n"), 0o600); err != nil {
		u.t.Fatal(err)
	}
	config := fmt.Sprintf(agent+"\nmodel:\n  kind: %s\n  base_url: %s\n  name: mock-model\n  key_file: %s\n%s\n", kind,
		url, key, strings.Join(more, "\n"))
	dir := filepath.Join(u.home, ".config", "pawl")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o644); err != nil {
		u.t.Fatal(err)
	}
	return srv
}

func TestModelMendsABug(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"openai", "responses", "anthropic", "gemini"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var more []string
			if kind == "responses" {
				kind, more = "openai", []string{"  api: responses"}
			}
			u, srv := faulty(t, kind, asking(modeltest.FixBug("sum.go", sumWorse, sumRight)), more...)
			a := u.must(0, "run", "Sum(2, 3) is not 5", "--yes", "--json")
			u.state("IDLE")
			if u.read("sum.go") != sumRight || u.git("rev-list", "--count", "HEAD") != "2" ||
				u.git("status", "--porcelain") != "" {
				t.Errorf("the result did not land: %v", a)
			}
			if got := strings.Join(u.states(),
				" "); got != "IDLE PLANNING CONFIRMING EXECUTING AUTO_FIX EXECUTING ARCHIVING IDLE" {
				t.Errorf("states %s", got)
			}
			if len(srv.Requests()) < 6 || (srv.Requests()[0].Form == wire.Responses) != (more != nil) {
				t.Errorf("%d requests in the form %s", len(srv.Requests()), srv.Requests()[0].Form)
			}
			u.must(0, "audit", "verify")
			u.quiet()
		})
	}
}

// TestLiar is told by a model that all is done while nothing was changed: it must not come to done.
func TestLiar(t *testing.T) {
	t.Parallel()
	u, _ := faulty(t, "openai", asking(modeltest.Liar()))
	a := u.must(8, "run", "Sum(2, 3) is not 5", "--yes")
	st := u.state("BLOCKED")
	if st.Blocked == nil || st.Blocked.Kind != "fuse" || !strings.Contains(a.out, "Sum(2, 3) = -1") {
		t.Errorf("blocked %+v: %v", st.Blocked, a)
	}
	for _, way := range []string{"pawl fix", "pawl skip", "pawl rollback"} {
		if !strings.Contains(a.out, way) {
			t.Errorf("%s is not named: %v", way, a)
		}
	}
	if u.read("sum.go") != sumWrong || u.git("rev-list", "--count", "HEAD") != "1" {
		t.Error("something landed")
	}
}

// TestItFailedBefore has a check fail for a reason that the work has nothing to do with: the repair and the person are
// told so, and nothing is left of where pawl looked.
func TestItFailedBefore(t *testing.T) {
	t.Parallel()
	script := asking(modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{
		{Calls: []modeltest.Call{{Name: "write_file", Args: `{"path":"note.txt","content":"x"}`}}}, {Text: "done"},
	}}}})
	u, srv := faulty(t, "openai", script)
	a := u.must(8, "run", "write a note", "--yes")
	u.state("BLOCKED")
	if !strings.Contains(a.out, "failed in the same way before the work began") {
		t.Errorf("%v", a)
	}
	told := false
	for _, r := range srv.Requests() {
		told = told || strings.Contains(r.Body, "This check failed in the same way before the work began.")
	}
	if !told {
		t.Error("the repair was not told")
	}
	if a := u.must(0, "audit", "log"); !strings.Contains(a.out, "CHECKED_BEFORE") {
		t.Errorf("%v", a)
	}
	if got := u.git("worktree", "list"); strings.Contains(got, "-before") {
		t.Errorf("left: %s", got)
	}
	u.must(0, "rollback", "--yes")
	u.quiet()
}

// TestQuestions parks a requirement that is not clear, across processes, until it is answered.
func TestQuestions(t *testing.T) {
	t.Parallel()
	script := asking(modeltest.FixBug("sum.go", sumRight, sumRight))
	script.JSON["intake"] = json.RawMessage(unclear)
	// From the words alone nothing could be tried.
	script.JSON["plan"] = json.RawMessage(strings.Replace(planOf, `"steps"`,
		`"criteria":[{"id":"c1","text":"Sum adds","proof":"check","tests":["TestSum"]}],"steps"`, 1))
	u, srv := faulty(t, "openai", script)
	a := u.must(9, "run", "mend it", "--yes")
	if !strings.Contains(a.out, "Which function?") || !strings.Contains(a.out, "pawl answer") {
		t.Errorf("%v", a)
	}
	u.must(7, "run", "something else")
	script.JSON["intake"] = json.RawMessage(clear)
	srv.Play(script)
	u.must(0, "answer", "Sum")
	if u.read("sum.go") != sumRight {
		t.Error("the result did not land")
	}
	seen := false
	for _, r := range srv.Requests() {
		seen = seen || strings.Contains(r.Body, "Which function?") && strings.Contains(r.Body, "Sum")
	}
	if !seen {
		t.Error("the model was not told the answer")
	}
}

// TestModelAsksAtWork parks the work on a question of the model, across processes, until a person answers.
func TestModelAsksAtWork(t *testing.T) {
	t.Parallel()
	script := asking(modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{
		{Calls: []modeltest.Call{{Name: "ask_human", Args: `{"question":"Is Sum to add?"}`}}},
		{Calls: []modeltest.Call{{Name: "write_file", Args: fmt.Sprintf(`{"path":"sum.go","content":%q}`, sumRight)}}},
		{Text: "done"},
	}}}})
	u, srv := faulty(t, "openai", script)
	a := u.must(9, "run", "Sum(2, 3) is not 5", "--yes")
	if !strings.Contains(a.out, "Is Sum to add?") || !strings.Contains(a.out, "pawl answer") {
		t.Errorf("%v", a)
	}
	if st := u.status(); len(st.Questions) != 1 || st.Questions[0].ID != "q-1" || st.Questions[0].By != "agent:llm" ||
		st.State != "EXECUTING" {
		t.Errorf("status %+v", st)
	}
	if a := u.must(0, "status"); !strings.Contains(a.out, "q-1  Is Sum to add?") {
		t.Errorf("%v", a)
	}
	u.must(9, "answer")
	u.must(0, "answer", "yes, it is")
	u.state("IDLE")
	if u.read("sum.go") != sumRight {
		t.Error("the result did not land")
	}
	told := false
	for _, r := range srv.Requests() {
		told = told || strings.Contains(r.Body, "yes, it is")
	}
	if !told {
		t.Error("the model was not told the answer")
	}
	if a := u.must(0, "audit", "log", "--json"); !strings.Contains(a.out, "QUESTION_ANSWERED") {
		t.Errorf("%v", a)
	}
	u.must(0, "audit", "verify")
	u.quiet()
}

// TestOneCent refuses the call that does not fit a budget of one cent, before it is made.
func TestOneCent(t *testing.T) {
	t.Parallel()
	prices := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(prices, []byte("mock-model: {in: 1000, out: 100000}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	u, srv := faulty(t, "openai", asking(modeltest.FixBug("sum.go", sumWorse, sumRight)), "  prices: "+prices,
		"budget:\n  run:\n    usd: 0.01")
	a := u.must(8, "run", "Sum(2, 3) is not 5", "--yes")
	if n := len(srv.Requests()); n != 0 {
		t.Errorf("%d requests were made: %v", n, a)
	}
	if !strings.Contains(a.err+a.out, "0.0100") {
		t.Errorf("the figures are missing: %v", a)
	}
}

// TestOneCall refuses the call that does not fit a budget of calls, blocks with the figures, and goes on at that call
// when more is allowed.
func TestOneCall(t *testing.T) {
	t.Parallel()
	u, _ := faulty(t, "openai", asking(modeltest.FixBug("sum.go", sumRight, sumRight)),
		"budget:\n  run:\n    calls: 1\n    minutes: 30")
	a := u.must(8, "run", "Sum(2, 3) is not 5", "--yes")
	if st := u.state("BLOCKED"); st.Blocked == nil || st.Blocked.Kind != "budget" ||
		st.Blocked.Error.Args[1] != "calls" {
		t.Errorf("blocked %+v", st.Blocked)
	}
	if !strings.Contains(a.out, "calls limit 1, used 1") || u.read("sum.go") != sumWrong {
		t.Errorf("%v", a)
	}
	if a := u.must(0, "budget"); !strings.Contains(a.out, "tool calls") ||
		!strings.Contains(a.out, "turns of agents") || !strings.Contains(a.out, "30.00") {
		t.Errorf("%v", a)
	}
	u.must(0, "config", "set", "budget.run.calls", "50")
	u.must(0, "fix", "-m", "more is allowed")
	u.state("IDLE")
	if u.read("sum.go") != sumRight {
		t.Error("the result did not land")
	}
	u.quiet()
}

// TestCallIsAskedAbout shows a person the one call that needs a word, and not the plan that was approved before.
func TestCallIsAskedAbout(t *testing.T) {
	t.Parallel()
	script := asking(modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{
		{Calls: []modeltest.Call{{Name: "delete_file", Args: `{"path":"sum_test.go"}`}}}, {Text: "done"},
	}}}})
	u, _ := faulty(t, "openai", script)
	u.must(9, "run", "Sum(2, 3) is not 5")
	u.must(9, "approve", u.status().Approval.Hash, "--yes")
	asked := u.status().Approval
	if asked == nil || asked.About != "call" {
		t.Fatalf("asked about %+v", asked)
	}
	for lang, want := range map[string]string{"en": "The agent wants to make a call", "zh-CN": "智能体要进行一次需要你确认的调用"} {
		a := u.must(9, "approve", asked.Hash, "--lang", lang)
		if !strings.Contains(a.out, want) || !strings.Contains(a.out, "sum_test.go") ||
			strings.Contains(a.out, "Mend Sum") {
			t.Errorf("%s: %v", lang, a)
		}
	}
	if u.read("sum_test.go") != sumTest {
		t.Error("the call was made")
	}
}
