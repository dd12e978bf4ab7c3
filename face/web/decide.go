package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/issues"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/recovery"
	"pawl/kernel/steps"
	"pawl/kernel/verification"
	"pawl/kernel/view"
	"pawl/machine/workflow"
)

// typed is how much of the digest a person types where the risk is high.
const typed = 8

// maxShown bounds how many questions are kept as they were shown; the oldest is forgotten, and has to be shown anew.
const maxShown = 2000

// decision is a question with all that an answer should be given in view of.
type decision struct {
	*desk
	About, Digest string
	Since         time.Time
	Detail        string
	Plan          *view.Plan
	Report        *view.Report
	Files         []fileDiff
	// Tree is that of the work which is taken without proof.
	Tree string
	// Choices are the ways on from a stage, the usual one first.
	Choices []string
	Nonce   string
	// Mistyped says that the digest was not typed as it is.
	Mistyped bool
}

// high reports whether the digest has to be typed.
func (d *decision) high() bool { return d.Need.Risk == pawl.RiskHigh }

// shown keeps what was shown to whom, until it is answered: by the nonce that the answer has to carry.
type shown struct {
	mu sync.Mutex
	at map[string]seen
}

// seen is a question as it was shown.
type seen struct {
	visit, issue, about, digest string
	// lines are what it said.
	lines []string
	at    time.Time
}

// mint returns the nonce for a question that is shown; as long as it is not used, the same question has the same.
func (s *shown) mint(q seen) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := ""
	for nonce, old := range s.at {
		if old.visit == q.visit && old.issue == q.issue && old.about == q.about && old.digest == q.digest {
			return nonce
		}
		if oldest == "" || old.at.Before(s.at[oldest].at) {
			oldest = nonce
		}
	}
	if len(s.at) >= maxShown {
		delete(s.at, oldest)
	}
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // it never fails
	nonce := hex.EncodeToString(raw)
	s.at[nonce] = q
	return nonce
}

// use takes a nonce away, and says what was shown with it.
func (s *shown) use(nonce, visit string) (seen, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, ok := s.at[nonce]
	if !ok || q.visit != visit {
		return seen{}, false
	}
	delete(s.at, nonce)
	return q, true
}

// decider makes the pages on which a person gives a word, and takes it.
type decider struct {
	read  *reader
	shown *shown
}

