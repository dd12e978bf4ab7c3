package outbox

import (
	"net/url"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/notices"
	"pawl/kernel/view"
	"pawl/text/display"
)

// How long a title and a text may be.
const (
	maxTitle = 160
	maxBody  = 800
)

// plain is a text of others as one that may go out: on one line, without secrets and not too long.
func (o *Outbox) plain(text string, most int) string {
	return display.Clip(display.Line(o.Hide(strings.ToValidUTF8(text, "�"))), most)
}

// message puts into words what a channel is told of something.
func (o *Outbox) message(c Channel, w *view.Waiting) notices.Message {
	m := notices.Message{Repeatable: c.Repeatable(), Spec: effect.NoticeSpec{Channel: c.Name, Topic: w.Topic,
		Risk: string(w.Risk), Name: w.Name, Withdraws: c.Withdraws() && w.Topic.Waits(),
		Title: o.plain(o.title(w), maxTitle), Body: o.body(w)}}
	if len(w.Next) > 0 {
		m.Spec.Command = o.plain(w.Next[0].Command, maxTitle)
	}
	if at := o.Pages(); at != "" && w.Topic != effect.TopicTest {
		m.Spec.Link = at + page(w)
	}
	if w.Topic.Waits() && o.looked() {
		m.Hold = o.Hold.Milliseconds()
	}
	return m
}

// title says in a line what it is about.
func (o *Outbox) title(w *view.Waiting) string {
	what := ""
	switch w.Topic {
	case effect.TopicApproval:
		what = o.Lang.Text("web.about." + w.Asked)
	case effect.TopicQuestion:
		what = o.Lang.Text("web.about.question")
	default:
		what = o.Lang.Text("notify.topic." + string(w.Topic))
	}
	if w.Name == "" {
		return o.Lang.Text("notify.title", o.Project, what)
	}
	return o.Lang.Text("notify.title_of", o.Project, what, w.Name)
}

// body says why, and for what.
func (o *Outbox) body(w *view.Waiting) string {
	var lines []string
	add := func(text string) {
		if text = o.plain(text, maxBody/2); text != "" {
			lines = append(lines, text)
		}
	}
	add(w.Goal)
	add(w.Text)
	if w.Why != nil {
		why, _ := o.Lang.Error(w.Why.Err())
		add(why)
	}
	if w.Commit != "" {
		add(o.Lang.Text("notify.landed", display.Hash(w.Commit), w.Branch))
	}
	if w.Topic == effect.TopicApproval && w.Risk != pawl.RiskLow {
		add(o.Lang.Text("notify.risk." + string(w.Risk)))
	}
	if w.Topic == effect.TopicTest {
		add(o.Lang.Text("notify.test"))
	}
	return display.Head(strings.Join(lines, "\n"), maxBody)
}

// page is where the dashboard shows it. A page is all that a message leads to: it approves nothing.
func page(w *view.Waiting) string {
	if !w.Topic.Waits() {
		return "run/" + url.PathEscape(w.Name)
	}
	if w.Topic != effect.TopicApproval {
		return ""
	}
	if w.Session == kernel.SessionLabel {
		return "decide"
	}
	return "decide?issue=" + url.QueryEscape(w.Session)
}
