package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/face/host"
	"pawl/internal/golden"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// bothLanguages runs a scenario in English and in Chinese and compares its transcripts.
func bothLanguages(t *testing.T, name string, scenario func(c *console)) {
	for _, l := range [][2]string{{"en", "en_GB.UTF-8"}, {"zh", "zh_CN.UTF-8"}} {
		t.Run(l[0], func(t *testing.T) {
			c := newConsole(t, l[1])
			scenario(c)
			golden.Check(t, filepath.Join("testdata", name+"."+l[0]+".txt"), c.log.String())
		})
	}
}

func TestRunApproveDone(t *testing.T) {
	bothLanguages(t, "done", func(c *console) {
		c.must(3, "status")
		c.must(0, "init", "--bare")
		c.must(0, "init", "--bare")
		c.must(9, "run", "do the work")
		c.must(0, "status")
		c.must(0, "plan", "show")
		c.must(0, "approve", c.hash(), "--yes")
		c.must(0, "status")
		c.must(0, "task", "show", "1")
		c.must(0, "undo")
		c.must(3, "undo")
		c.must(0, "redo")
		c.must(0, "audit", "verify")
	})
}

// TestProofScreens shows runs that are proven, accepted, already so and not proven, which a stranger has to tell apart:
// each is looked at once it has come that far, and the one that waits at half the width as well.
func TestProofScreens(t *testing.T) {
	changed := []effect.FileStat{{Status: "M", Path: "a.txt"}}
	red := effect.Witness{Check: "tests", Kind: "test", Test: "TestAge", Without: effect.WithoutAssertion, Own: true,
		Texts: []string{"Age"}}
	so := effect.Witness{Criterion: "c1", Kind: "files", Check: "legacy.go", Without: effect.WithoutGreen}
	hollow := effect.Witness{Check: "tests", Kind: "test", Test: "TestAge", Without: effect.WithoutBuild, Own: true}
	age := plan.Criterion{ID: "c1", Text: "Age(born, today) gives the age in whole years, also on the day itself, and never less than 0",
		Proof: plan.ProofCheck, Texts: []string{"Age"}}
	gone := plan.Criterion{ID: "c1", Text: "legacy.go is gone", Proof: plan.ProofGone, Paths: []string{"legacy.go"}}
	first := map[string]string{}
	for _, v := range []struct {
		name      string
		criterion plan.Criterion
		seen      effect.ProveResult
		play      func(c *console)
	}{
		{"proven", age, effect.ProveResult{Changed: changed, Witnesses: []effect.Witness{red}},
			func(c *console) { c.must(0, "run", age.Text, "--yes") }},
		{"accepted", age, effect.ProveResult{Changed: changed, Witnesses: []effect.Witness{hollow},
			Parts: []effect.Part{{Path: "age.go", Line: 7, Name: "Age"}}}, func(c *console) {
			c.must(9, "run", age.Text, "--yes")
			c.must(0, "accept", "t1t1t1t1t1t1", "-m", "it is behind a flag, and the product owner has tried it by hand")
		}},
		{"already_so", gone, effect.ProveResult{Witnesses: []effect.Witness{so}},
			func(c *console) { c.must(0, "run", gone.Text, "--yes") }},
		{"unproven", age, effect.ProveResult{Changed: changed, Witnesses: []effect.Witness{hollow}}, func(c *console) {
			c.must(9, "run", age.Text, "--yes")
			c.width = 40
			c.must(0, "status")
			c.must(0, "show")
			c.width = 0
		}},
	} {
		bothLanguages(t, v.name, func(c *console) {
			c.host.world.plan.Goal, c.host.world.plan.Criteria = v.criterion.Text, []plan.Criterion{v.criterion}
			c.host.world.seen = &v.seen
			v.play(c)
			head, _, _ := strings.Cut(c.must(0, "status"), "\n")
			if other := first[head]; other != "" {
				t.Errorf("%s and %s both begin with %q", v.name, other, head)
			}
			first[head] = v.name
			c.must(0, "show")
			c.must(0, "log")
		})
	}
}