// decision reads what waits for a person in a session, nil where nothing does.
func (s *decider) decision(ctx context.Context, issue string) (*decision, error) {
	k, i, err := s.read.at(ctx, issue)
	if err != nil {
		return nil, err
	}
	own, err := s.read.desk(ctx, k, i)
	if err != nil {
		return nil, err
	}
	d := &decision{desk: own}
	a := own.Approval
	unproven := own.Blocked != nil && own.Blocked.Kind == string(kernel.BlockedUnproven)
	if a == nil && !unproven {
		return nil, nil
	}
	if d.Report, err = s.reportOf(ctx, own); err != nil {
		return nil, err
	}
	if a != nil {
		d.About, d.Digest, d.Since, d.Detail = a.About, a.Hash, a.Since, a.Detail
	}
	if p := d.Report.Proof; p != nil && (unproven || d.About == kernel.AboutProof) {
		d.Tree = p.Tree
		if unproven {
			d.About, d.Digest, d.Since = view.AboutUnproven, p.Tree, own.UpdatedAt
		}
	}
	switch d.About {
	case "plan":
		at, err := query.Current(ctx, k)
		if err != nil {
			return nil, err
		}
		p := query.PlanOf(at)
		d.Plan = &p
	case kernel.AboutStage:
		d.Choices = []string{workflow.ChooseStart}
		if own.Flow != nil && own.Flow.Stage == workflow.Evaluate {
			d.Choices = []string{workflow.ChooseSilent, workflow.ChooseInteractive}
		}
	default:
		if d.Files, err = s.read.diffOf(ctx, d.Report); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// reportOf is the run that a session is at.
func (s *decider) reportOf(ctx context.Context, d *desk) (*view.Report, error) {
	return s.read.ask.Run(ctx, cmp.Or(d.Need.Issue, kernel.SessionLabel), "")
}

// lines are what a question says, to be compared with what it says later.
func (d *decision) lines() []string {
	out := []string{d.Goal, d.Detail}
	add := func(words ...string) { out = append(out, title(strings.Join(words, " "))) }
	if p := d.Plan; p != nil {
		add(p.Goal, string(p.Risk))
		for _, c := range p.Constraints {
			add("·", c)
		}
		for _, c := range p.Criteria {
			add(c.ID, c.Text)
		}
		for _, s := range p.Steps {
			add(s.ID, s.Title)
			for _, c := range s.Calls {
				add(c.Tool, string(c.Args))
			}
		}
		for _, c := range p.Checks {
			add(c.Name, c.Command)
		}
	}
	for _, f := range d.Files {
		for _, r := range f.Rows {
			add(f.Path, string(r.Sign)+r.Text)
		}
	}
	return out
}

// show mints the nonce of a question that is about to be shown, and has it recorded that it was.
func (s *decider) show(ctx context.Context, p *page, d *decision) error {
	d.Nonce = s.shown.mint(seen{visit: p.visit, issue: d.Need.Issue, about: d.About, digest: d.Digest, lines: d.lines(),
		at: p.now})
	if d.About == view.AboutUnproven {
		return nil // there is no question yet: the person's word begins with accepting it
	}
	k, _, err := s.read.at(ctx, d.Need.Issue)
	if err == nil {
		_, err = k.Do(ctx, kernel.Envelope{Actor: p.person, Command: &approval.Show{Hash: d.Digest}})
	}
	switch pawl.CodeOf(err) {
	case pawl.CodeApprovalStale, pawl.CodeInvalidTransition: // an answer to what is no longer asked is refused
		return nil
	}
	return err
}

func (s *decider) now(ctx context.Context, p *page, _ *http.Request) (templ.Component, error) {
	p.title, p.here = p.Text("web.now"), "now"
	o, err := s.read.overview(ctx, p)
	if err == nil {
		o.Bundles, err = s.bundles(ctx, p, o.Needs)
	}
	return nowView(p, o), err
}

func (s *decider) decide(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	p.title, p.here = p.Text("web.decide"), "now"
	issue := r.URL.Query().Get("issue")
	d, err := s.decision(ctx, issue)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return refusedView(p, refusal{Issue: issue, Why: "web.refused.nothing"}), nil
	}
	return decideView(p, d), s.show(ctx, p, d)
}

// refusal says why an answer does not count, and what has changed since its question was shown.
type refusal struct {
	Issue string
	// Why is a key of the catalogue, and By who answered where somebody did.
	Why string
	By  *view.ApprovalLine
	// Gone and New are what the question said then and says now, and Now reports that one waits.
	Gone, New []string
	Now       bool
}

// refuse says why an answer does not count.
func (s *decider) refuse(ctx context.Context, p *page, was seen, why string) (templ.Component, error) {
	p.status = http.StatusConflict
	p.title = p.Text("web.refused")
	out, err := s.refusal(ctx, was, why)
	return refusedView(p, out), err
}

// refusal is why an answer does not count, with what has changed since its question was shown.
func (s *decider) refusal(ctx context.Context, was seen, why string) (refusal, error) {
	out := refusal{Issue: was.issue, Why: why}
	d, err := s.decision(ctx, was.issue)
	if err != nil {
		return out, err
	}
	switch {
	case d != nil:
		out.Now = true
		if was.digest != "" && d.Digest != was.digest {
			out.Why = "web.refused.changed"
			now := d.lines()
			out.Gone, out.New = without(was.lines, now), without(now, was.lines)
		}
	case was.digest != "":
		out.Why = "web.refused.over"
		k, i, err := s.read.at(ctx, was.issue)
		if err != nil {
			return out, err
		}
		own, err := s.read.desk(ctx, k, i)
		if err != nil {
			return out, err
		}
		if r, err := s.reportOf(ctx, own); err == nil {
			for n := range r.Approvals {
				if a := &r.Approvals[n]; a.Hash == was.digest && a.By != "" {
					out.Why, out.By = "web.refused.answered", a
				}
			}
		}
	}
	return out, nil
}

// without are the lines that are not among others.
func without(in, others []string) (out []string) {
	known := map[string]bool{}
	for _, l := range others {
		known[l] = true
	}
	for _, l := range in {
		if !known[l] && l != "" && len(out) < 200 {
			out = append(out, l)
		}
	}
	return out
}

// decided takes an answer. It counts for what was shown, and for nothing else: the nonce is known to have been shown to
// this person with this digest, and the kernel compares the digest once more where it commits.
func (s *decider) decided(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	p.here = "now"
	form := r.PostForm
	was, ok := s.shown.use(form.Get("nonce"), p.visit)
	if !ok || was.digest != form.Get("digest") || was.issue != form.Get("issue") {
		return s.refuse(ctx, p, seen{issue: form.Get("issue"), digest: was.digest, lines: was.lines}, "web.refused.used")
	}
	d, err := s.decision(ctx, was.issue)
	if err != nil {
		return nil, err
	}
	if d == nil || d.Digest != was.digest || d.About != was.about {
		return s.refuse(ctx, p, was, "web.refused.changed")
	}
	op := form.Get("answer")
	command, err := d.command(op, form.Get("reason"), form.Get("choice"))
	if err != nil {
		return nil, err
	}
	if d.high() && (op == "approve" || op == "accept" || op == "choose") &&
		strings.ToLower(strings.TrimSpace(form.Get("typed"))) != d.Digest[:min(typed, len(d.Digest))] {
		p.title, p.status, d.Mistyped = p.Text("web.decide"), http.StatusUnprocessableEntity, true
		return decideView(p, d), s.show(ctx, p, d)
	}
	err = s.give(ctx, p, was.issue, d.given(command), false)
	switch pawl.CodeOf(err) {
	case pawl.CodeApprovalStale, pawl.CodeChanged, pawl.CodeConflict:
		return s.refuse(ctx, p, was, "web.refused.changed")
	}
	p.next = with("/", "done", op)
	return nil, err
}

// given is a command that counts for what was shown alone: for the open question, which the kernel knows by its digest,
// or for the tree that the command names where the work is BLOCKED and nothing is asked.
func (d *decision) given(c kernel.Command) kernel.Envelope {
	env := kernel.Envelope{Command: c}
	if d.About != view.AboutUnproven {
		env.Seen = d.Digest
	}
	return env
}

// command is what an answer has the kernel do.
func (d *decision) command(op, reason, choice string) (kernel.Command, error) {
	reason = strings.TrimSpace(reason)
	switch {
	case op == "approve" && d.Tree == "" && len(d.Choices) == 0:
		return &approval.Approve{Hash: d.Digest, Way: kernel.WayPage}, nil
	case op == "choose" && slices.Contains(d.Choices, choice):
		return &planning.Choose{Choice: choice, Hash: d.Digest}, nil
	case op == "accept" && d.Tree != "":
		if reason == "" {
			return nil, pawl.Fail(pawl.CodeInvalid, "web.reason_missing")
		}
		return &verification.Accept{Tree: d.Tree, Reason: reason, Way: kernel.WayPage}, nil
	case op == "revise" && d.About == "plan":
		if reason == "" {
			return nil, pawl.Fail(pawl.CodeInvalid, "cli.revise_nothing")
		}
		return &planning.Revise{Feedback: reason}, nil
	case op == "deny" && d.About != view.AboutUnproven:
		return &approval.Deny{Reason: reason}, nil
	}
	return nil, pawl.Fail(pawl.CodeInvalid, "web.answer_unknown", line(op))
}

// give gives a command of the person to the kernel of a session.
func (s *decider) give(ctx context.Context, p *page, issue string, env kernel.Envelope, rests bool) error {
	k, _, err := s.read.at(ctx, issue)
	if err != nil {
		return err
	}
	env.Actor = p.person
	give := s.read.To(k).Now
	if rests {
		give = s.read.To(k).Do
	}
	if _, err = give(ctx, env); err == nil && !rests && s.read.Work != nil {
		s.read.Work()
	}
	return err
}

// asked is the nonce of a question that is shown. Those about a requirement are shown together, and have one.
func (s *shown) asked(p *page, issue string, q view.Question) string {
	return s.mint(seen{visit: p.visit, issue: issue, about: view.AboutQuestion, digest: askedOf(q),
		lines: []string{q.Text}, at: p.now})
}

// askedOf names a question: by its id, or by when those about a requirement were asked.
func askedOf(q view.Question) string { return cmp.Or(q.ID, q.Since.String()) }

// clarified takes the answers to the questions about a requirement, if they are those that were shown.
func (s *decider) clarified(ctx context.Context, p *page, was seen, form url.Values) (templ.Component, error) {
	k, i, err := s.read.at(ctx, was.issue)
	if err != nil {
		return nil, err
	}
	d, err := s.read.desk(ctx, k, i)
	if err != nil {
		return nil, err
	}
	if was.about != view.AboutQuestion || !d.Unclear() || was.digest != askedOf(d.Questions[0]) {
		p.status, p.title = http.StatusConflict, p.Text("web.refused")
		return refusedView(p, refusal{Why: "web.refused.used", Issue: was.issue}), nil
	}
	p.next = with("/", "done", "answer")
	command := &steps.AnswerQuestions{Answers: form["reason"]}
	if form.Get("op") == "go_on" {
		command.Answers = nil
	}
	return nil, s.give(ctx, p, was.issue, kernel.Envelope{Command: command}, false)
}

// answered takes the answer to a question of an agent, or those to the questions about a requirement.
func (s *decider) answered(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	p.here = "now"
	form := r.PostForm
	was, ok := s.shown.use(form.Get("nonce"), p.visit)
	name := form.Get("question")
	if name == "" {
		return s.clarified(ctx, p, was, form)
	}
	q, err := s.read.ask.Question(ctx, name)
	if err != nil {
		return nil, err
	}
	if !ok || was.about != view.AboutQuestion || was.digest != name || !q.Open {
		p.status, p.title = http.StatusConflict, p.Text("web.refused")
		out := refusal{Why: "web.refused.used", Issue: form.Get("issue")}
		if !q.Open {
			out.Why, out.By = "web.refused.answered", &view.ApprovalLine{By: string(q.By), State: q.State, Note: q.Answer}
		}
		return refusedView(p, out), nil
	}
	p.next = with("/", "done", "answer")
	command := &steps.AnswerQuestions{Question: name, Answers: []string{strings.TrimSpace(form.Get("reason"))}}
	return nil, s.give(ctx, p, was.issue, kernel.Envelope{Command: command}, false)
}

// controlled takes hold of the work of a session.
func (s *decider) controlled(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	p.here = "now"
	form := r.PostForm
	reason, issue := strings.TrimSpace(form.Get("reason")), form.Get("issue")
	env, rests := kernel.Envelope{}, false
	switch op := form.Get("op"); op {
	case "pause":
		env.Command, rests = &control.Pause{}, true
	case "resume":
		env.Command = &control.Resume{}
	case "stop":
		env.Command = &recovery.Stop{Reason: reason}
	case "cancel":
		env.Command = &control.CancelRun{Reason: reason}
	case "skip":
		env.Command = &recovery.Skip{Reason: reason}
	case "rollback":
		env.Command = &recovery.Rollback{Reason: reason}
	case "retry", "skip_issue":
		var err error
		if env.Command, err = s.settled(ctx, issue, op, reason); err != nil {
			return nil, err
		}
	case "fix":
		env.Command = &recovery.Fix{Note: reason, Answer: kernel.Answer(form.Get("answer"))}
	case "undo", "redo":
		run, err := s.read.ask.Run(ctx, cmp.Or(issue, kernel.SessionLabel), form.Get("run"))
		if err != nil {
			return nil, err
		}
		issue = run.Issue
		env.Command = &recovery.Undo{Run: run.ID}
		if op == "redo" {
			env.Command = &recovery.Redo{Run: run.ID}
		}
	default:
		return nil, pawl.Fail(pawl.CodeInvalid, "web.answer_unknown", line(op))
	}
	back := local(form.Get("back"))
	head, _, _ := strings.Cut(back, "?")
	p.next = with(head, "done", "control")
	return nil, s.give(ctx, p, issue, env, rests)
}

// settled is the command about an issue that failed: it is tried again, or skipped.
func (s *decider) settled(ctx context.Context, issue, op, reason string) (kernel.Command, error) {
	i, err := s.read.ask.Board().Issue(ctx, issue)
	switch {
	case err != nil:
		return nil, err
	case op == "retry":
		return &issues.RetryIssue{Issue: i.ID, Note: reason}, nil
	}
	return &issues.EditIssue{Issue: i.ID, Paused: new(true), Feedback: reason}, nil
}

// act is something that a person can do to the work, as a form.
type act struct {
	Op, Answer, Run, Command string
	// Heard says that what is said with it is told to whoever goes on.
	Heard bool
}

// words is the message that says what is to be said with it, "" where nothing is.
func (a act) words() string {
	switch a.Op {
	case "fix":
		if a.Heard {
			return "web.reason_fix"
		}
		return "web.reason"
	case "stop", "cancel", "skip", "skip_issue", "retry", "rollback":
		return "web.reason"
	}
	return ""
}

// acts are those of the next commands that are forms; what needs more than a reason is left to the terminal.
func acts(next []view.Next, run string) (out []act) {
	for _, n := range next {
		switch n.Op {
		case "pause", "resume", "stop", "cancel", "skip", "rollback", "undo", "redo", "fix", "retry", "skip_issue":
			a := act{Op: n.Op, Command: n.Command, Heard: n.Heard()}
			if n.Op == "undo" || n.Op == "redo" {
				a.Run = run
			}
			if _, answer, ok := strings.Cut(n.Command, " --answer "); ok {
				a.Answer, _, _ = strings.Cut(answer, " ")
			}
			out = append(out, a)
		}
	}
	return out
}

// args are the arguments of a call by name, text as it is and everything else as JSON.
func args(raw json.RawMessage) (out [][2]string) {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return [][2]string{{"", string(raw)}}
	}
	for name, v := range all {
		var s string
		if json.Unmarshal(v, &s) != nil {
			s = string(v)
		}
		out = append(out, [2]string{name, s})
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out
}
