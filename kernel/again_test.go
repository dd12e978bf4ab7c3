package kernel_test

import (
	"context"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/issues"
)

// TestGivenAgain: a command that is given again under its key is answered with the first outcome, though what it asks
// for is refused or so by now; under another key it is refused, and another command under its key as well.
func TestGivenAgain(t *testing.T) {
	b := proposed(t, &world{plan: twoSteps()})
	give := func(key string, c kernel.Command) (kernel.Outcome, error) {
		return b.k.Do(context.Background(), kernel.Envelope{Actor: "user:ada", Key: key, Command: c})
	}
	approve := &approval.Approve{Hash: b.look().Solution.Hash}
	first, err := give("a", approve)
	if err != nil || first.Replayed {
		t.Fatal(first, err)
	}
	size := first.Size
	for range 2 {
		again, err := give("a", approve)
		if err != nil || !again.Replayed || again.Size != size || string(again.Result) != string(first.Result) {
			t.Errorf("%+v %v", again, err)
		}
	}
	if _, err := give("b", approve); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("another key: %v", err)
	}
	if _, err := give("a", &control.CancelRun{}); pawl.CodeOf(err) != pawl.CodeConflict {
		t.Errorf("another command: %v", err)
	}
	// What was refused leaves its key free, and what changes nothing is asked for again.
	if _, err := give("c", approve); err == nil {
		t.Error("approved twice")
	}
	if out, err := give("c", &control.Pause{}); err != nil || !out.Changed || out.Replayed {
		t.Errorf("%+v %v", out, err)
	}
	if out, err := give("d", &control.Pause{}); err != nil || out.Changed {
		t.Errorf("%+v %v", out, err)
	}
	b.verifyAudit()
}

// TestInViewOf: a command that was given in view of a row or of a question is refused once that is another one, and
// says what it is now.
func TestInViewOf(t *testing.T) {
	b := proposed(t, &world{plan: twoSteps()})
	try := func(env kernel.Envelope) error {
		env.Actor = "user:ada"
		_, err := b.k.Do(context.Background(), env)
		return err
	}
	s := b.look()
	deny := &approval.Deny{Reason: "no"}
	for _, c := range []struct {
		env  kernel.Envelope
		want pawl.Code
	}{
		{kernel.Envelope{Command: deny, If: kernel.Read{Kind: kernel.KindSession, Version: s.Session.Version - 1}}, pawl.CodeChanged},
		{kernel.Envelope{Command: deny, If: kernel.Read{Kind: kernel.KindTask, ID: "other", Version: s.Task.Version}}, pawl.CodeChanged},
		{kernel.Envelope{Command: deny, If: kernel.Read{Kind: kernel.KindIssue, ID: "none", Version: 1}}, pawl.CodeChanged},
		{kernel.Envelope{Command: deny, Seen: "0123456789abcdef"}, pawl.CodeApprovalStale},
		{kernel.Envelope{Command: deny, Seen: s.Approval.Hash[:4]}, pawl.CodeApprovalStale},
	} {
		if err := try(c.env); pawl.CodeOf(err) != c.want {
			t.Errorf("%+v: %v, want %s", c.env, err, c.want)
		}
	}
	if now := b.look(); now.Session.Version != s.Session.Version {
		t.Error("what was refused changed something")
	}
	labels := b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "one"}}})
	_ = labels
	i := b.issueOf("ISS-1")
	title := "another"
	edit := &issues.EditIssue{Issue: i.ID, Title: &title}
	at := kernel.Read{Kind: kernel.KindIssue, ID: i.ID, Version: i.Version}
	if err := try(kernel.Envelope{Command: edit, If: at}); err != nil {
		t.Error(err)
	}
	title = "a third"
	if err := try(kernel.Envelope{Command: edit, If: at}); pawl.CodeOf(err) != pawl.CodeChanged {
		t.Errorf("edited in view of what was before: %v", err)
	}
	if err := try(kernel.Envelope{Command: deny, Seen: s.Approval.Hash[:12],
		If: kernel.Read{Kind: kernel.KindSession, Version: s.Session.Version}}); err != nil {
		t.Error(err)
	}
	if err := try(kernel.Envelope{Command: deny, Seen: s.Approval.Hash}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("a question that was answered: %v", err)
	}
}