func TestRunBlockedAndTheWaysOn(t *testing.T) {
	bothLanguages(t, "blocked", func(c *console) {
		c.host.world.failChecks = 4
		c.must(8, "run", "do the work", "--yes")
		c.must(0, "status")
		c.must(9, "rollback")
		c.must(0, "fix", "-m", "mended it")
		c.host.world.failChecks = 4
		c.must(8, "run", "again", "--yes")
		c.must(0, "rollback", "--yes")
		c.host.world.failChecks = 4
		c.must(8, "run", "again", "--yes")
		c.must(0, "skip")
		c.must(0, "task", "list")
	})
}

func TestRunWithoutAKnownRepair(t *testing.T) {
	bothLanguages(t, "unknown", func(c *console) {
		c.host.world.failChecks, c.host.world.unknown = 1, true
		c.must(8, "run", "do the work", "--yes")
		c.must(0, "status")
		c.must(0, "task", "list")
		c.must(0, "fix", "-m", "mended it")
	})
}

func TestYesAndWhatCannotBeTakenBack(t *testing.T) {
	bothLanguages(t, "outward", func(c *console) {
		c.host.world.plan.Steps[1].ToolCalls[0].ArgsHint = json.RawMessage(`{"command":"git push origin main"}`)
		c.must(9, "run", "do the work", "--yes")
		c.must(0, "status")
		c.must(0, "approve", c.hash(), "--yes")
	})
}

// TestAFolderBecomesAWorkspaceWhenThatIsMeant plays the screens of each kind of folder.
func TestAFolderBecomesAWorkspaceWhenThatIsMeant(t *testing.T) {
	bothLanguages(t, "founding", func(c *console) {
		c.host.footing = host.Footing{Doubt: "plain"}
		c.must(3, "run", "do the work")
		c.host.footing = host.Footing{Doubt: "below", Other: "/w"}
		c.must(3, "run", "do the work", "--yes")
		c.host.footing = host.Footing{Doubt: "many", Other: "/w/a", Projects: 12}
		c.must(3, "run", "do the work", "--yes")
		c.must(3, "run", "do the work", "--json")
		c.host.footing = host.Footing{Doubt: "moved", Other: "/w/old"}
		c.must(3, "run", "do the work", "--yes")
		c.host.footing = host.Footing{Doubt: "in_tree", Other: "/w"}
		c.must(3, "run", "do the work", "--yes")
		c.host.footing = host.Footing{Doubt: "many", Other: "/w/a", Projects: 12}
		c.must(9, "run", "do the work", "--init")
		c.host.footing = host.Footing{Exists: true}
		c.must(0, "deny")
		c.host.footing = host.Footing{}
		c.must(9, "run", "do the work")
	})
}

func TestInPlace(t *testing.T) {
	bothLanguages(t, "inplace", func(c *console) {
		c.host.world.failChecks = 4
		c.must(8, "run", "do the work", "--yes", "--in-place")
		c.must(3, "undo", "--step", "s9")
		c.must(0, "undo", "--step", "s1")
		c.must(3, "undo", "--step", "s1")
		c.must(0, "redo")
		c.must(3, "redo")
		c.must(0, "rollback", "--yes")
		c.must(4, "rollback")
		c.must(0, "redo")
		c.must(9, "rollback")
		c.must(0, "rollback", "--yes")
		c.must(3, "undo")
		c.must(0, "status")
	})
}

func TestRepairedRun(t *testing.T) {
	bothLanguages(t, "repaired", func(c *console) {
		c.host.world.failChecks = 1
		c.must(0, "run", "do the work", "--yes")
		c.must(0, "task", "log", "T-001", "-n", "3")
	})
}

// A linter that is not installed is named before the approval and in the report.
func TestMissingLinter(t *testing.T) {
	bothLanguages(t, "left_out", func(c *console) {
		c.host.world.missing = "golangci-lint"
		c.must(9, "run", "do the work")
		c.must(0, "approve", c.hash(), "--yes")
		c.must(0, "task", "show", "1")
	})
}

