package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/verification"
	"pawl/kernel/word"
	"pawl/text/plan"
)

// signed is a word over a decision, by a key of which the tests say what it has signed.
func signed(d *word.Decision) *word.Signed {
	return &word.Signed{Method: word.MethodKey, Fingerprint: "SHA256:ada", Program: "cron", Text: d.Text(), Signature: "of ada"}
}

// vouch believes signatures of ada's over the text of the decision that is made.
func vouch(d *word.Decision, s *word.Signed) error {
	if s.Text != d.Text() || s.Signature != "of ada" {
		return pawl.Fail(pawl.CodeApprovalStale, "key.other_decision", s.Fingerprint)
	}
	return nil
}

// wanted is the decision that a command waits for.
func wanted(t *testing.T, b *bench, c kernel.Command) *word.Decision {
	t.Helper()
	err := b.by("automation:cron", c)
	var d *word.Decision
	if pawl.CodeOf(err) != pawl.CodeDenied || !errors.As(err, &d) {
		t.Fatalf("%T: %v", c, err)
	}
	return d
}

// TestWordByKey: what a program may not say, a person says by a signature over this very decision, once. It is recorded
// as the person's, with the key, the text and the signature.
func TestWordByKey(t *testing.T) {
	b := proposed(t, &world{plan: twoSteps()})
	hash := b.look().Solution.Hash
	c := &approval.Approve{Hash: hash[:12], Way: kernel.WayCommand}
	say := func(k *kernel.Kernel, s *word.Signed) error {
		_, err := k.Do(context.Background(), kernel.Envelope{Actor: "user:ada", Command: c, Word: s})
		return err
	}
	d := wanted(t, b, c)
	if d.About != "plan" || d.Digest != hash || d.Answer != "approve command" || d.Subject.Kind != "approval" || d.Version == 0 {
		t.Errorf("%+v", d)
	}
	if err := say(b.k, signed(d)); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Errorf("where no key is known, its word counts: %v", err)
	}
	b.k.Config().Vouch = vouch
	forged := signed(d)
	forged.Signature = "of bob"
	for name, change := range map[string]func(*word.Decision){
		"another digest":   func(d *word.Decision) { d.Digest = "0" + d.Digest[1:] },
		"another answer":   func(d *word.Decision) { d.Answer = "approve flag" },
		"another question": func(d *word.Decision) { d.Subject.ID = "01H" },
		"another version":  func(d *word.Decision) { d.Version++ },
	} {
		other := *d
		change(&other)
		if err := say(b.k, signed(&other)); pawl.CodeOf(err) != pawl.CodeApprovalStale {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := say(b.k, forged); pawl.CodeOf(err) != pawl.CodeApprovalStale {
		t.Errorf("forged: %v", err)
	}
	if s := b.look(); s.Session.State != "CONFIRMING" || s.Approval.State != kernel.ApprovalPending {
		t.Fatalf("session %s, approval %s", s.Session.State, s.Approval.State)
	}
	b.unlike = true
	if err := say(b.k, signed(d)); err != nil {
		t.Fatal(err)
	}
	if err := say(b.k, signed(d)); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("said twice: %v", err)
	}
	if by := b.recorded("APPROVAL_GRANTED"); by != "user:ada" {
		t.Errorf("recorded as the word of %s", by)
	}
	var said word.Signed
	var granted struct{ Key string }
	for rec, err := range b.store.Records(t.Context(), d.Subject.String(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		p, err := audit.Parse(rec.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		switch p.Event {
		case "DECISION_SIGNED":
			err = json.Unmarshal(p.Data, &said)
		case "APPROVAL_GRANTED":
			err = json.Unmarshal(p.Data, &granted)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if said != *signed(d) || granted.Key != "SHA256:ada" {
		t.Errorf("recorded: %+v, granted by %q", said, granted.Key)
	}
}

// TestAcceptedByKey: work without proof is taken by a signature over its tree and the reason, whether that is asked or
// the run is BLOCKED for it.
func TestAcceptedByKey(t *testing.T) {
	for mode, about := range map[pawl.RunMode]string{pawl.Assisted: kernel.AboutProof, pawl.Autonomous: "unblock"} {
		t.Run(string(mode), func(t *testing.T) {
			w := &tried{seen: []effect.ProveResult{nothing}}
			b := trying(t, w, sub(plan.ProofCheck), mode)
			b.k.Config().Vouch, b.unlike = vouch, true
			tree := b.look().Task.Proof.Tree
			c := &verification.Accept{Tree: tree, Reason: "I tried it by hand"}
			d := wanted(t, b, c)
			if d.About != "proof" || d.Digest != tree || d.Answer != "accept" || d.Note != c.Reason || d.Subject.Kind != "task" {
				t.Errorf("%+v", d)
			}
			say := func(reason string) error {
				_, err := b.k.Do(context.Background(), kernel.Envelope{Actor: "user:ada", Word: signed(d),
					Command: &verification.Accept{Tree: tree, Reason: reason}})
				return err
			}
			if err := say("whatever"); pawl.CodeOf(err) != pawl.CodeApprovalStale {
				t.Errorf("for another reason: %v", err)
			}
			if err := say(c.Reason); err != nil {
				t.Fatal(err)
			}
			rows, err := b.store.Load(t.Context(), kernel.Select{Kind: kernel.KindApproval, Newest: true, Limit: 1})
			if err != nil || len(rows[0]) != 1 {
				t.Fatal(rows, err)
			}
			var a kernel.Approval
			if err := kernel.Decode(rows[0][0], &a); err != nil || a.About != about || a.Key != "SHA256:ada" || a.AnsweredBy != "user:ada" {
				t.Errorf("%+v %v", a, err)
			}
			b.run(w.answer)
			if task := b.task("T-001"); task.State != "done" || b.recorded("DECISION_SIGNED") != "user:ada" {
				t.Errorf("task %s", task.State)
			}
			b.verifyAudit()
		})
	}
}
