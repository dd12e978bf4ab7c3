package parity

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/issues"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/recovery"
	"pawl/kernel/steps"
	"pawl/kernel/tasks"
	"pawl/kernel/verification"
	"pawl/machine/board"
	"pawl/machine/task"
	"pawl/text/plan"
	"pawl/text/triage"
)

// scenes are the ways on which work goes, one for each thing that can become of it.
func scenes() map[string]func(*lab) {
	out := map[string]func(*lab){}
	for _, some := range []map[string]func(*lab){endings(), flows(), asking(), alone(), together()} {
		maps.Copy(out, some)
	}
	return out
}

// proofs has work shown before it lands.
func proofs(c *kernel.Config) { c.Proofs = true }

func hollow() *world {
	w := twoSteps()
	w.plan.Criteria = []plan.Criterion{{ID: "c1", Text: "Age gives the age", Proof: plan.ProofCheck, Texts: []string{"Age"}}}
	w.prove = &effect.ProveResult{Changed: []effect.FileStat{{Status: "M", Path: "a.txt"}},
		Witnesses: []effect.Witness{{Check: "tests", Kind: "test", Test: "TestAge", Without: effect.WithoutBuild, Own: true}}}
	return w
}

// endings are the ends of a run: proven or not, taken back, given up.
func endings() map[string]func(*lab) {
	return map[string]func(*lab){
		"done, undone and redone": func(l *lab) {
			w := twoSteps()
			l.start(w, planning.Start{})
			l.run(w)
			l.do(&recovery.Undo{})
			l.run(w)
			l.do(&recovery.Redo{})
			l.run(w)
		},
		"mended": func(l *lab) {
			w := twoSteps()
			w.failChecks = 1
			l.start(w, planning.Start{})
			l.run(w)
		},
		"blocked, fixed, blocked and skipped": func(l *lab) {
			w := twoSteps()
			w.failChecks = 4
			l.start(w, planning.Start{})
			l.run(w)
			l.do(&recovery.Fix{Note: "mended it"})
			w.failChecks = 4
			l.run(w)
			l.do(&recovery.Skip{Reason: "not worth it"})
			l.run(w)
		},
		"blocked and rolled back": func(l *lab) {
			w := twoSteps()
			w.failChecks = 4
			l.start(w, planning.Start{})
			l.run(w)
			l.do(&recovery.Rollback{Reason: "no"})
			l.run(w)
		},
		"stopped": func(l *lab) {
			w := twoSteps()
			w.failChecks = 9
			l.start(w, planning.Start{})
			l.run(w, "AUTO_FIX")
			l.do(&recovery.Stop{})
			l.run(w)
		},
		"gates that fail": func(l *lab) {
			w := twoSteps()
			w.failGates = 9
			l.start(w, planning.Start{})
			l.run(w)
		},
		"paused and canceled": func(l *lab) {
			w := twoSteps()
			l.start(w, planning.Start{})
			l.run(w, "task running")
			l.do(&control.Pause{})
			l.do(&control.Resume{})
			l.do(&control.Pause{})
			l.do(&control.CancelRun{Reason: "no"})
			l.do(&control.Resume{}) // as every face has it after a command that is to be carried out
			l.run(w)
		},
		"a runner that was killed": func(l *lab) {
			w := twoSteps()
			l.start(w, planning.Start{})
			for l.at().Effect == nil || l.at().Effect.Effect.Kind != effect.KindTool {
				l.act(w)
			}
			id := l.at().Effect.ID
			l.do(&effects.Begin{Effect: id, Owner: "r1", Tree: "t0"})
			l.now = l.now.Add(l.k.Config().LeaseTime)
			l.do(&steps.Claim{Task: l.at().Task.ID, Owner: "r1"})
			l.do(&effects.Recover{Effect: id, Answer: effect.DoneUnknown, Tree: "t2"})
			l.run(w)
		},
		"no plan": func(l *lab) {
			w := twoSteps()
			w.failPlan = true
			l.do(&planning.Start{Requirement: "do the work", Place: place(), RunMode: pawl.Assisted})
			l.run(w)
		},
		"denied and revised": func(l *lab) {
			w := twoSteps()
			l.do(&planning.Start{Requirement: "do the work", Place: place(), RunMode: pawl.Assisted})
			l.run(w, "CONFIRMING")
			l.do(&planning.Revise{Feedback: "another way"})
			l.run(w, "CONFIRMING")
			l.do(&approval.Deny{Reason: "no"})
			l.run(w)
		},
	}
}