// What the checks need and the machine has not is told before the approval, with the one command that fetches it.
func TestMissingModules(t *testing.T) {
	bothLanguages(t, "needs", func(c *console) {
		c.host.world.needs = []effect.Need{
			{Ecosystem: "go", Missing: []string{"github.com/mattn/go-colorable@v0.1.13",
				"github.com/mattn/go-isatty@v0.0.20"}, Count: 2, Command: "go mod download"},
			{Ecosystem: "node", Dir: "web", Missing: []string{"a", "b", "c", "d", "e"}, Count: 40, Command: "npm ci"},
		}
		c.must(9, "run", "do the work")
		c.must(8, "approve", c.hash(), "--yes")
		c.must(0, "rollback", "--yes")
		c.host.world.unaided = "make the checks pass"
		c.must(10, "run", "make the checks pass")
	})
}

// What was red before the work is told before the approval and in the report, as far as it is known.
func TestRedBefore(t *testing.T) {
	bothLanguages(t, "before", func(c *console) {
		c.host.world.tree, c.host.world.failChecks = "t1t1t1t1t1t1t1", 1
		c.must(15, "check")
		c.must(9, "run", "do the work")
		c.must(0, "approve", c.hash(), "--yes")
		c.host.world.failChecks = 4
		c.must(8, "run", "do more", "--yes")
	})
}

// Where nothing can mend the project by itself its checks are run, and what is red becomes a work order.
func TestChecksWithoutAFixer(t *testing.T) {
	bothLanguages(t, "checked", func(c *console) {
		c.host.world.unaided, c.host.world.missing = "make the checks pass", "golangci-lint"
		c.must(0, "run", "make the checks pass")
		c.host.world.failChecks = 3
		c.must(15, "run", "make the checks pass")
		c.host.agents = []host.AgentInfo{{Name: "early", Kind: "acp", State: "untested"},
			{Name: "codex", Kind: "acp", State: "ready"}}
		c.must(15, "run", "make the checks pass")
		fmt.Fprintf(&c.log, "%s\n", c.host.written[1])
		c.must(15, "check")
		c.must(0, "check")
		c.must(0, "status")
	})
}

func TestDenyReviseCannotPlan(t *testing.T) {
	bothLanguages(t, "answers", func(c *console) {
		c.must(9, "run", "do the work")
		c.must(2, "revise")
		c.must(9, "revise", "-m", "smaller")
		c.must(6, "approve", "00000000", "--yes")
		c.must(9, "approve", c.hash())
		c.must(0, "deny", "-m", "no")
		c.must(4, "deny")
		c.must(0, "resume")
		c.host.world.cannotPlan = true
		c.must(14, "run", "do magic")
		c.must(2, "run")
		c.must(3, "run", "--plan", "absent.yaml")
	})
}

func TestTasksByHand(t *testing.T) {
	bothLanguages(t, "tasks", func(c *console) {
		c.must(0, "init", "--bare")
		c.must(0, "task", "create", "measure")
		c.must(4, "task", "move", "T-001", "--to", "done")
		c.must(0, "task", "approve", "t-1")
		c.must(0, "task", "approve", "1")
		c.must(4, "task", "move", "1", "--to", "approved", "--strict")
		c.must(0, "task", "queue", "1")
		c.must(4, "task", "move", "1", "--to", "running")
		c.must(0, "task", "move", "1", "--to", "running", "--as", "runner")
		c.must(0, "task", "move", "1", "--to", "verifying", "--as", "runner")
		c.must(0, "task", "move", "1", "--to", "verified", "--as", "verifier")
		c.must(0, "task", "move", "1", "--to", "done", "--as", "system")
		c.must(4, "task", "cancel", "1")
		c.must(0, "task", "restart", "1")
		c.must(0, "task", "cancel", "T-002", "-m", "not needed")
		c.must(3, "task", "show", "T-009")
		c.must(13, "task", "move", "2", "--to", "nowhere")
		c.must(0, "task", "list", "--state", "done")
		c.must(0, "audit", "verify")
	})
}

