package kernel_test

import (
	"encoding/json"
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

// shell gives a bench a tool whose calls are judged as commands, behind walls.
func shell(b *bench) {
	c := b.k.Config()
	c.Walled, b.unlike = true, true
	t := tool("run_terminal_cmd", false, policy.ProcExec)
	t.Request = func(args json.RawMessage) (policy.Request, error) {
		var a struct{ Command string }
		err := json.Unmarshal(args, &a)
		return policy.Request{Tool: "run_terminal_cmd", Permissions: []policy.Permission{policy.ProcExec},
			Command: a.Command}, err
	}
	c.Tools["run_terminal_cmd"] = t
}

func running(command string) plan.Plan {
	p := twoSteps()
	args, _ := json.Marshal(map[string]string{"command": command})
	p.Steps[1].ToolCalls = []plan.ToolCallTemplate{{Name: "run_terminal_cmd", ArgsHint: args}}
	return p
}

// TestYesDoesNotCoverWhatCannotBeTakenBack: what was said before the plan was seen is no word about a push. What walls
// and undo hold needs none.
func TestYesDoesNotCoverWhatCannotBeTakenBack(t *testing.T) {
	for name, c := range map[string]struct {
		start   planning.Start
		command string
		waits   bool
	}{
		"--yes, a push": {planning.Start{RunMode: pawl.Assisted, AutoApprove: "policy:--yes"},
			"git push origin main", true},
		"--yes, a deployment": {planning.Start{RunMode: pawl.Assisted, AutoApprove: "policy:--yes"}, "make deploy",
			true},
		"--yes and unattended": {planning.Start{RunMode: pawl.Autonomous, AutoApprove: "policy:--yes"},
			"npm publish", true},
		"unattended": {planning.Start{RunMode: pawl.Autonomous}, "ssh host ls", true},
		"~exec": {planning.Start{RunMode: pawl.Assisted, AutoApprove: "policy:~exec"}, "git push",
			true},
		"--yes, a folder": {planning.Start{RunMode: pawl.Assisted, AutoApprove: "policy:--yes"}, "rm -rf doc",
			false},
		"--yes, a commit": {planning.Start{RunMode: pawl.Assisted, AutoApprove: "policy:--yes"},
			"git commit -m x", false},
		"--yes in the user's tree": {planning.Start{RunMode: pawl.Assisted, AutoApprove: "policy:--yes",
			Place: effect.Place{InPlace: true}}, "rm -rf doc", true},
		"--yes, words": {planning.Start{RunMode: pawl.Assisted, AutoApprove: "policy:--yes"},
			"say drop the users table of production", true},
		"~auto --yes, words": {planning.Start{RunMode: pawl.Assisted, AutoApprove: "policy:--yes", Command: "~auto"},
			"say drop the users table of production", true},
		"unattended, a database": {planning.Start{RunMode: pawl.Autonomous}, "psql -c 'DROP TABLE t'", true},
		"unattended, held by walls": {planning.Start{RunMode: pawl.Autonomous},
			"find doc -name x -delete && rm -rf doc",
			false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			shell(b)
			w := &world{plan: running(c.command)}
			if words, ok := strings.CutPrefix(c.command, "say "); ok { // what the plan says, and no call shows
				w.plan = running("git commit -m x")
				w.plan.Steps[0].Intent = words
			}
			start := c.start
			start.Requirement, start.Place = "do the work", effect.Place{Workspace: "/w", Tree: "/w", Git: true,
				InPlace: start.Place.InPlace}
			b.do(&start)
			b.run(w.answer)
			s := b.look()
			if waits := s.Session.State == "CONFIRMING"; waits != c.waits {
				t.Fatalf("session %s: %+v", s.Session.State, s.Session.LastError)
			}
			if !c.waits {
				return
			}
			if len(w.calls) > 0 {
				t.Errorf("calls %v before anybody said yes", w.calls)
			}
			// Even if a policy were taken for a person, the row would not let it through.
			if _, err := b.k.Do(t.Context(), kernel.Envelope{Actor: pawl.By(pawl.KindPolicy, "x"),
				Command: &approval.Approve{Hash: s.Solution.Hash}}); pawl.CodeOf(err) != pawl.CodeApprovalNeeded {
				t.Errorf("a policy says yes: %v", err)
			}
			b.do(&approval.Approve{Hash: s.Solution.Hash})
			b.run(w.answer)
			if len(w.calls) != 2 {
				t.Errorf("calls %v after a person said yes to them", w.calls)
			}
			b.verifyAudit()
		})
	}
}
