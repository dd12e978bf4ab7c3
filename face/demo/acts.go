package demo

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"pawl/store/known"
	"pawl/text/display"

	"pawl/text/shell"

	"pawl"
	"pawl/agent/scripted"
)

// judged is the exit status of a run whose result a person has to look at (docs/exit-codes.md).
const judged = 9

// lie has the agent leave a stub and a test that asks for nothing. Nothing may land, even though every check passes and
// the plan is approved unseen: a test that passes without the work shows nothing.
func (s *stage) lie(ctx context.Context) error {
	s.begin(Lie, "demo.act.lie")
	s.model.Play(s.liar())
	status, err := s.run(ctx, show{}, "run", s.Text("demo.requirement"), "--agent", "llm", "--yes")
	if err != nil {
		return err
	}
	head, err := s.git(ctx, "git rev-parse HEAD && git status --porcelain")
	if err != nil {
		return err
	}
	weakened := false
	state := known.In(filepath.Join(stateHome(s.Dir), "pawl")).State(s.repo)
	trees, _ := filepath.Glob(filepath.Join(state, "worktrees", "*", testFile)) // the pattern is well-formed
	for _, t := range trees {
		weakened = weakened || !strings.Contains(content(t), "hello, Ada")
	}
	if status != judged || head != s.base || !weakened || !strings.Contains(content(filepath.Join(s.repo, testFile)),
		"hello, Ada") {
		return s.wrong(Lie, "status", strconv.Itoa(status), "HEAD", head, "weakened", strconv.FormatBool(weakened))
	}
	s.Tell(Scene{Kind: Said, Text: s.Text("demo.said.lie")})
	s.saw("demo.saw.lie", testFile, status, display.Hash(s.base))
	if status, err = s.run(ctx, show{paragraph: true}, "cancel", "-m", s.Text("demo.reason")); err != nil ||
		status == 0 {
		return err
	}
	return s.wrong(Lie, "cancel", strconv.Itoa(status))
}

// kill has the agent begin to work honestly, and kills pawl between what the agent did and what it would do next.
func (s *stage) kill(ctx context.Context) error {
	s.begin(Kill, "demo.act.kill")
	s.model.Play(s.honest(time.Hour))
	before := len(s.model.Requests())
	done := make(chan struct{})
	killed := 0
	status, err := s.call(ctx, show{}, func(pid int, kill func()) {
		go func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(10 * time.Millisecond):
				}
				if reached(s.model.Requests()[before:]) {
					killed = pid
					kill()
					return
				}
			}
		}()
	}, "run", s.Text("demo.requirement"), "--agent", "llm", "--yes")
	close(done)
	if err != nil {
		return err
	}
	if status >= 0 || killed == 0 {
		return s.wrong(Kill, "status", strconv.Itoa(status))
	}
	s.Tell(Scene{Kind: Command, Args: []string{"kill", "-9", strconv.Itoa(killed)}, Text: "kill -9 " +
		strconv.Itoa(killed)})
	s.note("demo.note.killed")
	if status, err = s.run(ctx, show{paragraph: true}, "status"); err != nil || status == 0 {
		return err
	}
	return s.wrong(Kill, "status", strconv.Itoa(status))
}

// reached reports whether the model was asked for what the honest script holds back.
func reached(asked []scripted.Request) bool {
	return slices.ContainsFunc(asked, func(r scripted.Request) bool { return r.Branch == 0 && r.Step == held })
}

// repair goes on with what was killed.
func (s *stage) repair(ctx context.Context) error {
	s.begin(Repair, "demo.act.repair")
	s.model.Play(s.honest(0))
	status, err := s.run(ctx, show{paragraph: true}, "resume")
	if err != nil {
		return err
	}
	parent, err := s.git(ctx, "git rev-parse HEAD^")
	if err != nil {
		return err
	}
	code, notes := content(filepath.Join(s.repo, codeFile)), content(filepath.Join(s.repo, notesFile))
	if status != 0 || parent != s.base || code != formatted || strings.Count(notes, note) != 1 {
		return s.wrong(Repair, "status", strconv.Itoa(status), "HEAD^", parent, codeFile, code, notesFile, notes)
	}
	t, err := s.recorded(ctx)
	if err != nil {
		return err
	}
	if t.again > 0 || t.repairs < 2 { // the lie was sent back once, and what was not formatted was repaired
		return s.wrong(Repair, "again", strconv.Itoa(t.again), "repairs", strconv.Itoa(t.repairs))
	}
	s.note("demo.note.lost", codeFile, notesFile)
	s.note("demo.note.twice", notesFile, t.calls)
	return nil
}

