package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/text/policy"
)

// bundle are questions of one rule and of low risk, which may be answered together.
type bundle struct {
	Rule      policy.Code
	Questions []*decision
}

// bundles finds what may be answered together, and shows each question of it.
func (s *decider) bundles(ctx context.Context, p *page, needs []need) (out []bundle, err error) {
	of := map[policy.Code][]need{}
	for _, n := range needs {
		if n.Rule != "" {
			of[n.Rule] = append(of[n.Rule], n)
		}
	}
	for _, n := range needs {
		all := of[n.Rule]
		if len(all) < 2 {
			continue
		}
		delete(of, n.Rule)
		b := bundle{Rule: n.Rule}
		for _, n := range all {
			d, err := s.decision(ctx, n.Issue)
			if err != nil {
				return nil, err
			}
			if d == nil || d.Need.Rule != b.Rule {
				continue // it was answered meanwhile, or is another one
			}
			if err := s.show(ctx, p, d); err != nil {
				return nil, err
			}
			b.Questions = append(b.Questions, d)
		}
		out = append(out, b)
	}
	return out, nil
}

// batched approves the questions of a bundle that were chosen, each by the digest that was shown. One that is another
// by now is refused alone.
func (s *decider) batched(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	p.title, p.here = p.Text("web.refused"), "now"
	rule := policy.Code(r.PostForm.Get("rule"))
	var refused []refusal
	approved := 0
	for _, name := range r.PostForm["answer"] {
		was, why, err := s.approveOne(ctx, p, name, rule)
		if err != nil {
			return nil, err
		}
		if why == "" {
			approved++
			continue
		}
		no, err := s.refusal(ctx, was, why)
		if err != nil {
			return nil, err
		}
		refused = append(refused, no)
	}
	if len(refused) == 0 {
		if p.next = "/"; approved > 0 {
			p.next = with("/", "done", "approve")
		}
		return nil, nil
	}
	p.status = http.StatusConflict
	return batchView(p, approved, refused), nil
}

// answerName names a question of a bundle in a form: by its nonce, its digest and its issue.
func answerName(d *decision) string { return d.Nonce + "." + d.Digest + "." + d.Need.Issue }

// approveOne approves one question of a rule, or says why that does not count: a key of the catalogue.
func (s *decider) approveOne(ctx context.Context, p *page, name string, rule policy.Code) (seen, string, error) {
	nonce, rest, _ := strings.Cut(name, ".")
	digest, issue, _ := strings.Cut(rest, ".")
	was, ok := s.shown.use(nonce, p.visit)
	if !ok || was.digest != digest || was.issue != issue {
		return seen{issue: issue}, "web.refused.used", nil
	}
	if rule == "" {
		return was, "web.refused.changed", nil
	}
	err := s.give(ctx, p, was.issue, kernel.Envelope{Seen: was.digest,
		Command: &approval.Approve{Hash: was.digest, Way: kernel.WayPage, Rule: rule}}, false)
	switch pawl.CodeOf(err) {
	case pawl.CodeApprovalStale, pawl.CodeChanged, pawl.CodeConflict, pawl.CodeInvalidTransition:
		return was, "web.refused.changed", nil
	}
	return was, "", err
}
