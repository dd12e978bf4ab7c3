package check

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pawl/text/display"

	"pawl"
	"pawl/agent"
	"pawl/agent/scripted"
)

// blockedStatus is the exit status of a run that stopped and needs a person.
const blockedStatus = 8

func cutLine(p []byte) (line, rest []byte, whole bool) { return bytes.Cut(p, []byte("\n")) }

// happened is a line of `pawl run --json`: a record, something that was said, or the result.
type happened struct {
	Event   string `json:"event"`
	Subject struct {
		Kind string `json:"kind"`
	} `json:"subject"`
	Data struct {
		Within  string          `json:"within"`
		By      string          `json:"by"`
		Score   int             `json:"score"`
		Session string          `json:"session"`
		Passed  bool            `json:"passed"`
		Tree    string          `json:"tree"`
		Commit  string          `json:"commit"`
		Branch  string          `json:"branch"`
		Agent   string          `json:"agent"`
		Fault   json.RawMessage `json:"fault"`
		Checks  []struct {
			Name   string `json:"gate_name"`
			Status string `json:"status"`
		} `json:"gates_executed"`
	} `json:"data"`
	Type  string `json:"type"`
	Kind  string `json:"kind"`
	Line  string `json:"line"`
	State string `json:"state"`
}

// flow is the honest run as it goes on.
type flow struct {
	*checker
	left     []string // the stages that are still to come
	err      error    // what contradicts the stage that goes on
	sessions map[string]bool
	asked    int
	proven   string
	checks   []string
}

// honest has the agent mend the fault.
func (c *checker) honest(ctx context.Context) error {
	f := &flow{checker: c, sessions: map[string]bool{}, left: []string{Judged, Planned, Edited, Refused, Mended,
		Reviewed, Proven, Landed}}
	if c.Kind == agent.KindScript {
		f.left = []string{Planned, Edited, Proven, Landed}
		if c.sample.repaired {
			f.left = []string{Planned, Edited, Refused, Mended, Proven, Landed}
		}
	}
	c.stage = f.left[0]
	c.model.Play(c.sample.script)
	err := c.pawl(ctx, 0, f.see, c.sample.honest...)
	switch {
	case f.err != nil:
		return f.err
	case err != nil:
		return err
	case len(f.left) > 0:
		return pawl.Fail(pawl.CodeChecksFailed, "check.not_seen").In("check.Run")
	}
	return nil
}

// step passes the stage that goes on, if it is the one named. What contradicts it is kept as the error instead, and
// nothing passes any more.
func (f *flow) step(stage string, err error, saw ...Phrase) {
	if f.err != nil || len(f.left) == 0 || f.left[0] != stage {
		return
	}
	if f.err = err; err != nil {
		return
	}
	f.pass(saw...)
	if f.left = f.left[1:]; len(f.left) > 0 {
		f.stage = f.left[0]
	}
}

func (f *flow) see(line []byte) {
	var h happened
	if json.Unmarshal(line, &h) != nil {
		return
	}
	if h.Type == "progress" && strings.HasPrefix(h.Kind, "agent.") {
		f.heard(h.Line)
	}
	switch h.Event {
	case "INTAKE_JUDGED":
		if h.Data.By == f.Agent {
			f.step(Judged, nil, Phrase{"check.saw_judgement", []string{strconv.Itoa(h.Data.Score)}})
		}
	case "APPROVAL_GRANTED":
		f.step(Planned, nil, f.planner())
	case "CALL_ALLOWED":
		f.asked++
	case "EFFECT_STARTED":
		if h.Data.Within != "" {
			f.asked++
		}
	case "AGENT_SESSION":
		f.sessions[h.Data.Session] = true
	case "STATE_TRANSITION_VERIFYING":
		if h.Subject.Kind != "turn" {
			return
		}
		f.step(Edited, f.edited(f.sample.first), f.worked()...)
		f.step(Mended, f.edited(f.sample.right), f.session()...)
	case "VERIFICATION_RESULT":
		f.verified(h)
	case "REVIEW_RESULT":
		var none error
		if len(h.Data.Fault) > 0 || h.Data.Agent != f.Agent {
			none = pawl.Fail(pawl.CodeModel, "check.not_reviewed").In("check.Run")
		}
		f.step(Reviewed, none, Phrase{Key: "check.saw_review"})
	case "RESULT_LANDED":
		var differs error
		if h.Data.Tree != f.proven {
			differs = pawl.Fail(pawl.CodeChecksFailed, "check.other_tree", f.proven, h.Data.Tree).In("check.Run")
		}
		f.step(Proven, differs, Phrase{"check.saw_proof", []string{strings.Join(f.checks, ", "), display.Hash(h.Data.Tree)}})
		f.step(Landed, f.landed(), Phrase{"check.saw_commit", []string{display.Hash(h.Data.Commit), h.Data.Branch}})
	}
}

// verified takes a verdict of pawl's own checks.
func (f *flow) verified(h happened) {
	f.checks = nil
	var bad string
	for _, g := range h.Data.Checks {
		f.checks = append(f.checks, g.Name)
		if g.Status != "passed" && bad == "" {
			bad = g.Name
		}
	}
	if h.Data.Passed {
		f.proven = h.Data.Tree
		f.step(Refused, pawl.Fail(pawl.CodeChecksFailed, "check.believed").In("check.Run"))
		return
	}
	f.step(Refused, nil, Phrase{"check.saw_failure", []string{bad}})
}

