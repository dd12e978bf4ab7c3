package web

import (
	"context"
	"net/http"

	"github.com/a-h/templ"

	"pawl"
	"pawl/face/host"
	"pawl/kernel"
)

// modes are what may be asked about in a run.
func modes() []string {
	return []string{string(pawl.Interactive), string(pawl.Assisted), string(pawl.Autonomous)}
}

// begun takes a requirement up. It happens once however often the form is sent: a second one finds the first under way.
func (s *decider) begun(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	f := r.PostForm
	c, err := s.read.Begin(ctx, host.Requirement{Text: f.Get("requirement"), Agent: f.Get("agent"), Mode: f.Get("mode"),
		InPlace: f.Get("in_place") != ""})
	if err != nil {
		return nil, err
	}
	p.next = "/?done=begin"
	return nil, s.give(ctx, p, "", kernel.Envelope{Command: c}, false)
}