// flows are those of ~commands.
func flows() map[string]func(*lab) {
	out := map[string]func(*lab){}
	for name, c := range map[string]struct {
		command string
		score   int
		factors triage.Factors
	}{
		"~auto, by a design": {"~auto", 8, triage.Factors{Design: triage.DesignFull, Extent: triage.ExtentCross}},
		"~auto, a tweak":     {"~auto", 9, triage.Factors{Design: triage.DesignNone, Extent: triage.ExtentPoint}},
		"~plan":              {"~plan", 8, triage.Factors{Design: triage.DesignSimple, Extent: triage.ExtentLocal}},
	} {
		out[name] = func(l *lab) {
			w := twoSteps()
			w.plan.Steps[0].ExpectedArtifacts = []plan.Artifact{{Type: plan.ArtifactFile, Value: "a.go"}}
			w.evaluation = judged(c.score, c.factors)
			l.do(&planning.Start{Requirement: "add a flag", Command: c.command, Place: place(), RunMode: pawl.Assisted})
			l.run(w)
			if a := l.at().Approval; a != nil && a.State == kernel.ApprovalPending && a.About == "plan" {
				l.do(&approval.Approve{Hash: a.Hash})
				l.run(w)
			}
		}
	}
	return out
}

// asking are the things that a person is asked.
func asking() map[string]func(*lab) {
	return map[string]func(*lab){
		"what is meant": func(l *lab) {
			w := twoSteps()
			w.questions = []string{"which flag?"}
			l.do(&planning.Start{Requirement: "add a flag", Agent: "m", Place: place(), RunMode: pawl.Assisted})
			l.run(w)
			l.do(&steps.AnswerQuestions{Answers: []string{"-v"}})
			l.run(w)
		},
		"a question of an agent that does no work here": func(l *lab) {
			l.by("agent:mcp/x", &steps.Ask{Question: "which branch?"})
			l.by("agent:mcp/x", &steps.Ask{Question: "which file?"})
			l.do(&steps.AnswerQuestions{Question: "q-1", Answers: []string{"main"}})
			l.do(&steps.AnswerQuestions{Question: "q-2"})
		},
		"a question of the agent at work, and a call that needs a word": func(l *lab) {
			ask := effect.Ask{ID: "b", Name: effect.AskHuman, Args: json.RawMessage(`{"question":"keep the flag?"}`)}
			run := effect.Ask{ID: "c", Name: "run", Args: json.RawMessage(`{"command":"git push origin main"}`)}
			wants := func(a effect.Ask) effect.WorkResult {
				return effect.WorkResult{Said: effect.Said{Agent: "m", Usage: usage()}, Control: effect.Calls, Asks: []effect.Ask{a},
					Messages: []effect.Message{{Role: effect.RoleAssistant, Calls: []effect.Ask{a}}}}
			}
			w := oneTask(wants(ask), wants(run))
			l.start(w, planning.Start{Agent: "m"})
			l.run(w)
			l.do(&steps.AnswerQuestions{Answers: []string{"no"}})
			l.run(w)
			if a := l.at().Approval; a == nil || a.State != kernel.ApprovalPending {
				l.Fatalf("nobody is asked: %s", l.at().Session.State)
			}
			l.do(&approval.Approve{Hash: l.at().Approval.Hash})
			l.run(w)
		},
	}
}

// alone are tasks outside of runs, one in each state.
func alone() map[string]func(*lab) {
	way := map[task.State][]task.State{task.Draft: {}, task.Approved: {task.Approved}}
	way[task.Queued] = append(slices.Clone(way[task.Approved]), task.Queued)
	way[task.Running] = append(slices.Clone(way[task.Queued]), task.Running)
	way[task.Verifying] = append(slices.Clone(way[task.Running]), task.Verifying)
	way[task.Verified] = append(slices.Clone(way[task.Verifying]), task.Verified)
	way[task.Done] = append(slices.Clone(way[task.Verified]), task.Done)
	way[task.Failed] = append(slices.Clone(way[task.Running]), task.Failed)
	way[task.Blocked] = append(slices.Clone(way[task.Running]), task.Blocked)
	way[task.Canceled] = []task.State{task.Canceled}
	return map[string]func(*lab){"tasks outside of runs": func(l *lab) {
		for _, state := range task.Table.States() {
			var id string
			if err := json.Unmarshal(l.do(&tasks.CreateTask{Title: "make it " + string(state)}).Result, &id); err != nil {
				l.Fatal(err)
			}
			for _, to := range way[state] {
				l.move(id, to)
			}
		}
	}}
}

// move has a task make a move as its own actor would.
func (l *lab) move(id string, to task.State) {
	l.Helper()
	s, err := l.k.TaskSnapshot(l.Context(), id)
	if err != nil {
		l.Fatal(err)
	}
	by := pawl.Actor("user:ada")
	if r, ok := task.Table.Between(task.State(s.Task.State), to); ok {
		by = pawl.By(r.Actors[0], "test")
	}
	if to == task.Verified {
		var gates string
		var e effect.Effect
		if err := json.Unmarshal(l.do(&tasks.RequestGates{Task: id}).Result, &gates); err != nil {
			l.Fatal(err)
		}
		if err := json.Unmarshal(l.do(&effects.Begin{Effect: gates, Owner: "r1"}).Result, &e); err != nil {
			l.Fatal(err)
		}
		l.do(&effects.Report{Effect: gates, Token: e.Token, Receipt: twoSteps().checked(effect.KindGates)})
	}
	l.by(by, &kernel.Transition{Task: id, To: to, Reason: "test", Exit: task.ExitException, Owner: "r1", Token: s.Task.Epoch})
}

