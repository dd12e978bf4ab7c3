package kernel_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/store/moved"
)

// elsewhere makes the bench's kernel one of a workspace that is at another path now.
func (b *bench) elsewhere(path string) {
	at := effect.Place{Workspace: path, State: path + "-state"}
	b.k = kernel.New(joined.Table(), moved.At(b.store, at), *b.k.Config(), pawl.ClockFunc(b.k.Now), rand.Reader)
}

// TestPlace_IsWhereTheWorkspaceIs: every place that a decision is made from, or that an effect is handed out with, is
// below where the workspace is now, whatever was written before, and work goes on from where it was.
func TestPlace_IsWhereTheWorkspaceIs(t *testing.T) {
	b := newBench(t)
	w := &world{plan: twoSteps()}
	b.atWork(w)
	for n := 0; b.look().Session.State != "IDLE"; n++ {
		to := "/v/" + string(rune('a'+n%26))
		b.elsewhere(to)
		s := b.look()
		places := []effect.Place{s.Session.Place, s.Run.Place, s.Task.Place}
		if s.Effect != nil {
			places = append(places, s.Effect.Effect.Place)
		}
		for _, p := range places {
			if p.Workspace != to || p.Tree != to && !strings.HasPrefix(p.Tree, to+"-state/worktrees/") {
				t.Fatalf("a place is elsewhere: %+v, want it below %s", p, to)
			}
		}
		b.act(func(e effect.Effect) effect.Receipt {
			if e.Place.Workspace != to {
				t.Errorf("%s is to work in %s, want %s", e.Kind, e.Place.Workspace, to)
			}
			return w.answer(e)
		})
		if n > 200 {
			t.Fatal("it never ends")
		}
	}
	if s := b.look(); s.Session.Home != "/w" {
		t.Errorf("the home was taken for moved without a word: %s", s.Session.Home)
	}
}

// TestPlace_OfAnOldStore: a store that says nothing of its home has it where its session works.
func TestPlace_OfAnOldStore(t *testing.T) {
	b := newBench(t)
	s := b.look().Session
	raw, err := json.Marshal(&kernel.Session{Name: "main", Place: effect.Place{Workspace: "/w", Tree: "/w"}})
	if err != nil {
		t.Fatal(err)
	}
	row := s.Row
	row.Doc = raw
	if _, err := b.store.Commit(context.Background(),
		kernel.Batch{Key: "k", Writes: []kernel.Write{{Row: func() kernel.Row { r := row; r.Version++; return r }(),
			From: row.Version}}}); err != nil {
		t.Fatal(err)
	}
	b.elsewhere("/v")
	if s := b.look().Session; s.Home != "/w" || s.Place.Workspace != "/v" {
		t.Errorf("home %q, place %+v", s.Home, s.Place)
	}
}

func TestRelocate(t *testing.T) {
	b := newBench(t)
	if s := b.look().Session; s.Home != "/w" {
		t.Fatalf("at first: %q", s.Home)
	}
	b.do(&planning.Relocate{From: "/w", To: "/v"})
	if s := b.look().Session; s.Home != "/v" {
		t.Errorf("moved: %q", s.Home)
	}
	out, err := b.k.Do(context.Background(),
		kernel.Envelope{Actor: "system:place", Command: &planning.Relocate{From: "/w", To: "/v"}})
	if err != nil || out.Changed {
		t.Errorf("again: %+v, %v", out, err)
	}
}