// proof shows what landed, and takes it back.
func (s *stage) proof(ctx context.Context) error {
	s.begin(Proof, "demo.act.proof")
	for _, args := range [][]string{{"show"}, {"undo"}, {"log"}} {
		status, err := s.run(ctx, show{}, args...)
		if err != nil {
			return err
		}
		if status != 0 {
			return s.wrong(Proof, args[0], strconv.Itoa(status))
		}
	}
	trees, err := s.git(ctx, "git rev-parse HEAD^{tree} "+s.base+"^{tree} && git rev-list --count HEAD")
	if err != nil {
		return err
	}
	if t := strings.Fields(trees); len(t) != 3 || t[0] != t[1] || t[2] != "3" {
		return s.wrong(Proof, "trees", trees)
	}
	s.note("demo.note.undone")
	return nil
}

// tally is what the audit log tells of: calls of tools, how often one was begun again, and repairs.
type tally struct{ calls, again, repairs int }

// recorded reads the audit log.
func (s *stage) recorded(ctx context.Context) (t tally, err error) {
	begun := map[string]int{}
	status, err := s.Pawl(ctx, Call{Dir: s.repo, Env: s.env(), Args: []string{"audit", "log", "--json"},
		Output: func(line string) {
			var r struct {
				Subject string
				Event   string `json:"event_type"`
				Payload struct{ Effect string }
			}
			switch {
			case json.Unmarshal([]byte(line), &r) != nil:
			case r.Event == "EFFECT_STARTED" && r.Payload.Effect == "tool.call":
				begun[r.Subject]++
			case r.Event == "FIX_PLANNED":
				t.repairs++
			}
		}})
	if err == nil && (status != 0 || len(begun) == 0) {
		err = s.wrong(Repair, "audit log", strconv.Itoa(status))
	}
	t.calls = len(begun)
	for _, n := range begun {
		t.again += n - 1
	}
	return t, err
}

// show says how much of a command's output is seen: all of it, or the first paragraph.
type show struct{ paragraph bool }

// run runs a command of pawl before everybody's eyes.
func (s *stage) run(ctx context.Context, how show, args ...string) (int, error) {
	return s.call(ctx, how, nil, args...)
}

func (s *stage) call(ctx context.Context, how show, started func(int, func()), args ...string) (int, error) {
	s.Tell(Scene{Kind: Command, Args: append([]string{"pawl"}, args...), Text: typed(args)})
	kind := Output
	status, err := s.Pawl(ctx, Call{Dir: s.repo, Env: s.env(), Args: args, Started: started, Output: func(line string) {
		if how.paragraph && line == "" {
			kind = Rest
		}
		s.Tell(Scene{Kind: kind, Text: line})
	}})
	if err == nil {
		s.Tell(Scene{Kind: Status, Status: status})
	}
	return status, err
}

// typed is a command line of pawl as it would be typed.
func typed(args []string) string {
	out := "pawl"
	for _, a := range args {
		if strings.ContainsFunc(a, unicode.IsSpace) {
			a = shell.Quote(a)
		}
		out += " " + a
	}
	return out
}

// env is what pawl is told of the model.
func (s *stage) env() map[string]string {
	return map[string]string{"PAWL_MODEL_KIND": "openai", "PAWL_MODEL_BASE_URL": s.model.URL + "/v1",
		"PAWL_MODEL_NAME": "a-script"}
}

func (s *stage) begin(act, key string)        { s.Tell(Scene{Kind: Act, Act: act, Text: s.Text(key)}) }
func (s *stage) note(key string, args ...any) { s.Tell(Scene{Kind: Note, Text: s.Text(key, args...)}) }
func (s *stage) saw(key string, args ...any)  { s.Tell(Scene{Kind: Saw, Text: s.Text(key, args...)}) }

// wrong is the error of an act that came out otherwise than it was told.
func (s *stage) wrong(act string, facts ...string) error {
	return pawl.Fail(pawl.CodeChecksFailed, "demo.wrong", act, strings.Join(facts, " ")).In("demo.Run")
}

// content is what a file holds, "" where it cannot be read.
func content(name string) string {
	raw, _ := os.ReadFile(name)
	return string(raw)
}
