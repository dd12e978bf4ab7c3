package session_test

import (
	"encoding/json"
	"testing"

	"pawl"
	"pawl/machine/session"
)

// TestBeside takes every row of what stands beside the state, and refuses it from where it leads.
func TestBeside(t *testing.T) {
	running, paused := session.Beside{Dispatch: "running"}, session.Beside{Dispatch: "paused"}
	none, rolling := session.Beside{Rollback: "none"}, session.Beside{Rollback: "under_way"}
	seen := map[session.Event]bool{}
	for _, c := range []struct {
		region   string
		from, to session.Beside
		on       session.Event
	}{
		{"session.dispatch", running, paused, session.Pause}, {"session.dispatch", paused, running, session.Resume},
		{"session.rollback", none, rolling, session.RollbackAsked},
		{"session.rollback", rolling, none, session.RollbackFailed},
		{"session.rollback", rolling, none, session.RollbackEnded},
	} {
		seen[c.on] = true
		at := c.from
		if err := at.Move(c.region, c.on); err != nil || at != c.to {
			t.Errorf("%s: %+v, %v", c.on, at, err)
		}
		if err := at.Move(c.region, c.on); err == nil || err.Code != pawl.CodeInvalidTransition || at != c.to {
			t.Errorf("%s twice: %+v, %v", c.on, at, err)
		}
		if at.Paused() != (c.to == paused) || at.RollingBack() != (c.to == rolling) {
			t.Errorf("%+v: paused %v, rolling back %v", at, at.Paused(), at.RollingBack())
		}
	}
	for _, d := range session.Describe()[1:] {
		if p := d.Check(); len(p) != 0 {
			t.Errorf("problems: %v", p)
		}
		for _, r := range d.Rules {
			if !seen[session.Event(r.On)] {
				t.Errorf("%s of %s is never taken", r.ID, d.Name)
			}
		}
	}
}

// TestBesideOfEarlierVersions reads the flags of earlier versions as states, and writes none of them.
func TestBesideOfEarlierVersions(t *testing.T) {
	for doc, want := range map[string]session.Beside{
		`{}`:                               {Dispatch: "running", Rollback: "none"},
		`{"paused":true}`:                  {Dispatch: "paused", Rollback: "none"},
		`{"rolling":true}`:                 {Dispatch: "running", Rollback: "under_way"},
		`{"paused":true,"rolling":true}`:   {Dispatch: "paused", Rollback: "under_way"},
		`{"dispatch":"paused"}`:            {Dispatch: "paused", Rollback: "none"},
		`{"rollback":"under_way"}`:         {Dispatch: "running", Rollback: "under_way"},
		`{"paused":false,"rolling":false}`: {Dispatch: "running", Rollback: "none"},
	} {
		var got, again session.Beside
		if err := json.Unmarshal([]byte(doc), &got); err != nil {
			t.Fatal(err)
		}
		flags := got.WasPaused || got.WasRolling
		if session.Outdated([]byte(doc)) != flags {
			t.Errorf("%s: outdated %v", doc, !flags)
		}
		if got.Settle(); got != want {
			t.Errorf("%s: %+v", doc, got)
		}
		raw, err := json.Marshal(got)
		if err == nil {
			err = json.Unmarshal(raw, &again)
		}
		if again.Settle(); err != nil || again != want || session.Outdated(raw) {
			t.Errorf("%s is written as %s, %v", doc, raw, err)
		}
	}
}
