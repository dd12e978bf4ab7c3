package kernel_test

import (
	"strings"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/text/plan"
	"pawl/text/policy"
)

// leaving answers as a world does whose work leaves something behind that the policy has something against.
type leaving struct {
	*world
	found func(k effect.Kind) []policy.Found
}

func (w *leaving) answer(e effect.Effect) effect.Receipt {
	r := w.world.answer(e)
	if e.Kind != effect.KindVerify && e.Kind != effect.KindGates {
		return r
	}
	v, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil {
		return r
	}
	v.Found = w.found(e.Kind)
	return effect.Succeeded(v)
}

func left(path string, d policy.Decision, digest string, person bool) []policy.Found {
	code := policy.CodeSensitivePath
	if d == policy.Deny {
		code = policy.CodeProtectedPath
	}
	return []policy.Found{{Path: path, Decision: d, Digest: digest, Person: person,
		Reason: policy.Reason{Code: code, Key: "policy." + string(code), Args: []string{path}}}}
}

func inAll(f []policy.Found) func(effect.Kind) []policy.Found {
	return func(effect.Kind) []policy.Found { return f }
}

func start(mode pawl.RunMode) *planning.Start {
	return &planning.Start{Requirement: "do the work", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: mode, AutoApprove: "policy:--yes"}
}

// TestWhatIsLeftIsAskedAbout: in the question about changed checks, bound to the contents, whoever attends.
func TestWhatIsLeftIsAskedAbout(t *testing.T) {
	for _, mode := range []pawl.RunMode{pawl.Assisted, pawl.Autonomous} {
		w := &leaving{world: &world{plan: twoSteps()}, found: inAll(left("AGENTS.md", policy.Ask, "d1", false))}
		b := newBench(t)
		b.do(start(mode))
		b.run(w.answer)
		s := b.look()
		if s.Approval == nil || s.Approval.About != kernel.AboutChecks || s.Approval.Detail != "AGENTS.md" ||
			len(s.ChangedChecks()) != 0 {
			t.Fatalf("%s: %+v", mode, s.Approval)
		}
		if asked, shown := s.AskedChanges(); len(asked) != 1 || len(shown) != 1 || shown[0] != "AGENTS.md" {
			t.Errorf("%s: %+v, shows %q", mode, asked, shown)
		}
		b.do(&approval.Approve{Hash: s.Approval.Hash})
		b.run(w.answer)
		if got := b.taskState(); got != "done" {
			t.Errorf("%s: task %s", mode, got)
		}
		b.verifyAudit()
	}
}

// TestOtherContentIsAskedAboutAgain: a yes is to what was shown.
func TestOtherContentIsAskedAboutAgain(t *testing.T) {
	w := &leaving{world: &world{plan: twoSteps()}}
	w.found = func(k effect.Kind) []policy.Found {
		if k == effect.KindGates {
			return left("AGENTS.md", policy.Ask, "d2", false)
		}
		return left("AGENTS.md", policy.Ask, "d1", false)
	}
	b := newBench(t)
	b.do(start(pawl.Assisted))
	b.run(w.answer)
	b.do(&approval.Approve{Hash: b.look().Approval.Hash})
	b.run(w.answer)
	if s := b.look(); s.Task.State == "done" || s.Session.State != "BLOCKED" {
		t.Errorf("task %s, session %s", s.Task.State, s.Session.State)
	}
}

// TestNamedFilesAreCovered: by a plan that somebody has looked at, and never a secret.
func TestNamedFilesAreCovered(t *testing.T) {
	for name, c := range map[string]struct {
		unseen, person, asks bool
	}{"seen": {}, "unseen": {unseen: true, asks: true}, "a secret": {person: true, asks: true}} {
		task := &kernel.Task{Named: []string{"AGENTS.md"}, Unseen: c.unseen}
		v := &effect.VerifyResult{Found: left("AGENTS.md", policy.Ask, "d1", c.person)}
		files, hash := kernel.Touched(task, v)
		if (len(files) > 0) != c.asks {
			t.Errorf("%s: asks about %q", name, files)
		}
		task.Accepted = hash
		if files, _ := kernel.Touched(task, v); len(files) > 0 {
			t.Errorf("%s: asks about %q again", name, files)
		}
	}
	p := twoSteps()
	p.Steps[0].ExpectedArtifacts = []plan.Artifact{{Type: plan.ArtifactFile, Value: "AGENTS.md"}}
	w := &leaving{world: &world{plan: p}, found: inAll(left("AGENTS.md", policy.Ask, "d1", false))}
	b := newBench(t)
	b.do(start(pawl.Assisted))
	b.run(w.answer)
	if got := b.taskState(); got != "done" {
		t.Errorf("task %s", got)
	}
}

// TestWhatIsDeniedNeverLands: the work is sent back with the file named, and ends blocked.
func TestWhatIsDeniedNeverLands(t *testing.T) {
	for _, kind := range []effect.Kind{effect.KindVerify, effect.KindGates} {
		w := &leaving{world: &world{plan: twoSteps()}}
		w.found = func(k effect.Kind) []policy.Found {
			if k != kind {
				return nil
			}
			return left(".gitmodules", policy.Deny, "d1", false)
		}
		b := newBench(t)
		b.do(start(pawl.Assisted))
		b.run(w.answer)
		s := b.look()
		if s.Session.State != "BLOCKED" || s.Task.State == "done" || s.Task.Land != nil {
			t.Fatalf("%s: session %s, task %s", kind, s.Session.State, s.Task.State)
		}
		told := s.Session.Blocked.Error.Detail + strings.Join(s.Session.Blocked.Error.Args, " ")
		if !strings.Contains(told, ".gitmodules (protected_path)") {
			t.Errorf("%s: told %q", kind, told)
		}
		if kind == effect.KindVerify && (len(s.Task.Failures) == 0 || s.Task.Failures[0].Key != "kernel.change_denied" ||
			s.Task.Verified.Passed) {
			t.Errorf("%+v", s.Task.Failures)
		}
		b.verifyAudit()
	}
}

// TestTakenIsTold: what was taken out of the tree behind a command is recorded and kept with the task.
func TestTakenIsTold(t *testing.T) {
	w := &world{plan: twoSteps()}
	b := newBench(t)
	b.do(start(pawl.Assisted))
	b.run(func(e effect.Effect) effect.Receipt {
		r := w.answer(e)
		if e.Kind == effect.KindTool {
			r.Taken = []effect.Taken{{Path: "sub/.git", What: effect.TakenRepository}}
		}
		return r
	})
	if got := b.task("T-001").Taken; len(got) != 2 || got[0].Path != "sub/.git" {
		t.Errorf("%+v", got)
	}
	b.verifyAudit()
}
