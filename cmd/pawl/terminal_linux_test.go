package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/terminaltest"
)

// sit starts pawl on a terminal of the user's.
func (u *user) sit(w, h int, args ...string) *terminaltest.Person {
	u.t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir, cmd.Env = u.dir, append([]string{"EDITOR=true"}, u.env(asPawl+"=1", "TERM=xterm-256color")...)
	return terminaltest.Sit(u.t.(*testing.T), w, h, cmd)
}

// unanswered is a workspace with a plan beside it that adds a file.
func unanswered(t *testing.T) *user {
	t.Helper()
	u := newUser(t)
	u.write("a.txt", "one\n")
	u.write(".gitignore", ".pawl/\n")
	u.repository()
	u.plan("goal: Add b\nsteps:\n  - step_id: s1\n    title: Add b\n    intent: Because\n    tool_calls:\n      - {name: write_file, args_hint: {path: b.txt, content: \"two\\n\"}}\n" +
		"verification: {mode: none, required: false, stop_on_fail: true}\nrisk_level: low\n")
	u.must(0, "init", "--yes")
	return u
}

// A plan that waits for a word is left by either key, looked at with commands and words, and carried out at last; the
// prompt works behind each of it.
func TestQuestionsInThePrompt(t *testing.T) {
	t.Parallel()
	u := unanswered(t)
	p := u.sit(100, 60)
	p.Sees("› ▮")
	p.Types("/run --plan ../plan.yaml\r")
	p.Sees("[n]o ▮")
	p.Types("\x03")
	p.Sees("waits for your word\n")
	p.Sees("› ▮")
	p.Types("/resume\r")
	p.Until("the question a second time", again(p, "[n]o ▮", "Approve plan", 2))
	for keys, says := range map[string]string{
		"what is going on?\r": "worked on by", "/status\r": "waits for you", "~help\r": "leave the question open",
		"exit\r": "“exit” is no answer here", "status\r": "waits for you",
		"pawl undo\r": "pawl undo has to wait", "\r": "An answer is needed",
		"\x1b[200~a\r\nb\x1b[201~\r": "“a” is no answer here", "e\r": "[n]o e\n", "r\r": "What should be different? ▮",
	} {
		p.Types(keys)
		p.Sees(says)
		if keys == "r\r" {
			p.Types("\x03")
		}
		p.Until("the question again", again(p, "[n]o ▮", "", 0))
	}
	p.Types("\x04")
	p.Sees("› ▮")
	p.Types("/resume\ry\r")
	p.Sees("Done · proven  Add b")
	p.Sees("IDLE › ▮")
	if u.read("b.txt") != "two\n" {
		t.Error("the plan was not carried out")
	}
	p.Types("exit\r")
	p.Ends()
}

// again reports whether the screen ends with what is asked, and holds a text so many times.
func again(p *terminaltest.Person, end, text string, times int) func() bool {
	return func() bool {
		s := p.Screen()
		return strings.HasSuffix(s, end+"\n") && (text == "" || strings.Count(s, text) >= times)
	}
}

// What a stage asks, and what is asked to understand a requirement, is left and taken up again as well.
func TestStagesInThePrompt(t *testing.T) {
	t.Parallel()
	u := unanswered(t)
	p := u.sit(100, 60)
	p.Sees("› ▮")
	p.Types("~plan rename the file a.txt to c.txt so that git log --follow shows it, and nothing else changes\r")
	question := func() bool {
		s := p.Screen()
		return strings.HasSuffix(s, "(n)? ▮\n") || strings.HasSuffix(s, "\n› ▮\n") || strings.HasSuffix(s, "\n> ▮\n")
	}
	p.Until("a question", question)
	for _, key := range []string{"\x03", "\x04"} {
		p.Types(key)
		p.Until("the prompt", again(p, " › ▮", "", 0))
		p.Types("/resume\r")
		p.Until("a question", question)
		p.Types("?\r")
		p.Sees("leave the question open")
	}
	p.Types("\x03")
	p.Until("the prompt", again(p, " › ▮", "", 0))
	p.Types("exit\r")
	p.Ends()
}