func TestHelpAndMistakes(t *testing.T) {
	bothLanguages(t, "help", func(c *console) {
		c.must(0, "--help")
		c.must(0, "help", "--all")
		c.must(0, "run", "--help")
		c.must(0, "help", "task", "move")
		c.must(2, "statsu")
		c.must(2, "task", "shwo")
		c.must(2, "statsu", "--json=x")
		c.must(2, "run", "--plann", "x")
		c.must(2, "run", "--plan")
		c.must(2, "task", "list", "--limit", "many")
		c.must(2, "run", "a", "b")
		c.must(2, "task", "show", "a", "b")
		c.must(2, "machine", "show")
		c.must(3, "machine", "show", "car")
		c.must(2, "run", "x", "--mode", "bold")
		c.must(2, "run", "x", "--unattended", "--mode", "interactive")
		c.must(3, "-C", "/no/such/dir", "status")
		c.must(2, "completion", "tcsh")
	})
}

func TestOwnedByAnother(t *testing.T) {
	bothLanguages(t, "owned", func(c *console) {
		c.must(9, "run", "do the work")
		c.host.owner = &host.Owner{PID: 4711, Host: "mill", Started: time.Date(2026, 2, 8, 11, 0, 0, 0, time.UTC),
			Command: "pawl run \"x\x1b[2J\""}
		c.must(7, "run", "another")
		c.must(0, "status")
		c.must(4, "pause") // a plan that waits is no work
		c.must(0, "approve", c.hash(), "--yes")
		c.must(0, "pause")
		c.must(7, "undo")
		c.host.owner = nil
		c.must(0, "resume")
	})
}

func TestAnswersOnATerminal(t *testing.T) {
	for name, s := range map[string]struct {
		in   string
		exit int
		want []string
	}{
		"yes":    {"y\n", 0, []string{"Approve plan ", "Done"}},
		"no":     {"n\n", 5, []string{"Declined"}},
		"revise": {"r\nsmaller\ny\n", 0, []string{"What should be different?", "Done"}},
		"noise":  {"what\n\ny\n", 0, []string{"Done"}},
		"end":    {"", 9, []string{"waits for your word"}},
		"edit":   {"e\ny\n", 0, []string{"The plan is now", "do other work", "Done"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConsole(t, "en_GB.UTF-8")
			c.tty, c.in = true, s.in
			c.host.edit = func(path string) error {
				raw, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				return os.WriteFile(path, []byte(strings.Replace(string(raw), "do the work", "do other work", 1)),
					0o600)
			}
			out := c.must(s.exit, "run", "do the work")
			for _, w := range s.want {
				if !strings.Contains(out, w) {
					t.Errorf("no %q in\n%s", w, out)
				}
			}
		})
	}
}

// What was not shown cannot be approved: a plan that does not fit is shown whole before a yes counts.
func TestCutPlanMustBeSeen(t *testing.T) {
	c := newConsole(t, "en_GB.UTF-8")
	hidden := "echo ok" + strings.Repeat(" ", 200) + "; rm -rf build"
	long := strings.Repeat("line\n", 60) + "the end"
	raw, _ := json.Marshal(map[string]string{"path": "a.txt", "content": long})
	command, _ := json.Marshal(map[string]string{"command": "make 'a\u202eb'" + hidden[7:207] + "x"})
	c.host.world.plan.Steps = []plan.Step{step("s1", "write_file", string(raw)),
		step("s2", "run_terminal_cmd", string(command))}
	c.tty, c.in = true, "y\ny\n"
	out := c.must(0, "run", "do the work")
	first, rest, ok := strings.Cut(out, "Not all of it was shown")
	if !ok || strings.Contains(first, "the end") || !strings.Contains(rest, "the end") {
		t.Errorf("the whole plan was not shown before the approval:\n%s", out)
	}
	if !strings.Contains(first, `a\u{202e}b`) || !strings.Contains(first, "200 x space") ||
		!strings.Contains(first, "cannot be seen") {
		t.Errorf("hidden characters are not shown:\n%s", first)
	}
}

