//go:build unix

package externaltest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/acp"
	"pawl/agent/externaltest"
	"pawl/agent/headless"
	"pawl/agent/wire"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/text/message"
)

const (
	wrong = "package add\n\n// Add adds.\nfunc Add(a, b int) int { return a - b }\n"
	still = "package add\n\n// Add adds, nearly.\nfunc Add(a, b int) int { return a - b }\n"
	right = "package add\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n"
	proof = "package add\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(Add(1, 2))\n\t}\n}\n"
)

// TestLive drives the real agents that scripts/agents.sh installed into the folder that PAWL_AGENTS names, against a
// scripted model, without walls: an edit that is wrong, the repair in the same session, a lie, and a refused key.
// PAWL_AGENT chooses one of them.
func TestLive(t *testing.T) {
	dir := os.Getenv("PAWL_AGENTS")
	if dir == "" {
		t.Skip("PAWL_AGENTS names no folder; see scripts/agents.sh")
	}
	look := func(program string) (string, bool) {
		found, _ := filepath.Glob(filepath.Join(dir, "*/node_modules/.bin", program))
		if len(found) == 0 {
			return "", false
		}
		return found[0], true
	}
	var table []string
	for _, f := range agent.Detect(look) {
		if only := os.Getenv("PAWL_AGENT"); only != "" && only != f.Program.Name {
			continue
		}
		t.Run(f.Program.Name, func(t *testing.T) {
			table = append(table, fmt.Sprintf("%-16s %s", f.Program.Name, live(t, f)))
		})
	}
	t.Log("\n" + strings.Join(table, "\n"))
}

func live(t *testing.T, f agent.Found) string {
	home := t.TempDir()
	f, err := agent.AskVersion(t.Context(), externaltest.Start, f, home, sandbox.Environ(os.Environ(), nil))
	if err != nil {
		t.Errorf("version: %v", err)
	}
	row := fmt.Sprintf("%-9s tested %-5v", f.Version, f.Tested)
	files := map[string]string{"go.mod": "module add\n\ngo 1.26\n", "add.go": wrong, "add_test.go": proof}
	e := externaltest.Work(t, files, nil)
	server := modeltest.Go(t, fixBug(filepath.Join(e.Place.Tree, "add.go")))
	r, w, took := ask(t, f, e, server)
	if !r.OK || content(t, e) != still {
		for _, q := range server.Requests() {
			if i := strings.LastIndex(q.Body, "call_b0s0n0"); i >= 0 {
				t.Logf("told: %.700s", q.Body[max(0, i-100):])
			}
		}
		t.Fatalf("edit: %s %s %q %s\n%s", r.Code, r.Key, r.Args, r.Detail, w.Text)
	}
	row += fmt.Sprintf("  edit %4.1fs", took.Seconds())
	first := w.Session
	e.Spec = repair(t, e, w.Session)
	r, w, took = ask(t, f, e, server)
	if !r.OK || content(t, e) != right {
		t.Fatalf("repair: %s %s %q %s\n%s", r.Code, r.Key, r.Args, r.Detail, w.Text)
	}
	row += fmt.Sprintf("  repair %4.1fs  same session %-5v", took.Seconds(), first != "" && w.Session == first)
	row += asked(t, f, server, files)
	server.Play(modeltest.Liar())
	e = externaltest.Work(t, files, nil)
	r, w, _ = ask(t, f, e, server)
	if !r.OK || w.Control != effect.StepDone || content(t, e) != wrong {
		t.Errorf("lie: %s %s %q", r.Code, r.Key, w.Control)
	}
	server.Play(modeltest.Failing(401))
	e = externaltest.Work(t, files, nil)
	r, _, took = ask(t, f, e, server)
	if r.OK || r.Class != pawl.ClassModel && r.Code != pawl.CodeTimeout {
		t.Errorf("refused key: %+v", r)
	}
	return row + fmt.Sprintf("  401: %s (%s) %4.1fs", r.Code, r.Key, took.Seconds())
}