// planner says who made the plan.
func (f *flow) planner() Phrase {
	if len(f.sample.plans) > 0 {
		return Phrase{Key: "check.saw_plan_given"}
	}
	return Phrase{Key: "check.saw_plan_model"}
}

// worked says how the agent worked: how often its model was asked, and whether it asked pawl before it acted.
func (f *flow) worked() []Phrase {
	if f.Kind == agent.KindScript {
		return nil
	}
	saw := []Phrase{{"check.saw_requests", []string{strconv.Itoa(len(f.model.Requests()))}}}
	switch {
	case f.Kind == agent.KindModel:
		return append(saw, Phrase{Key: "check.saw_each"})
	case f.asked > 0:
		return append(saw, Phrase{"check.saw_asked", []string{strconv.Itoa(f.asked)}})
	}
	return append(saw, Phrase{Key: "check.saw_walls"})
}

// session says whether the repair went on with the session of the first attempt: the same one, and a model that was
// told of what was said in it.
func (f *flow) session() []Phrase {
	if f.Kind != agent.KindACP && f.Kind != agent.KindHeadless {
		return nil
	}
	remembered := false
	for _, r := range f.model.Requests() {
		remembered = remembered || r.Branch == 1 && strings.Contains(r.Body, scripted.Finished)
	}
	if len(f.sessions) == 1 && remembered {
		return []Phrase{{Key: "check.saw_resumed"}}
	}
	return []Phrase{{Key: "check.saw_anew"}}
}

// edited says whether the file in the task's own tree is as the model wrote it, and the user's as it was.
func (f *flow) edited(want string) error {
	// the pattern is well-formed
	trees, _ := filepath.Glob(filepath.Join(f.checker.State, "workspaces", "*", "worktrees", "*", f.sample.file))
	if len(trees) != 1 || content(trees[0]) != want {
		return pawl.Fail(pawl.CodeModel, "check.not_edited", f.sample.file).In("check.Run")
	}
	if content(f.userFile()) != f.sample.fault {
		return pawl.Fail(pawl.CodeDenied, "check.outside", f.sample.file).In("check.Run")
	}
	for _, r := range f.model.Requests() {
		if r.Key != "" && r.Key != modelKey {
			return pawl.Fail(pawl.CodeDenied, "check.foreign_key").In("check.Run")
		}
	}
	return nil
}

func (c *checker) userFile() string { return filepath.Join(c.work, c.sample.file) }

// content is what a file holds, "" where it cannot be read.
func content(name string) string {
	raw, _ := os.ReadFile(name)
	return string(raw)
}

// landed says whether the user's branch holds the result, and nothing else lies about.
func (f *flow) landed() error {
	if content(f.userFile()) != f.sample.right {
		return pawl.Fail(pawl.CodeChecksFailed, "check.not_landed", f.sample.file).In("check.Run")
	}
	return nil
}

// undo takes the result back.
func (c *checker) undo(ctx context.Context) error {
	c.stage = Undone
	if err := c.pawl(ctx, 0, nil, "undo"); err != nil {
		return err
	}
	if content(c.userFile()) != c.sample.fault {
		return pawl.Fail(pawl.CodeChecksFailed, "check.not_undone", c.sample.file).In("check.Run")
	}
	c.pass()
	return nil
}

// lie has a model say that all is done where nothing was.
func (c *checker) lie(ctx context.Context) error {
	c.stage = Liar
	liar := scripted.Liar()
	liar.JSON = c.sample.script.JSON
	c.model.Play(liar)
	c.fixes = 1
	before, err := c.git(ctx, "git rev-parse HEAD")
	if err != nil {
		return err
	}
	state := ""
	err = c.pawl(ctx, blockedStatus, func(line []byte) {
		var h happened
		if json.Unmarshal(line, &h) == nil && h.Type == "result" {
			state = h.State
		}
		if h.Type == "progress" && strings.HasPrefix(h.Kind, "agent.") {
			c.heard(h.Line)
		}
	}, c.sample.lying...)
	if err != nil {
		return err
	}
	after, err := c.git(ctx, "git rev-parse HEAD && git status --porcelain")
	if err != nil {
		return err
	}
	if state != "BLOCKED" || before != after || content(c.userFile()) != c.sample.fault {
		return pawl.Fail(pawl.CodeChecksFailed, "check.lie_believed", state).In("check.Run")
	}
	c.pass(Phrase{Key: "check.saw_blocked"})
	return nil
}

// quiet looks for processes that are still at work in the folder, where the system tells of them.
func (c *checker) quiet(context.Context) error {
	c.stage = Quiet
	var left []string
	entries, _ := os.ReadDir("/proc") // other systems have none
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		dir, err := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		if err == nil && (dir == c.Dir || strings.HasPrefix(dir, c.Dir+string(filepath.Separator))) {
			left = append(left, e.Name())
		}
	}
	if len(left) > 0 {
		return pawl.Fail(pawl.CodeEnvironment, "check.not_quiet", strings.Join(left, ", ")).In("check.Run")
	}
	c.pass()
	return nil
}