// A question that waits on one terminal is over as soon as it is answered on another.
func TestAnsweredElsewhere(t *testing.T) {
	c := newConsole(t, "en_GB.UTF-8")
	c.must(9, "run", "do the work")
	hash := c.hash()
	in, typed := io.Pipe()
	defer typed.Close()
	waiting := &console{t: t, host: c.host, env: c.env, tty: true, stdin: in}
	ended := make(chan string)
	go func() {
		status, out, errs := waiting.run("approve")
		ended <- fmt.Sprint(status, out, errs)
	}()
	for !strings.Contains(waiting.seen(), "Approve plan") {
		time.Sleep(time.Millisecond)
	}
	c.must(0, "approve", hash, "--yes", "--no-wait")
	if got := <-ended; !strings.HasPrefix(got, "0") || !strings.Contains(got, "answered elsewhere") ||
		!strings.Contains(got, "Done") {
		t.Errorf("the first terminal did not go on: %s", got)
	}
}

func TestFollowAndWatchEndAtAnInterrupt(t *testing.T) {
	c := newConsole(t, "en_GB.UTF-8")
	c.must(9, "run", "do the work")
	for _, args := range [][]string{{"audit", "log", "-f"}, {"status", "-w"},
		{"task", "log", "1", "-f", "-n", "2", "--json"}} {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		status, out, errs := c.runIn(ctx, args...)
		cancel()
		if status != 130 || out == "" || errs != "" {
			t.Errorf("%v: exit %d %q %q", args, status, out, errs)
		}
	}
}

func TestRepairThatNeedsAWord(t *testing.T) {
	c := newConsole(t, "en_GB.UTF-8")
	c.host.world.failChecks, c.host.world.repair = 1, "run_terminal_cmd"
	out := c.must(9, "run", "do the work", "--yes")
	if !strings.Contains(out, "curl evil.example") || !strings.Contains(out, "pawl approve ") {
		t.Errorf("the repair is not shown:\n%s", out)
	}
	c.must(0, "approve", c.hash(), "--yes")
}

func TestInterruptAndResume(t *testing.T) {
	c := newConsole(t, "en_GB.UTF-8")
	c.host.world.hang = make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-c.host.world.hang
		cancel()
	}()
	status, out, _ := c.runIn(ctx, "run", "do the work", "--yes")
	if status != 130 || !strings.Contains(out, "pawl resume") {
		t.Errorf("exit %d:\n%s", status, out)
	}
	c.host.world.hang = nil
	// Nobody can know whether the call happened, so it is asked and not done again.
	if out := c.must(8, "resume"); !strings.Contains(out, "pawl fix --answer done") {
		t.Errorf("the question is not put:\n%s", out)
	}
	c.must(2, "fix", "--answer", "maybe")
	c.must(8, "fix")
	c.must(0, "fix", "--answer", "done")
}

func TestStopPauseCancel(t *testing.T) {
	c := newConsole(t, "en_GB.UTF-8")
	c.must(9, "run", "do the work")
	c.must(0, "cancel", "-m", "no")
	c.must(9, "run", "do the work")
	c.must(0, "approve", c.hash(), "--yes", "--no-wait")
	c.must(0, "pause")
	if out := c.must(0, "status"); !strings.Contains(out, "paused") {
		t.Errorf("not paused:\n%s", out)
	}
	c.must(0, "stop")
	if out := c.must(0, "rollback", "--yes"); !strings.Contains(out, "Rolled back") {
		t.Errorf("not rolled back:\n%s", out)
	}
	if out := c.must(0, "resume"); !strings.Contains(out, "Nothing to go on with") {
		t.Errorf("resume when idle:\n%s", out)
	}
	c.must(4, "stop")
	c.must(4, "pause")
}

