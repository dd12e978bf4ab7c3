package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/agent"
	"pawl/agent/wire"
	"pawl/internal/modeltest"
)

var liveAgents = flag.String("agents", "",
	"names of external agents to drive, with commas, or all; they are installed by scripts/agents.sh")

// kindOf is the settings' name for an agent's wire form.
func kindOf(f wire.Form) string { return string(f.Provider()) }

// installed is the search path of the agents that scripts/agents.sh installed.
func installed(t testing.TB) string {
	t.Helper()
	dirs, err := filepath.Glob("../../.tools/agents/*/node_modules/.bin")
	if err != nil {
		t.Fatal(err)
	}
	for i := range dirs {
		if dirs[i], err = filepath.Abs(dirs[i]); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(dirs, ":")
}

// programs are the agents that the flag names.
func programs(t testing.TB) []agent.Program {
	t.Helper()
	if *liveAgents == "all" {
		return agent.Catalog()
	}
	return catalogued(t, strings.FieldsFunc(*liveAgents, func(r rune) bool { return r == ',' || r == ' ' }))
}

// driven are the agents that the flag names, or else those that make test found or could install (PAWL_TEST_AGENTS).
func driven(t testing.TB) []agent.Program {
	t.Helper()
	if all := programs(t); len(all) > 0 {
		return all
	}
	return catalogued(t, strings.Fields(os.Getenv("PAWL_TEST_AGENTS")))
}

// catalogued are the agents with these names.
func catalogued(t testing.TB, names []string) []agent.Program {
	t.Helper()
	var out []agent.Program
	for _, name := range names {
		p, ok := agent.Known(name)
		if !ok {
			t.Fatalf("there is no agent %s", name)
		}
		out = append(out, p)
	}
	return out
}

// versionOf is the version of an agent that is driven.
func versionOf(t testing.TB, p agent.Program) string {
	t.Helper()
	path, ok := p.Installed(func(program string) (string, bool) {
		for dir := range strings.SplitSeq(installed(t), ":") {
			path := filepath.Join(dir, program)
			if _, err := os.Stat(path); err == nil {
				return path, true
			}
		}
		return "", false
	})
	if !ok {
		t.Fatalf("%s is not installed", p.Name)
	}
	return p.At(path).Version
}

// TestAgents drives real coding agents against a scripted model: an edit that does not mend the bug, a check that
// fails, a repair, and a landed commit; and the same agent with a model that lies. Without the flag it drives those
// that make test found or could install (PAWL_TEST_AGENTS).
func TestAgents(t *testing.T) {
	t.Parallel()
	var report []string
	for _, p := range driven(t) {
		t.Run(p.Name, func(t *testing.T) {
			began := time.Now()
			u, srv := faulty(t, kindOf(p.Wire), modeltest.FixBug("sum.go", sumWorse, sumRight), "agent: "+p.Name)
			u.path = installed(t)
			a := u.must(0, "run", "Sum(2, 3) is not 5", "--yes", "--json")
			took := time.Since(began).Round(100 * time.Millisecond)
			if u.read("sum.go") != sumRight || u.git("rev-list", "--count", "HEAD") != "2" ||
				u.git("status", "--porcelain") != "" {
				t.Errorf("the result did not land: %v", a)
			}
			if got := strings.Join(u.states(),
				" "); got != "IDLE PLANNING CONFIRMING EXECUTING AUTO_FIX EXECUTING ARCHIVING IDLE" {
				t.Errorf("states %s", got)
			}
			u.must(0, "audit", "verify")
			u.quiet()
			requests := len(srv.Requests())
			for _, r := range srv.Requests() {
				if r.Key != "" && r.Key != "model-key" {
					t.Errorf("the endpoint saw the key %q", r.Key)
				}
			}
			u.must(0, "undo")
			srv.Play(modeltest.Liar())
			lied := u.pawl("run", "Sum(2, 3) is not 5", "--yes")
			if lied.code != 8 || u.read("sum.go") != sumWrong {
				t.Errorf("the liar came to its end: %v", lied)
			}
			report = append(report, fmt.Sprintf("| %s | %s | %s | %s | landed after one repair in %s, %d model requests | blocked, nothing landed |", p.Name, p.Kind, versionOf(t, p), p.Wire, took, requests))
		})
	}
	if len(report) > 0 {
		t.Logf("\n%s", strings.Join(report, "\n"))
		if name := os.Getenv("PAWL_AGENTS_REPORT"); name != "" {
			if err := os.WriteFile(name, []byte(strings.Join(report, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
