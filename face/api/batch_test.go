package api

import (
	"fmt"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/issues"
	"pawl/kernel/query"
	"pawl/kernel/view"
)

// batch is the body that approves what the inbox has of issues.
func batch(rule string, needs ...view.Need) string {
	var questions []string
	for _, n := range needs {
		questions = append(questions, fmt.Sprintf(`{"issue":%q,"digest":%q}`, n.Issue, n.Digest))
	}
	return fmt.Sprintf(`{"rule":%q,"questions":[%s]}`, rule, strings.Join(questions, ","))
}

// inbox is what waits, by the issue that asks.
func (l *lab) inbox() map[string]view.Need {
	l.Helper()
	var in view.Inbox
	l.want(200, "GET", "/inbox", reads, "", &in)
	out := map[string]view.Need{}
	for _, n := range in.Needs {
		out[n.Issue] = n
	}
	return out
}

// TestBatch: plans of one rule and of low risk are approved together, each by its own digest. One that was answered, is
// another, or has to be looked at by itself is refused alone, and the answer says which.
func TestBatch(t *testing.T) {
	l := newLab(t)
	low := []byte(lowText)
	l.plans(issues.NewIssue{Title: "one", Given: low}, issues.NewIssue{Title: "two", Given: low},
		issues.NewIssue{Title: "three", Given: low}, issues.NewIssue{Title: "four", Given: low},
		issues.NewIssue{Title: "grave", Given: []byte(strings.Replace(lowText, "low", "high", 1))})
	in := l.inbox()
	one, two, three, four, grave := in["ISS-1"], in["ISS-2"], in["ISS-3"], in["ISS-4"], in["ISS-5"]
	if one.Rule != "allowed" || one.Rule != two.Rule || grave.Rule != "" || len(in) != 5 {
		t.Fatalf("%+v", in)
	}
	l.want(401, "POST", "/commands/batch", "", batch("allowed", one), nil)
	l.want(403, "POST", "/commands/batch", reads, batch("allowed", one), nil)
	for _, body := range []string{`{}`, batch("allowed"), batch("", one), `{"questions":[{"issue":"ISS-1"}],"rule":"allowed"}`} {
		l.want(422, "POST", "/commands/batch", approves, body, nil)
	}
	// A program that may only act gives no person's word, for several as for one.
	var p Problem
	l.want(403, "POST", "/commands/batch", acts, batch("allowed", one, two), &p)
	if p.Code != pawl.CodeDenied || len(p.Outcomes) != 2 || p.Outcomes[1].Code != pawl.CodeDenied {
		t.Errorf("%+v", p)
	}
	var done batched
	l.want(200, "POST", "/commands/batch", approves, batch("allowed", one, two), &done, "Idempotency-Key", "k")
	if len(done.Outcomes) != 2 || !done.Outcomes[0].Approved || done.Outcomes[0].Replayed || l.works != 2 {
		t.Errorf("%+v %d", done, l.works)
	}
	l.want(200, "POST", "/commands/batch", approves, batch("allowed", one, two), &done, "Idempotency-Key", "k")
	if !done.Outcomes[0].Replayed || !done.Outcomes[1].Replayed || l.works != 2 {
		t.Errorf("given again: %+v %d", done, l.works)
	}
	// Somebody else is quicker with the third; the fourth is approved nevertheless, what is grave and what is not there is not.
	if _, err := l.k.Session("ISS-3").Do(t.Context(), kernel.Envelope{Actor: "user:bob", Command: &approval.Deny{}}); err != nil {
		t.Fatal(err)
	}
	lost := view.Need{Issue: "ISS-9", Digest: four.Digest}
	p = Problem{}
	l.want(409, "POST", "/commands/batch", approves, batch("allowed", three, four, grave, lost), &p)
	said := []string{}
	for _, o := range p.Outcomes {
		said = append(said, fmt.Sprint(o.Issue, " ", o.Approved, " ", o.Code))
	}
	if got := strings.Join(said, ", "); p.Code != pawl.CodeConflict || got != "ISS-3 false invalid_transition, "+
		"ISS-4 true , ISS-5 false conflict, ISS-9 false not_found" {
		t.Errorf("%s: %+v", got, p)
	}
	if in = l.inbox(); in["ISS-5"].About != "plan" || in["ISS-1"].About != view.AboutUnclaimed || len(in) != 2 {
		t.Errorf("these wait: %+v", in)
	}
	// By itself it is approved, and so is nothing under another rule or by another digest.
	l.want(409, "POST", "/commands/batch", approves, batch("exec", grave), nil)
	grave.Digest = strings.Repeat("0", 64)
	p = Problem{}
	l.want(409, "POST", "/commands/batch", approves, batch("allowed", grave), &p)
	if p.Code != pawl.CodeApprovalStale || p.Outcomes[0].Now == nil || p.Outcomes[0].Now.Hash != in["ISS-5"].Digest {
		t.Errorf("%+v", p)
	}
	l.want(200, "POST", "/commands/approve?issue=ISS-5", approves, with(in["ISS-5"].Digest), nil)
}

// TestShow: it is recorded once that a question was shown to the person; a program has nothing shown to it.
func TestShow(t *testing.T) {
	l := newLab(t)
	l.propose()
	digest := l.inbox()[""].Digest
	l.want(403, "POST", "/commands/show", acts, with(digest), nil)
	l.want(409, "POST", "/commands/show", approves, with(strings.Repeat("0", 64)), nil)
	l.want(422, "POST", "/commands/show", approves, with(digest[:12]), nil)
	for _, changed := range []bool{true, false} {
		var out commanded
		l.want(200, "POST", "/commands/show", approves, with(digest), &out)
		if out.Changed != changed || out.Status.Approval == nil {
			t.Errorf("%+v", out)
		}
	}
	shown := 0
	for rec, err := range query.Of(l.k).Log().Records(t.Context(), audit.Subject{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(rec.Bytes), string(kernel.AuditApprovalShown)) {
			shown++
		}
	}
	if shown != 1 || l.works != 0 {
		t.Errorf("shown %d times, work %d", shown, l.works)
	}
}