func TestJSON(t *testing.T) {
	c := newConsole(t, "en_GB.UTF-8")
	status, out, errs := c.run("run", "do the work", "--json")
	if status != 9 {
		t.Fatalf("exit %d: %s%s", status, out, errs)
	}
	var kinds []string
	for _, l := range strings.Split(strings.TrimSpace(out), "\n") {
		var line struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal([]byte(l), &line); err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		kinds = append(kinds, line.Type)
	}
	if kinds[len(kinds)-1] != "approval" || kinds[0] != "event" {
		t.Errorf("lines %v", kinds)
	}
	var f struct {
		Error struct {
			Code, Class, Message, Hint string
		}
	}
	if err := json.Unmarshal([]byte(errs), &f); err != nil || f.Error.Code != "approval_needed" ||
		f.Error.Class != string(pawl.ClassPolicyDenied) || f.Error.Hint == "" {
		t.Errorf("error %s: %v", errs, err)
	}
	_, out, _ = c.run("approve", c.hash(), "--yes", "--json")
	last := out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]
	var result struct {
		Type, Result, State string
		Summary             struct{ Outcome string }
	}
	if err := json.Unmarshal([]byte(last), &result); err != nil || result.Result != "ended" ||
		result.Summary.Outcome != "completed" || result.State != "IDLE" {
		t.Errorf("result %s: %v", last, err)
	}
	for _, args := range [][]string{
		{"status"}, {"plan", "show"}, {"task", "show", "1"}, {"machine", "list"}, {"machine", "show",
			"board"}, {"machine", "check"}, {"audit", "verify"},
		{"doctor"}, {"tools"}, {"tools", "read_file"}, {"config", "show"}, {"config", "path"}, {"config",
			"validate"}, {"export"}, {"version"}, {"init", "--bare"}, {"undo"},
	} {
		status, out, errs := c.run(append(args, "--json")...)
		if status != 0 || errs != "" {
			t.Errorf("%v: exit %d %s", args, status, errs)
		}
		for l := range strings.SplitSeq(strings.TrimSpace(out), "\n") {
			if !json.Valid([]byte(l)) {
				t.Errorf("%v: not JSON: %s", args, l)
			}
		}
	}
}

// Nothing that an agent, a file or a command wrote may reach the terminal as it is.
func TestHostileText(t *testing.T) {
	const bad = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\u202e\r"
	c := newConsole(t, "en_GB.UTF-8")
	w := c.host.world
	w.hostile, w.failChecks = bad+"\n", 4
	c.must(8, "run", "do"+bad+"it", "--yes")
	for _, args := range [][]string{
		{"status"}, {"plan", "show"}, {"task", "list"}, {"task", "show", "1"}, {"audit", "log"}, {"task", "log",
			"1"}, {"rollback"}, {"task", "show", bad}, {"run" + bad},
		{"fix", "--plan", bad}, {"skip", "-m", bad}, {"status"},
	} {
		_, out, errs := c.run(args...)
		if strings.ContainsAny(out+errs, "\x1b\x07\r\u202e") {
			t.Errorf("%q let control characters through:\n%q", args, out+errs)
		}
	}
}

func TestColourAndASCII(t *testing.T) {
	c := newConsole(t, "C")
	c.env["LANG"] = "C"
	c.must(0, "init", "--bare")
	if out := c.must(0, "status"); strings.ContainsAny(out, "✓•→\x1b") {
		t.Errorf("not ASCII:\n%s", out)
	}
	c.tty = true
	if out := c.must(0, "status"); !strings.Contains(out, "\x1b[") {
		t.Errorf("no colour on a terminal:\n%s", out)
	}
	for name, value := range map[string]string{"NO_COLOR": "1", "TERM": "dumb"} {
		c.env[name] = value
		if out := c.must(0, "status"); strings.Contains(out, "\x1b[") {
			t.Errorf("colour in spite of %s:\n%s", name, out)
		}
		delete(c.env, name)
	}
	if out := c.must(0, "status", "--no-color"); strings.Contains(out, "\x1b[") {
		t.Errorf("colour in spite of --no-color:\n%s", out)
	}
	if out := c.must(0, "status", "--lang", "zh", "--no-color"); !strings.Contains(out, "下一步") {
		t.Errorf("not Chinese:\n%s", out)
	}
}

// TestWhatPawlSaysStays: what a command writes is gone with it where nobody watches, and what pawl says of it stays.
func TestWhatPawlSaysStays(t *testing.T) {
	c := newConsole(t, "en_GB.UTF-8")
	c.host.world.says = "verify.compiling_std"
	out := c.must(0, "run", "make the checks pass", "--yes")
	if !strings.Contains(out, "    the first run here compiles") || strings.Contains(out, "working on") {
		t.Errorf("%s", out)
	}
}

