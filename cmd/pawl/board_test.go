package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/machine/board"
)

var (
	boardIssues = flag.Int("issues", 12, "how many issues the test of the board works on")
	boardKills  = flag.Bool("issuekills", false, "whether one worker is killed every five seconds in the long test of the board")
)

// backlogged is a user with a small Go module as a repository, whose files the plans of issues change.
func backlogged(t *testing.T) *user {
	t.Helper()
	u := newUser(t)
	u.write("go.mod", "module example.org/parts\n\ngo 1.24\n")
	u.write("parts.go", "// Package parts has a list that grows.\npackage parts\n\n// All are the parts.\nvar All []string\n")
	u.write("LIST.md", "# Parts\n\n"+strings.Repeat("A line that nobody changes.\n", 5)+"\n")
	u.write(".gitignore", ".attempts-*\n.pawl/\n")
	return u.repository()
}

// partPlan is a plan that adds a part in a file of its own and, where a shared file is named, a line to that.
func partPlan(n int, shared string, command string) string {
	name := fmt.Sprintf("part%03d", n)
	steps := []map[string]any{step("s1", call("write_file", map[string]any{
		"path": name + ".go", "content": fmt.Sprintf("package parts\n\n// %s is a part.\nconst %s = %d\n", exported(name), exported(name), n),
	}))}
	if shared != "" {
		steps = append(steps, step("s2", call("run_terminal_cmd", map[string]any{"command": fmt.Sprintf("printf '%%s\\n' %s >> %s", name, shared), "idempotent": false})))
	}
	if command != "" {
		steps = append(steps, step("s3", call("run_terminal_cmd", map[string]any{"command": command, "idempotent": true})))
	}
	text, err := document("Add "+name, steps, "go vet ./...")
	if err != nil {
		panic(err)
	}
	return text
}

func exported(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// issueLine is an issue as `pawl issue list --json` prints it.
type issueLine struct {
	ID, Label, Title string
	Status           board.IssueStatus
	Standing         string
	DependsOn        []string `json:"depends_on"`
	Retries          int
}

func (u *user) issues() []issueLine {
	u.t.Helper()
	var out []issueLine
	for line := range strings.Lines(u.must(0, "issue", "list", "--all", "--json").out) {
		var l issueLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			u.t.Fatalf("%v: %s", err, line)
		}
		out = append(out, l)
	}
	return out
}

// planFile writes a plan beside the folder and returns its path.
func (u *user) planFile(name, text string) string {
	u.t.Helper()
	path := filepath.Join(filepath.Dir(u.dir), name+".yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		u.t.Fatal(err)
	}
	return path
}

func TestIssuesLandInParallel(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	for n := range 3 {
		after := []string{"issue", "add", fmt.Sprint("part ", n), "--plan", u.planFile(fmt.Sprint("p", n), partPlan(n, "", ""))}
		if n == 2 {
			after = append(after, "--after", "ISS-1,2")
		}
		u.must(0, after...)
	}
	t.Log(u.must(0, "issue", "list").out)
	t.Log(u.must(0, "issue", "plan", "--all", "--yes").out)
	t.Log(u.must(0, "issue", "queue").out)
	a := u.pawl("issue", "execute", "--all", "--workers", "2")
	t.Log(a)
	for _, i := range u.issues() {
		if i.Status != board.IssueCompleted {
			t.Errorf("%s is %s, %s: %v", i.Label, i.Status, i.Standing, u.pawl("status", "--issue", i.Label))
		}
	}
	t.Log(u.git("log", "--oneline"))
	t.Log(u.must(0, "issue", "complete").out)
	t.Log(u.read(".pawl/state.json"), u.read(".pawl/state-history.json"))
	_ = rand.N[int]
	_ = time.Now
}
