package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pawl/machine/session"
)

// TestBegin: a requirement is taken up from the first page, once, as the person's; while it is under way there is no form.
func TestBegin(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.enter()
	page := l.get("/").raw
	for _, name := range []string{"requirement", "agent", "mode", "in_place"} {
		if !strings.Contains(page, `name="`+name+`"`) {
			t.Errorf("the form has no %s", name)
		}
	}
	wrong := url.Values{"requirement": {"x"}, "agent": {"<nobody>"}}
	if a := l.send(http.MethodPost, "/run", wrong); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.raw, "&lt;nobody&gt;") {
		t.Errorf("an agent that there is not: %d %s", a.status, a.raw)
	}
	good := url.Values{"requirement": {"write " + hostile}, "mode": {"assisted"}}
	l.send(http.MethodPost, "/run", good)
	s, err := l.k.Snapshot(t.Context())
	if err != nil || s.Session.State == string(session.Idle) || s.Run == nil || s.Session.RunMode != "assisted" || l.works != 1 {
		t.Fatalf("%+v %+v, %d, %v", s.Session, s.Run, l.works, err)
	}
	if strings.Contains(l.get("/").raw, `action="/run"`) {
		t.Error("there is a form while a requirement is under way")
	}
	if a := l.send(http.MethodPost, "/run", good); a.status != http.StatusLocked {
		t.Errorf("once more: %d", a.status)
	}
}