func TestDemo(t *testing.T) {
	c := newConsole(t, "en_GB.UTF-8")
	c.host.scenes = []host.Scene{
		{Type: host.SceneAct, Act: "lie", Text: "1. A lie"}, {Type: host.SceneCommand, Args: []string{"pawl", "run"},
			Text: "pawl run"},
		{Type: host.SceneOutput, Text: "shown"}, {Type: host.SceneRest, Text: ""}, {Type: host.SceneRest,
			Text: "not shown"}, {Type: host.SceneStatus, Status: 9},
		{Type: host.SceneSaid, Text: "all \x1b[2J well"}, {Type: host.SceneSaw, Text: "nothing landed"},
		{Type: host.SceneStatus, Status: -1}, {Type: host.SceneRest, Text: "at the end"},
	}
	want := `
1. A lie

$ pawl run
shown
… (2 more)
exit status 9

the agent said  all \x1b[2J well
pawl saw        nothing landed
… (1 more)

All of it is in /tmp/a demo and stays there until you remove it:
  cd '/tmp/a demo/greeting' && pawl log  # look at it: diff, logs and audit verify work there, too
  rm -rf '/tmp/a demo'  # remove it
`
	if out := c.must(0, "demo"); out != want {
		t.Errorf("%s", out)
	}
	if d := c.host.shown; d.Dir != "" || d.Lang != "en" || d.Color {
		t.Errorf("%+v", d)
	}
	if c.must(0, "demo", "some/where"); !strings.HasSuffix(c.host.shown.Dir, "/some/where") {
		t.Errorf("%+v", c.host.shown)
	}
	out := strings.Split(strings.TrimSpace(c.must(0, "demo", "--json", "--lang", "zh-CN")), "\n")
	if len(out) != len(c.host.scenes)+1 || out[0] != `{"type":"act","act":"lie","text":"1. A lie"}` ||
		out[5] != `{"type":"status","status":9}` ||
		out[10] != `{"dir":"/tmp/a demo","repository":"/tmp/a demo/greeting","type":"result"}` {
		t.Errorf("%q", out)
	}
	if c.host.shown.Lang != "zh-CN" || c.host.shown.Text("demo.step") == "demo.step" {
		t.Errorf("%+v", c.host.shown)
	}
	c.must(2, "demo", "a", "b")
	// What goes wrong is told behind where it can be looked at.
	c.host.wrong = pawl.Fail(pawl.CodeChecksFailed, "demo.wrong", "lie", "status 0")
	if out := c.must(pawl.CodeChecksFailed.Info().Exit, "demo"); !strings.Contains(out, "rm -rf") {
		t.Errorf("%s", out)
	}
}

func TestExportAndTheRest(t *testing.T) {
	c := newConsole(t, "en_GB.UTF-8")
	c.must(0, "run", "make the checks pass", "--yes")
	c.must(0, "export")
	c.must(0, "export", "--backup", "copy.db")
	c.must(0, "audit", "export", "log.jsonl")
	c.must(6, "audit", "export", "log.jsonl")
	c.must(0, "audit", "checkpoint", "head.note")
	c.must(0, "audit", "verify", "--checkpoint", "head.note")
	c.must(0, "status", "--watch")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := c.must(0, "completion", shell); len(out) < 1000 {
			t.Errorf("completion for %s: %q", shell, out)
		}
	}
	c.host.broken = true
	c.must(11, "audit", "verify")
	raw, err := os.ReadFile(filepath.Join(c.host.dir, "log.jsonl"))
	if err != nil || !json.Valid(raw[:strings.IndexByte(string(raw), '\n')]) {
		t.Errorf("exported log: %v", err)
	}
}

func TestKeptOnABranchAndWithoutGit(t *testing.T) {
	c := newConsole(t, "en_GB.UTF-8")
	c.host.world.conflict = true
	if out := c.must(0, "run", "do the work", "--yes"); !strings.Contains(out, "git merge pawl/T-001") {
		t.Errorf("no merge command:\n%s", out)
	}
	c = newConsole(t, "en_GB.UTF-8")
	c.host.noGit = true
	if out := c.must(0, "init", "--bare"); !strings.Contains(out, "in place") {
		t.Errorf("init without git:\n%s", out)
	}
	c.must(0, "run", "do the work", "--yes")
}