// Beside the prompt, a question that is left open ends the command with the status that says so, and what was typed
// behind it is the shell's.
func TestQuestionsOfACommand(t *testing.T) {
	t.Parallel()
	u := unanswered(t)
	for _, key := range []string{"\x03", "\x04"} {
		p := u.sit(20, 40, "run", "--plan", "../plan.yaml")
		p.Until("the question", func() bool {
			return strings.HasSuffix(p.Screen(), "▮\n") && strings.Contains(p.Screen(), "Approve plan")
		})
		p.Types(key)
		p.Ends()
		if code := p.Cmd.ProcessState.ExitCode(); code != 9 {
			t.Errorf("%q: status %d\n%s", key, code, p.Screen())
		}
		u.must(0, "deny")
	}
	p := u.sit(80, 40, "issue", "show")
	p.Sees("there is nothing to choose from")
	p.Ends()
	u.must(0, "issue", "add", "Mend the exporter")
	u.must(0, "issue", "add", "Mend the importer")
	p = u.sit(80, 40, "issue", "show")
	p.Sees("Which issue?")
	p.Types("importer\r")
	p.Sees("Which issue? ISS-")
	p.Sees("registered")
	p.Ends()
	u.must(2, "issue", "show")
	if _, err := os.Stat(filepath.Join(u.dir, "b.txt")); err == nil {
		t.Error("what nobody approved was done")
	}
}

// On the board what an issue asks is approved and denied by a key, after it was shown, and the board comes back.
func TestDecidingOnTheBoard(t *testing.T) {
	t.Parallel()
	u := unanswered(t)
	u.must(0, "issue", "add", "Add b", "--plan", "../plan.yaml")
	u.must(0, "issue", "add", "Add it again", "--plan", "../plan.yaml")
	u.must(0, "issue", "add", "Nothing asked")
	u.must(0, "issue", "plan", "ISS-1")
	u.must(0, "issue", "plan", "ISS-2")
	p := u.sit(100, 40, "board")
	whole := func() {
		p.Until("all issues", func() bool {
			return strings.Contains(p.Screen(), "a approve") && !strings.Contains(p.Screen(), "filter: ")
		})
	}
	whole()
	p.Types("/Nothing\r")
	p.Sees("› ISS-3")
	p.Types("a")
	p.Sees("ISS-3 asks nothing now")
	p.Types("\x1b")
	whole()
	p.Types("/again\r")
	p.Sees("› ISS-2")
	p.Types("d")
	p.Sees("Deny this for ISS-2? (y/n) ▮")
	p.Types("y\r")
	p.Sees("a approve")
	p.Types("\x1b")
	whole()
	p.Types("/Add b\r")
	p.Sees("› ISS-1")
	p.Types("a")
	p.Sees("[n]o ▮")
	p.Types("y\r")
	p.Sees("a approve")
	p.Types("q")
	p.Ends()
	if a := u.must(0, "show", "ISS-1"); !strings.Contains(a.out, "at the terminal") {
		t.Errorf("ISS-1 is not approved: %v", a)
	}
	if a := u.must(0, "show", "ISS-2"); !strings.Contains(a.out, "Declined") {
		t.Errorf("ISS-2 is not denied: %v", a)
	}
}

// At every question of the prompt whoever cancels cancels, is never taken at his word, and a ~command is heard.
func TestWordsAtTheQuestionsOfThePrompt(t *testing.T) {
	t.Parallel()
	u := unanswered(t)
	p := u.sit(100, 60)
	p.Sees("› ▮")
	question := func(end string) { p.Until("the question", again(p, end, "", 0)) }
	// What is asked to understand a requirement.
	for n, word := range []string{"cancel", "取消"} {
		p.Types("make it faster\r")
		question("\n> ▮")
		p.Types("what do you mean by that?\r")
		p.Sees("Where the work stands:")
		question("\n> ▮")
		p.Types(word + "\r")
		p.Until("the end of it", func() bool { return strings.Count(p.Screen(), "IDLE › ▮") == 1 })
		if log := u.must(0, "audit", "log").out; strings.Count(log, "PLANNING → IDLE  S05") != n+1 ||
			strings.Contains(log, "CLARIFYING → INTAKE") {
			t.Errorf("%s was an answer:\n%s", word, log)
		}
	}
	// What a stage asks.
	p.Types("make it faster\r")
	question("\n> ▮")
	p.Types("以现有需求继续\r")
	question("(n)? ▮")
	p.Types("~help\r")
	p.Sees("~rollback")
	question("(n)? ▮")
	p.Types("谢谢你的评估\r")
	question("(n)? ▮")
	p.Types("~auto tidy it up\r")
	question("[y/N] ▮")
	p.Types("n\r")
	question("› ▮")
	p.Types("/resume\r")
	question("(n)? ▮")
	p.Types("取消\r")
	question("IDLE › ▮")
	// The plan.
	p.Types("/run --plan ../plan.yaml\r")
	question("[n]o ▮")
	p.Types("r\r")
	question("What should be different? ▮")
	p.Types("取消\r")
	question("[n]o ▮")
	p.Types("~auto tidy it up\r")
	question("[y/N] ▮")
	p.Types("取消\r")
	question(" › ▮")
	p.Types("开始\r")
	question("IDLE › ▮")
	p.Types("exit\r")
	p.Ends()
	if log := u.must(0, "log").out; strings.Contains(log, "RUN-5") {
		t.Errorf("%s", log)
	}
}