// together are issues of the board.
func together() map[string]func(*lab) {
	return map[string]func(*lab){"the board": func(l *lab) {
		l.do(&issues.AddIssues{Issues: []issues.NewIssue{{Ref: "a", Title: "first", Tags: []string{"api"}}, {Ref: "b", Title: "held", Paused: true},
			{Title: "behind", After: []string{"a", "b"}}, {Ref: "d", Title: "in vain", Priority: 1}, {Title: "behind that", After: []string{"d"}}}})
		l.do(&issues.MoveBoard{Action: board.List})
		one := l.planned("ISS-1", twoSteps())
		l.do(&approval.Approve{Hash: l.at().Approval.Hash})
		l.leave(one)
		if one = l.take("ISS-1", false); one == nil {
			l.Fatal("it is not taken")
		}
		l.k = l.own.Session("ISS-1")
		l.run(twoSteps())
		l.leave(one)
		l.do(&issues.Release{Issue: one.Issue})
		vain := twoSteps()
		vain.failPlan = true
		two := l.take("ISS-4", true)
		l.k = l.own.Session("ISS-4")
		l.do(&planning.Start{Issue: two.Issue, Token: two.Token, Place: place(), RunMode: pawl.Assisted})
		l.run(vain)
		l.leave(two)
		asks := l.planned("ISS-5", twoSteps())
		l.leave(asks)
		lost := l.take("ISS-3", true)
		l.now = l.now.Add(l.own.Config().LeaseTime)
		l.all.looked = map[string]bool{} // the time has gone on, and nothing else
		l.look()
		l.leave(lost)
		l.do(&issues.MoveBoard{Action: board.Complete})
	}}
}

func (l *lab) take(label string, planning bool) (t *issues.Taken) {
	l.Helper()
	i, err := query.Of(l.own).Board().Issue(l.Context(), label)
	if err != nil {
		l.Fatal(err)
	}
	out := l.do(&issues.ClaimIssue{Owner: "host/1", Planning: planning, Issue: i.ID, Now: l.now.Add(time.Second), Branch: "main"})
	if err := json.Unmarshal(out.Result, &t); err != nil {
		l.Fatal(err)
	}
	return t
}

// planned takes an issue up, and has its plan made.
func (l *lab) planned(label string, w *world) *issues.Taken {
	l.Helper()
	t := l.take(label, true)
	l.k = l.own.Session(label)
	l.do(&planning.Start{Issue: t.Issue, Token: t.Token, Place: place(), RunMode: pawl.Assisted})
	l.run(w, "CONFIRMING")
	return t
}

func (l *lab) leave(t *issues.Taken) {
	l.Helper()
	l.k = l.own
	l.do(&issues.ReleaseIssue{Issue: t.Issue, Token: t.Token})
}

// proven are runs whose work is tried without itself.
func proven() map[string]func(*lab) {
	return map[string]func(*lab){
		"not proven, and accepted": func(l *lab) {
			w := hollow()
			l.start(w, planning.Start{Requirement: "Age gives the age"})
			l.run(w)
			l.do(&verification.Accept{Tree: "t1", Reason: "it is behind a flag"})
			l.run(w)
		},
		"proven": func(l *lab) {
			w := hollow()
			w.prove.Witnesses[0].Without, w.prove.Witnesses[0].Texts = effect.WithoutAssertion, []string{"Age"}
			l.start(w, planning.Start{Requirement: "Age gives the age"})
			l.run(w)
		},
	}
}

func TestFacesSayTheSame(t *testing.T) {
	all := &atlas{states: map[string]map[string]bool{}, looked: map[string]bool{}}
	for name, play := range scenes() {
		t.Run(name, func(t *testing.T) { play(newLab(t, all)) })
	}
	for name, play := range proven() {
		t.Run(name, func(t *testing.T) { play(newLab(t, all, proofs)) })
	}
	if all.looks < 200 {
		t.Errorf("only %d combinations of states were looked at", all.looks)
	}
	for table, states := range tables() {
		for _, s := range states {
			switch why := passed[table+" "+s]; {
			case !all.states[table][s] && why == "":
				t.Errorf("no scene comes to where %s is %s", table, s)
			case all.states[table][s] && why != "":
				t.Errorf("%s was found to be %s, of which is said: %s", table, s, why)
			}
		}
	}
}
