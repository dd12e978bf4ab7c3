package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pawl"
	"pawl/face/cli/term"
	"pawl/machine/task"
)

// byHand moves tasks of one workspace with `pawl task`, and knows how many audit records there are.
type byHand struct {
	*user
	records int
}

// seedMoves are the moves of docs/spec/task.md#s3 between two different states, each with an actor who may make it.
// They are written out here, so that the table is not its own judge.
var seedMoves = map[string]pawl.ActorKind{
	"draft approved": pawl.KindUser, "draft canceled": pawl.KindUser,
	"approved queued": pawl.KindSystem, "approved canceled": pawl.KindUser,
	"queued running": pawl.KindRunner, "queued canceled": pawl.KindUser,
	"running verifying": pawl.KindRunner, "running failed": pawl.KindRunner, "running canceled": pawl.KindUser,
	"running blocked":    pawl.KindRunner,
	"verifying verified": pawl.KindVerifier, "verifying failed": pawl.KindVerifier, "verifying canceled": pawl.KindUser,
	"verifying queued": pawl.KindGateRunner,
	"verified done":    pawl.KindSystem,
	"failed queued":    pawl.KindSystem,
	"blocked queued":   pawl.KindSystem, "blocked canceled": pawl.KindUser,
}

func seedMove(from, to task.State) (pawl.ActorKind, bool) {
	as, ok := seedMoves[string(from)+" "+string(to)]
	return as, ok
}

// wayTo lists the moves from a new draft to a state.
func wayTo(s task.State) []task.State {
	full := []task.State{task.Approved, task.Queued, task.Running, task.Verifying, task.Verified, task.Done}
	for i, to := range full {
		if to == s {
			return full[:i+1]
		}
	}
	switch s {
	case task.Canceled:
		return []task.State{task.Canceled}
	case task.Failed, task.Blocked:
		return append(full[:3:3], s)
	}
	return nil
}

// move asks for a move as the actor whose it is, or as the user where there is no such move.
func (b *byHand) move(label string, from, to task.State) answer {
	b.t.Helper()
	args := []string{"task", "move", label, "--to", string(to), "--reason", "test"}
	if as, ok := seedMove(from, to); ok {
		args = append(args, "--as", string(as))
	}
	if to == task.Failed {
		args = append(args, "--exit-reason", string(task.ExitTimeout))
	}
	return b.pawl(args...)
}

// taskIn makes a task and brings it to a state.
func (b *byHand) taskIn(s task.State) string {
	b.t.Helper()
	var made struct{ Label string }
	if err := json.Unmarshal([]byte(b.must(0, "task", "create", "on the way to "+string(s), "--json").out),
		&made); err != nil || made.Label == "" {
		b.t.Fatalf("task create: %v %+v", err, made)
	}
	at := task.Draft
	for _, to := range wayTo(s) {
		if a := b.move(made.Label, at, to); a.code != 0 {
			b.t.Fatalf("on the way to %s: %s to %s: %v", s, at, to, a)
		}
		at = to
	}
	b.size()
	return made.Label
}

// size counts the audit records and returns how many are new since it was asked last.
func (b *byHand) size() int {
	b.t.Helper()
	n := strings.Count(b.must(0, "audit", "log", "--json").out, "\n")
	more := n - b.records
	b.records = n
	return more
}

// TestAllTaskPairs is show 5: all 100 pairs of states, tried against a running store.
func TestAllTaskPairs(t *testing.T) {
	b := &byHand{user: newUser(t).repository()}
	b.must(0, "init")
	legal, same, refused := 0, 0, 0
	for _, from := range task.Table.States() {
		label := b.taskIn(from)
		var moves []task.State
		for _, to := range task.Table.States() {
			if _, ok := seedMove(from, to); ok {
				moves = append(moves, to) // they take the task away, so they come last
				continue
			}
			a := b.move(label, from, to)
			if more := b.size(); more != 0 {
				t.Errorf("%s to %s left %d audit records", from, to, more)
			}
			if from == to {
				same++
				if a.code != 0 || !strings.Contains(a.err, string(to)+" already") {
					t.Errorf("%s to itself: %v", from, a)
				}
				continue
			}
			refused++
			if a.code != 4 || !strings.Contains(a.err, string(from)) || !strings.Contains(a.err, string(to)) ||
				!strings.Contains(a.err, "next:") {
				t.Errorf("%s to %s is not refused with a reason and a next step: %v", from, to, a)
			}
			if slip := slipIn(a.err); slip != "" {
				t.Errorf("%s to %s shows %s", from, to, slip)
			}
		}
		for i, to := range moves {
			if i > 0 {
				label = b.taskIn(from)
			}
			legal++
			a := b.move(label, from, to)
			if a.code != 0 || !strings.Contains(a.out, string(to)) {
				t.Errorf("%s to %s: %v", from, to, a)
			}
			if b.size() == 0 {
				t.Errorf("%s to %s left no audit record", from, to)
			}
		}
	}
	if legal != 18 || same != 10 || refused != 72 {
		t.Errorf("%d legal, %d to themselves, %d refused; want 18, 10 and 72", legal, same, refused)
	}
	b.must(0, "audit", "verify")
}

// subcommands reads the names of the commands below one from its help.
func subcommands(help string) []string {
	var out []string
	listing := false
	for line := range strings.Lines(help) {
		switch {
		case !strings.HasPrefix(line, " "):
			title := strings.TrimSpace(line)
			listing = title != "" && title != "Usage" && title != "Examples" && !strings.Contains(title, "lags")
		case listing && strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   "):
			out = append(out, strings.Fields(line)[0])
		}
	}
	return out
}

