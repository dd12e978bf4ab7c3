package api

import (
	"fmt"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/issues"
	"pawl/kernel/view"
)

// with is the body of a decision about what has a hash.
func with(digest string) string { return fmt.Sprintf(`{"digest":%q}`, digest) }

// TestDecision: a decision carries the hash of what was shown; another one is refused with what waits now, and a
// program that may only act cannot give a person's word.
func TestDecision(t *testing.T) {
	l := newLab(t)
	l.propose()
	var st view.Status
	tag := l.want(200, "GET", "/status", reads, "", &st).Get("ETag")
	if st.Approval == nil || tag == "" {
		t.Fatalf("%+v, ETag %q", st, tag)
	}
	other := with("0123456789abcdef")
	var p Problem
	l.want(409, "POST", "/commands/approve", approves, other, &p)
	if p.Code != pawl.CodeApprovalStale || p.Now == nil || p.Now.Hash != st.Approval.Hash {
		t.Errorf("another digest: %+v", p)
	}
	l.want(409, "POST", "/commands/deny", approves, other, nil)
	l.want(409, "POST", "/commands/revise", approves, strings.Replace(other, "}", `,"feedback":"no"}`, 1), nil)
	l.want(403, "POST", "/commands/approve", acts, with(st.Approval.Hash), &p)
	if p.Code != pawl.CodeDenied {
		t.Errorf("a program's word: %+v", p)
	}
	if l.works != 0 {
		t.Error("work goes on after what was refused")
	}
	var done commanded
	next := l.want(200, "POST", "/commands/approve", approves, with(st.Approval.Hash[:12]), &done, "If-Match", tag)
	if !done.Changed || done.Replayed || done.Status.Approval != nil || done.Cursor == 0 ||
		next.Get("ETag") == tag || l.works != 1 {
		t.Errorf("%+v, ETag %q behind %q, work %d", done, next.Get("ETag"), tag, l.works)
	}
	s, err := l.k.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.server.ask.Run(t.Context(), kernel.SessionLabel, s.Run.Label)
	if err != nil || len(r.Approvals) != 1 || r.Approvals[0].By != "user:ada" ||
		r.Approvals[0].Way != string(kernel.WayAPI) {
		t.Errorf("%+v %v", r, err)
	}
	// What was answered cannot be answered again.
	l.want(409, "POST", "/commands/approve", approves, with(st.Approval.Hash), &p)
	if p.Code != pawl.CodeInvalidTransition {
		t.Errorf("%+v", p)
	}
}

// TestGivenAgain: a request that comes again under its key is answered as at first and does nothing, whatever has
// become of what it was about; one with another body is another request.
func TestGivenAgain(t *testing.T) {
	l := newLab(t)
	l.propose()
	var st view.Status
	tag := l.want(200, "GET", "/status", reads, "", &st).Get("ETag")
	body := with(st.Approval.Hash)
	var first, again commanded
	l.want(200, "POST", "/commands/approve", approves, body, &first, "Idempotency-Key", "k1", "If-Match", tag)
	head, err := l.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		l.want(200, "POST", "/commands/approve", approves, body, &again, "Idempotency-Key", "k1", "If-Match", tag)
		if !again.Replayed || again.Cursor != first.Cursor {
			t.Errorf("%+v behind %+v", again, first)
		}
	}
	if now, err := l.store.Head(t.Context()); err != nil || now.Size != head.Size || l.works != 1 {
		t.Errorf("something was done again: %d records behind %d, work %d, %v", now.Size, head.Size, l.works, err)
	}
	l.want(409, "POST", "/commands/cancel", approves, `{}`, nil, "Idempotency-Key", "k1")
	l.want(412, "POST", "/commands/cancel", acts, `{}`, nil, "Idempotency-Key", "k1", "If-Match", tag)
	l.want(200, "POST", "/commands/pause", acts, `{}`, &again, "Idempotency-Key", "k2")
	l.want(200, "POST", "/commands/resume", acts, `{}`, nil)
	l.want(200, "POST", "/commands/pause", acts, `{}`, &again, "Idempotency-Key", "k2")
	if !again.Replayed || again.Status.Paused {
		t.Errorf("paused again: %+v", again)
	}
}

// TestInViewOf: a command in view of a row that somebody changed is refused; what is no ETag is as well.
func TestInViewOf(t *testing.T) {
	l := newLab(t)
	l.propose()
	tag := l.want(200, "GET", "/status", reads, "", nil).Get("ETag")
	for match, want := range map[string]int{"7": 422, `W/"7"`: 422, `"x"`: 422, `"999"`: 412, `"7", "8"`: 422,
		`"-1"`: 422} {
		var p Problem
		l.want(want, "POST", "/commands/cancel", acts, `{}`, &p, "If-Match", match)
		if want == 412 && p.Code != pawl.CodeChanged {
			t.Errorf("%s: %+v", match, p)
		}
	}
	l.want(200, "POST", "/commands/cancel", acts, `{}`, nil, "If-Match", "*")
	l.want(412, "POST", "/commands/pause", acts, `{}`, nil, "If-Match", tag)
}