// asked has the agent judge and plan: each answer is malformed at first, and corrected in the same session. A planner
// that tries to write gets nowhere by the agent's own rules, or is caught.
func asked(t *testing.T, f agent.Found, server *modeltest.Server, files map[string]string) string {
	t.Helper()
	const requirement = "Rewrite Add so that it adds its arguments, in add.go and wherever it is used; go test passes"
	row := ""
	for _, c := range []struct {
		kind effect.Kind
		name string
		spec any
	}{
		{effect.KindIntake, "intake", effect.IntakeSpec{Requirement: requirement, Round: 1}},
		{effect.KindPlan, "plan", effect.PlanSpec{Requirement: requirement}},
	} {
		e := externaltest.Work(t, files, nil)
		e.Task, e.Kind, e.Spec = "", c.kind, effect.Encode(c.spec)
		server.Play(modeltest.Script{Branches: modeltest.Liar().Branches})
		r, took := answer(t, f, e, server)
		if !r.OK {
			t.Errorf("%s: %s %s %q %s", c.name, r.Code, r.Key, r.Args, r.Detail)
		}
		server.Play(modeltest.Script{Branches: modeltest.Liar().Branches,
			JSON: map[string]json.RawMessage{c.name + "#1": json.RawMessage(`{"goal":"half"}`)}})
		before := len(server.Requests())
		if r, _ = answer(t, f, e, server); !r.OK {
			t.Errorf("%s, corrected: %s %s %q %s", c.name, r.Code, r.Key, r.Args, r.Detail)
		}
		all := server.Requests()
		by := "words"
		for _, q := range all[before:] {
			if strings.Contains(q.Body, "structured_1") {
				by = "a tool"
			}
		}
		row += fmt.Sprintf("  %s %4.1fs (by %s, %d requests when corrected)", c.name, took.Seconds(), by, len(all)-before)
		if files, _ := filepath.Glob(filepath.Join(e.Place.Workspace, ".pawl", "agents", "*")); len(files) > 0 {
			t.Errorf("%s: left: %q", c.name, files)
		}
	}
	e := externaltest.Work(t, files, nil)
	e.Task, e.Kind, e.Spec = "", effect.KindPlan, effect.Encode(effect.PlanSpec{Requirement: requirement})
	add := filepath.Join(e.Place.Tree, "add.go")
	server.Play(modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{{Text: "Done."}}},
		{When: modeltest.Planning, Steps: []modeltest.Step{{Calls: []modeltest.Call{{Read: add}}},
			{Calls: []modeltest.Call{{Write: add, Content: right}}}, {Text: "I have done it already."}}}}})
	if r, _ := answer(t, f, e, server); r.OK {
		t.Errorf("a planner that writes: %+v", r)
	} else {
		row += "  writes: " + r.Key
	}
	return row + fmt.Sprintf(", written %v", content(t, e) != wrong)
}

// fixBug is modeltest.FixBug for agents that insist on absolute paths and on reading a file before they write it.
func fixBug(path string) modeltest.Script {
	edit := func(when, content, last string) modeltest.Branch {
		return modeltest.Branch{When: when, Steps: []modeltest.Step{
			{Text: "I look at it.", Calls: []modeltest.Call{{Read: path}}}, {Text: "I edit it.",
				Calls: []modeltest.Call{{Write: path, Content: content}}}, {Text: last},
		}}
	}
	return modeltest.Script{Branches: []modeltest.Branch{edit("", still, "Done, all tests pass."),
		edit(modeltest.Repairing, right, "Mended, all tests pass.")}}
}

func content(t *testing.T, e effect.Effect) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(e.Place.Tree, "add.go"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// repair is the spec of mending what pawl's own check found.
func repair(t *testing.T, e effect.Effect, session string) []byte {
	t.Helper()
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = e.Place.Tree
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the check passes before the repair: %s", out)
	}
	spec, decodeErr := effect.Decode[effect.WorkSpec](e.Spec)
	if decodeErr != nil {
		t.Fatal(decodeErr)
	}
	spec.Session = session
	spec.Failure = &effect.Failure{What: "go test ./...", Class: pawl.ClassBuildFail, Output: string(out)}
	return effect.Encode(spec)
}

func ask(t *testing.T, f agent.Found, e effect.Effect,
	server *modeltest.Server) (effect.Receipt, effect.WorkResult, time.Duration) {
	t.Helper()
	r, took := answer(t, f, e, server)
	return r, externaltest.Result(t, r), took
}

func answer(t *testing.T, f agent.Found, e effect.Effect, server *modeltest.Server) (effect.Receipt, time.Duration) {
	t.Helper()
	c := agent.External{
		Program: f.Program, Path: f.Path, Version: f.Version, Model: "mock-model", Start: externaltest.Start,
		Gateway: &externaltest.Gateway{URL: server.URL}, Text: message.English.Text,
		Environ: sandbox.Environ(os.Environ(), nil), Port: externaltest.Port(t), Timeout: 90 * time.Second,
	}
	if f.Program.Wire == wire.Gemini {
		c.Model = "gemini-2.5-pro"
	}
	var a agent.Agent = headless.New(c)
	if f.Program.Kind == agent.KindACP {
		a = acp.New(c)
	}
	host := externaltest.Judging{Host: &externaltest.Host{Tree: e.Place.Tree}}
	var mu sync.Mutex
	begin := time.Now()
	r := a.Do(t.Context(), e, host, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		if testing.Verbose() {
			fmt.Println("   ", f.Program.Name, "|", line)
		}
	})
	for _, a := range append(host.Host.Made(), host.Host.Judged()...) {
		fmt.Printf("    %s asked: %s %.80s\n", f.Program.Name, a.Name, a.Args)
	}
	return r, time.Since(begin)
}
