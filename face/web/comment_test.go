package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/kernel/view"
	"pawl/machine/session"
)

// workText is a plan whose work is an agent's, and what has to hold in the end.
const workText = `goal: write a greeting
risk_level: low
criteria: [{id: c1, text: it greets, proof: check, texts: [greets]}]
steps: [{step_id: s1, title: write it, intent: it is wanted}]
`

// unproven has work that nothing shows wait for a person: with a question, or BLOCKED where nobody attends.
func unproven(t *testing.T, mode pawl.RunMode) *lab {
	t.Helper()
	l := newLab(t, func(c *kernel.Config) { c.Agents["m"], c.Proofs = kernel.Traits{Works: true}, true })
	l.text = workText
	l.do("user:ada", &planning.Start{Requirement: "write a greeting", Agent: "m", AutoApprove: "policy:test", RunMode: mode, Place: place})
	l.work()
	return l
}

// TestComment: what a person says of lines of work that nothing shows reaches its agent with their file and number:
// where the person is asked, and where work that nobody attended is BLOCKED. What is said of work that is another by
// now is refused.
func TestComment(t *testing.T) {
	for mode, state := range map[pawl.RunMode]session.State{pawl.Assisted: session.AutoFix, pawl.Autonomous: session.Blocked} {
		l := unproven(t, mode).enter()
		s, err := l.k.Snapshot(t.Context())
		if err != nil || s.Session.State != string(state) {
			t.Fatalf("%s: %s %+v %v", mode, s.Session.State, s.Session.Blocked, err)
		}
		f := l.get("/run/RUN-1/diff").form("/comment")
		l.send(http.MethodPost, "/comment", filled(f, "line", "0.2", "reason", " ")).want(http.StatusUnprocessableEntity)
		for _, line := range []string{"9.9", "0", "x.y", "-1.0"} {
			f = l.get("/decide").form("/comment")
			l.send(http.MethodPost, "/comment", filled(f, "line", line, "reason", "no")).want(http.StatusUnprocessableEntity)
		}
		l.send(http.MethodPost, "/comment", filled(f, "line", "0.2", "reason", "no")).want(http.StatusConflict) // the nonce is used
		f = l.get("/run/RUN-1/diff").form("/comment")
		l.send(http.MethodPost, "/comment", filled(f, "tree", "t9", "line", "0.2", "reason", "no")).want(http.StatusConflict)

		before := len(l.asked)
		f = l.get("/run/RUN-1/diff").form("/comment")
		d := l.send(http.MethodPost, "/comment", filled(f, "line", "0.2", "reason", "greet <b>politely</b>")).want(http.StatusSeeOther)
		inert(l.get(d.header.Get("Location")).want(http.StatusOK))
		l.work()
		if len(l.asked) != before+1 {
			t.Fatalf("%s: the agent was asked %d times", mode, len(l.asked)-before)
		}
		said := l.asked[before].Notes
		if failure := l.asked[before].Failure; failure != nil {
			said = append(said, failure.Output)
		}
		if !slices.ContainsFunc(said, func(s string) bool {
			return strings.Contains(s, "greet.go:2: -<script>old</script>\ngreet <b>politely</b>")
		}) {
			t.Errorf("%s: the agent was told %q", mode, said)
		}
		// The same work waits again, and what was shown of it counts once.
		l.send(http.MethodPost, "/comment", filled(f, "line", "0.2", "reason", "again")).want(http.StatusConflict)
	}
}

// TestCommentNobodyHears: where no step is an agent's, nothing can be said of the lines of work that is BLOCKED, since
// nobody would hear it.
func TestCommentNobodyHears(t *testing.T) {
	d := &decision{desk: new(desk), About: "unproven", Tree: "t1"}
	if d.Need.Next = append(d.Need.Next, view.Next{Op: "fix", Command: "pawl fix"}); d.revision("no") != nil {
		t.Error("something can be said that nobody hears")
	}
	d.Need.Next[0] = view.Next{Op: "fix", Command: "pawl fix --issue ISS-1 -m FEEDBACK"}
	if c, ok := d.revision("no").(*recovery.Fix); !ok || c.Tree != "t1" || c.Note != "no" {
		t.Errorf("%+v", d.revision("no"))
	}
}