// TestPages: a list goes on from where a page ended and holds everything once; what there is not is told.
func TestPages(t *testing.T) {
	l := newLab(t)
	const many = 23
	var add issues.AddIssues
	for n := range many {
		i := issues.NewIssue{Title: fmt.Sprint("number ", n)}
		if n%2 == 0 {
			i.Tags = []string{"even"}
		}
		add.Issues = append(add.Issues, i)
	}
	l.do("user:ada", &add)
	for filter, want := range map[string]int{"": many, "&tag=even": 12, "&search=number+2": 8, "&state=FAILED": 0} {
		for _, limit := range []int{1, 5, many, 500} {
			seen, after := []string{}, int64(0)
			for {
				var p page[view.IssueLine]
				l.want(200, "GET", fmt.Sprintf("/issues?limit=%d&after=%d%s", limit, after, filter), reads, "", &p)
				for _, i := range p.Items {
					seen = append(seen, i.Label)
				}
				if after = p.Next; after == 0 {
					break
				}
			}
			if len(seen) != want || want == many && seen[many-1] != fmt.Sprint("ISS-", many) {
				t.Errorf("%q by %d: %q", filter, limit, seen)
			}
		}
	}
	if h := l.want(200, "GET", "/issues/ISS-3", reads, "", nil); h.Get("ETag") == "" {
		t.Error("an issue has no version")
	}
	for _, path := range []string{"/issues/ISS-99", "/runs/RUN-1", "/tasks/1", "/status?issue=ISS-99", "/plan"} {
		l.want(404, "GET", path, reads, "", nil)
	}
	for _, path := range []string{"/board", "/asking", "/runs", "/tasks?newest=true", "/budgets", "/rulings",
		"/packages", "/log?from=3&limit=2", "/log?from=9999"} {
		l.want(200, "GET", path, reads, "", nil)
	}
}

// TestRows: what is done about an issue is bound to its version, and several are registered together or not at all.
func TestRows(t *testing.T) {
	l := newLab(t)
	var done commanded
	l.want(200, "POST", "/issues", acts, `{"issues":[{"title":"one","tags":["a"]},{"title":"two","after":["ISS-1"]}]}`,
		&done, "Idempotency-Key", "k")
	if fmt.Sprint(done.Result) != "[ISS-1 ISS-2]" {
		t.Errorf("%+v", done)
	}
	l.want(200, "POST", "/issues", acts, `{"issues":[{"title":"one","tags":["a"]},{"title":"two","after":["ISS-1"]}]}`,
		&done, "Idempotency-Key", "k")
	l.want(422, "POST", "/issues", acts, `{"issues":[{"title":"three"},{"title":"four","after":["ISS-9"]}]}`, nil)
	var i view.IssueDetail
	tag := l.want(200, "GET", "/issues/2", reads, "", &i).Get("ETag")
	if i.Title != "two" || len(i.After) != 1 {
		t.Errorf("%+v", i)
	}
	l.want(200, "POST", "/issues/2/edit", acts, `{"title":"second","paused":true}`, nil, "If-Match", tag)
	l.want(412, "POST", "/issues/2/edit", acts, `{"title":"third"}`, nil, "If-Match", tag)
	l.want(200, "POST", "/issues/ISS-2/depend", acts, `{"on":"1","remove":true}`, nil)
	l.want(200, "GET", "/issues/2", reads, "", &i)
	if i.Title != "second" || i.Standing != view.StandingPaused || i.Open != 0 {
		t.Errorf("%+v", i)
	}
	l.want(200, "POST", "/issues/2/retry", acts, `{"note":"once more"}`, nil)
	l.want(404, "POST", "/issues/9/edit", acts, `{}`, nil)
	l.want(404, "POST", "/tasks/1/cancel", acts, `{}`, nil)
	l.propose()
	tag = l.want(200, "GET", "/tasks/1", reads, "", nil).Get("ETag")
	l.want(412, "POST", "/tasks/1/cancel", acts, `{}`, nil, "If-Match", `"99"`)
	l.want(200, "POST", "/tasks/1/cancel", acts, `{"reason":"not now"}`, nil, "If-Match", tag)
	var p page[view.IssueLine]
	if l.want(200, "GET", "/issues", reads, "", &p); len(p.Items) != 2 {
		t.Errorf("%d issues", len(p.Items))
	}
}

// TestRun: a requirement is taken up once under its key, by the name of who brings it; what makes no sense begins nothing.
func TestRun(t *testing.T) {
	l := newLab(t)
	l.want(403, "POST", "/commands/run", reads, `{"requirement":"x"}`, nil)
	l.want(422, "POST", "/commands/run", acts, `{"requirement":"x","mode":"wild"}`, nil)
	l.want(404, "POST", "/commands/run?issue=ISS-1", acts, `{"requirement":"x"}`, nil)
	var p Problem
	if l.want(422, "POST", "/commands/run", acts, `{"requirement":"x","agent":"nobody"}`, &p); !strings.Contains(p.Detail, "nobody") {
		t.Errorf("%+v", p)
	}
	if l.works != 0 {
		t.Error("work goes on after what was refused")
	}
	body := fmt.Sprintf(`{"requirement":"write a greeting","plan":%q,"mode":"assisted"}`, planText)
	var one, two commanded
	l.want(200, "POST", "/commands/run", acts, body, &one, "Idempotency-Key", "k")
	l.want(200, "POST", "/commands/run", acts, body, &two, "Idempotency-Key", "k")
	if !one.Changed || one.Status.Run == nil || one.Status.Goal != "write a greeting" || !two.Replayed || l.works != 1 {
		t.Errorf("%+v\n%+v\n%d", one, two, l.works)
	}
	l.work()
	s, err := l.k.Snapshot(t.Context())
	if err != nil || s.Run == nil || s.Session.RunMode != pawl.Assisted {
		t.Fatalf("%+v %v", s.Session, err)
	}
	l.want(423, "POST", "/commands/run", acts, `{"requirement":"another"}`, &p)
}