// TestHelpOfEveryCommand walks the whole tree of commands through its own help, in both languages.
func TestHelpOfEveryCommand(t *testing.T) {
	u := newUser(t)
	seen := 0
	var walk func(path []string)
	walk = func(path []string) {
		seen++
		help := u.must(0, append(path, "--help")...).out
		zh := u.must(0, append(path, "--help", "--lang", "zh-CN")...).out
		if len(path) == 0 { // by itself it names only what people use most
			help += u.must(0, "help", "--all").out
			zh += u.must(0, "help", "--all", "--lang", "zh-CN").out
		}
		below := slices.Compact(slices.Sorted(slices.Values(subcommands(help))))
		for lang, text := range map[string]string{"en": help, "zh": zh} {
			if slip := slipIn(text); slip != "" {
				t.Errorf("%v (%s): %s", path, lang, slip)
			}
			for line := range strings.Lines(text) {
				if line = strings.TrimSuffix(line, "\n"); term.Width(line) > 80 && !strings.HasPrefix(line, "  pawl") {
					t.Errorf("%v (%s): wider than 80 columns: %q", path, lang, line)
				}
			}
		}
		if len(below) == 0 && !regexp.MustCompile(`\nExamples\n  pawl .*`+path[len(path)-1]).MatchString(help) {
			t.Errorf("%v has no example:\n%s", path, help)
		}
		if len(below) == 0 && !strings.Contains(zh, "\n示例\n") || !strings.Contains(zh, "\n用法\n") {
			t.Errorf("%v is not in Chinese:\n%s", path, zh)
		}
		for _, name := range below {
			walk(append(path[:len(path):len(path)], name))
		}
	}
	walk(nil)
	if seen < 50 {
		t.Errorf("only %d commands were found", seen)
	}
}

// TestReadingCommandsSpeakJSON asks every command that only reads for JSON and parses all of it, line by line or as
// one.
func TestReadingCommandsSpeakJSON(t *testing.T) {
	u := newUser(t)
	u.write("a.txt", "a\n")
	u.repository()
	file := u.plan(smallPlan)
	u.must(9, "run", "--plan", file)
	for _, line := range []string{
		"status", "plan show", "plan validate " +
			file, "task list", "task list --state draft", "task show", "task show T-001",
		"task log T-001", "machine list", "machine show task", "machine show board", "machine check", "audit log",
		"audit log T-001", "audit verify", "audit export", "tools", "tools grep", "doctor", "config show",
		"config path",
		"config validate", "version",
	} {
		a := u.must(0, append(strings.Fields(line), "--json")...)
		dec := json.NewDecoder(strings.NewReader(a.out))
		n := 0
		for dec.More() {
			var v any
			if err := dec.Decode(&v); err != nil {
				t.Errorf("pawl %s --json: %v\n%s", line, err, a.out)
				break
			}
			n++
		}
		if n == 0 || a.err != "" {
			t.Errorf("pawl %s --json: %d documents, and on the standard error %q", line, n, a.err)
		}
	}
	for line, code := range map[string]string{"task show T-9": "not_found", "task list --state x": "invalid",
		"nonsense": "usage", "run": "usage", "skip": "invalid_transition"} {
		a := u.pawl(append(strings.Fields(line), "--json")...)
		var got struct {
			Error struct{ Code, Class, Message, Hint string }
		}
		if err := json.Unmarshal([]byte(a.err), &got); err != nil || got.Error.Code != code ||
			got.Error.Message == "" || got.Error.Hint == "" || got.Error.Class == "" || a.out != "" {
			t.Errorf("pawl %s --json: %v %v", line, err, a)
		}
		if want := pawl.Code(code).Info().Exit; a.code != want {
			t.Errorf("pawl %s --json: exit status %d, want %d", line, a.code, want)
		}
	}
}

// smallPlan writes one file and checks that it is there.
const smallPlan = `goal: Say hello
steps:
  - step_id: s1
    title: Write hello
    intent: Somebody wants to be greeted
    tool_calls:
      - name: write_file
        args_hint: {path: hello.txt, content: "hello\n"}
verification: {mode: custom, commands: ["test -f hello.txt"], required: true, stop_on_fail: true}
risk_level: low
`

// TestExitCodesAreDocumented compares the page that people read with the table that the program uses.
func TestExitCodesAreDocumented(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "exit-codes.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[pawl.Code]int{}
	for _, row := range regexp.MustCompile(`(?m)^\| *(\d+) *\|(.*)$`).FindAllStringSubmatch(string(raw), -1) {
		status, _ := strconv.Atoi(row[1])
		for _, code := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[2], -1) {
			documented[pawl.Code(code[1])] = status
		}
	}
	for _, c := range pawl.Codes() {
		if status, ok := documented[c]; !ok || status != c.Info().Exit {
			t.Errorf("%s ends with %d; the page says %d (%t)", c, c.Info().Exit, status, ok)
		}
	}
}

// TestCompletion completes commands and flags as a shell would ask for it.
func TestCompletion(t *testing.T) {
	u := newUser(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if a := u.must(0, "completion", shell); !strings.Contains(a.out, "pawl") || slipIn(a.out) != "" {
			t.Errorf("completion for %s: %v", shell, a)
		}
	}
	for line, want := range map[string]string{"ta": "task", "task mo": "move", "run --pl": "--plan",
		"machine sho": "show"} {
		if a := u.pawl(append([]string{"__complete"}, strings.Fields(line)...)...); !strings.Contains(a.out, want) {
			t.Errorf("completing %q does not offer %s: %v", line, want, a)
		}
	}
	u.must(2, "completion", "tcsh")
}
