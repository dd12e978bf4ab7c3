package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pawl/face/host"
	"pawl/internal/modeltest"
)

// generated builds a program over a client that is generated from the document of the API.
func generated(t *testing.T) string {
	t.Helper()
	dir, module := t.TempDir(), filepath.Join("..", "..", "internal", "contract")
	for from, to := range map[string]string{"go.mod": "go.mod", "go.sum": "go.sum", "testdata/demo/main.go": "main.go"} {
		raw, err := os.ReadFile(filepath.Join(module, from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), raw, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	client, program := filepath.Join(dir, "client.go"), filepath.Join(dir, "demo")
	for _, step := range []struct {
		dir  string
		args []string
	}{
		{module, []string{"run", "./client", filepath.Join("..", "..", "docs", "schema", "openapi.json"), client}},
		{dir, []string{"build", "-ldflags=-s", "-o", program, "."}},
	} {
		c := exec.Command("go", step.args...)
		c.Dir = step.dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(step.args, " "), err, out)
		}
	}
	return program
}

// TestAPIClient has a client that is generated from the document of the API run the demo over a server: it has a
// requirement taken up, approves the plan that it read, and sees the result land with its proof.
func TestAPIClient(t *testing.T) {
	t.Parallel()
	program := generated(t)
	u, _ := faulty(t, "openai", asking(modeltest.FixBug("sum.go", sumWorse, sumRight)))
	u.must(0, "init")
	token := decode[struct{ Token string }](u, "serve", "token", "new", "demo", "--scope", "approve").Token
	serve := u.start("serve", "--json")
	serve.mustSay("\n")
	var at host.Offered
	told, _ := serve.output()
	first, _, _ := strings.Cut(told, "\n")
	if err := json.Unmarshal([]byte(first), &at); err != nil {
		t.Fatalf("%v: %q", err, first)
	}
	c := exec.Command(program, at.URL, token, "Sum(2, 3) is not 5")
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	ended := serve.kill()
	var seen struct {
		Run, Goal, Commit, Verdict, By, Digest, Refused string
		Records                                         int64
		Kinds                                           map[string]int
	}
	if err == nil {
		err = json.Unmarshal(out, &seen)
	}
	if err != nil {
		t.Fatalf("%v: %s%s\n%v", err, out, said.String(), ended)
	}
	if seen.Goal != "mend Sum" || seen.Verdict != "proven" || seen.By != "user:ada" || seen.Refused != "approval_stale" ||
		seen.Commit == "" || seen.Commit != u.git("rev-parse", "HEAD") || u.read("sum.go") != sumRight ||
		seen.Records < 20 || seen.Kinds["run"] == 0 || seen.Kinds["task"] == 0 {
		t.Errorf("%+v", seen)
	}
	if shown := u.must(0, "show", seen.Run).out; !strings.Contains(shown, seen.Digest[:12]) {
		t.Errorf("another plan was approved: %s", shown)
	}
}