func TestPlanFiles(t *testing.T) {
	c := newConsole(t, "en_GB.UTF-8")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(c.host.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("good.yaml", "goal: g\nsteps:\n  - step_id: s1\n    title: t\n    intent: i\n    tool_calls: [{name: write_file, args_hint: {path: a}}]\n")
	write("bad.yaml", "goal: g\nsteps:\n  - step_id: s1\n    titel: t\n    intent: i\n    tool_calls: [{name: write_fil, args_hint: {path: a}}]\n")
	write("tool.yaml", "goal: g\nsteps:\n  - step_id: s1\n    title: t\n    intent: i\n    tool_calls: [{name: write_fil, args_hint: {path: a}}]\n")
	c.must(0, "plan", "validate", "good.yaml")
	if out := c.must(13, "plan", "validate", "bad.yaml"); !strings.Contains(out, "bad.yaml:4:5") ||
		!strings.Contains(out, "title") {
		t.Errorf("no place and suggestion:\n%s", out)
	}
	if out := c.must(13, "plan", "validate", "tool.yaml"); !strings.Contains(out, "tool.yaml:6:") ||
		!strings.Contains(out, "write_file") {
		t.Errorf("no suggestion:\n%s", out)
	}
	c.must(13, "run", "--plan", "bad.yaml")
	if out := c.must(0, "plan", "validate", "--schema"); !json.Valid([]byte(out)) {
		t.Errorf("schema: %s", out)
	}
	c.must(9, "run", "--plan", "good.yaml")
	prd := c.must(0, "plan", "show", "--prd")
	write("plan.md", strings.Replace(prd, "do the work", "do less", 1))
	c.must(0, "plan", "edit", "--from", "plan.md")
	if out := c.must(0, "plan", "show", "--yaml"); !strings.Contains(out, "goal: do less") {
		t.Errorf("not edited:\n%s", out)
	}
	// The document was made from the plan as it was before.
	c.must(6, "plan", "edit", "--from", "plan.md")
	c.in = "goal: g\n"
	c.must(13, "run", "--plan", "-")
}

// TestAgentCheckScreen shows the stages of a check, of one that fails as well.
func TestAgentCheckScreen(t *testing.T) {
	bothLanguages(t, "check", func(c *console) {
		c.must(0, "agent", "check", "script")
		c.must(10, "agent", "check", "gone")
		c.must(10, "agent", "check", "gone", "--json")
		c.must(2, "agent", "check", "gone", "--limit", "0s")
	})
}

// TestAgentLoginScreens shows what is asked before an agent works with its user's own login, where it is asked, and how
// it is taken back.
func TestAgentLoginScreens(t *testing.T) {
	ends := time.Date(2026, 2, 18, 9, 30, 0, 0, time.UTC)
	bothLanguages(t, "login", func(c *console) {
		c.host.logins = map[string]host.AgentLogin{"codex": {
			Agent: "codex", Title: "Codex CLI", Maker: "OpenAI", Version: "0.169.0", Path: "/usr/bin/codex",
			Account: "ada@example.org", Plan: "plus", Kind: "subscription",
			Where: "/home/ada/.codex/auth.json", Expires: &ends, Renewer: "codex", Way: "gateway",
			Sites: []string{"chatgpt.com:443"}, Readable: true,
		}}
		c.must(0, "agent", "list")
		c.must(10, "run", "do the work", "--agent", "codex")
		c.must(9, "agent", "add", "codex")
		c.tty, c.in = true, "n\n"
		c.must(9, "agent", "add", "codex")
		c.must(10, "run", "do the work", "--agent", "codex")
		c.in = "y\nn\n"
		c.must(5, "run", "do the work", "--agent", "codex")
		c.must(0, "agent", "list")
		c.tty, c.host.removed = false, 1
		c.must(0, "agent", "add", "codex")
		c.must(0, "agent", "remove", "codex")
		c.must(0, "agent", "add", "codex", "--yes", "--json")
		c.must(3, "agent", "add", "other")
	})
}
