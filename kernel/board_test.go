package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/effect"
	"pawl/kernel"
	"pawl/kernel/joint"
	"pawl/machine/board"
	"pawl/plan"
)

// issueOf reads an issue by its label.
func (b *bench) issueOf(label string) *kernel.Issue {
	b.t.Helper()
	rows, err := b.store.Load(context.Background(), kernel.Select{Kind: kernel.KindIssue, Label: label})
	if err != nil || len(rows[0]) != 1 {
		b.t.Fatalf("%s: %d rows, %v", label, len(rows[0]), err)
	}
	i := new(kernel.Issue)
	if err := kernel.Decode(rows[0][0], i); err != nil {
		b.t.Fatal(err)
	}
	return i
}

func (b *bench) take(planning bool) *kernel.Taken {
	b.t.Helper()
	out := b.do(&kernel.Take{Owner: "w1", Planning: planning, Now: b.now.Add(time.Second)})
	var t *kernel.Taken
	if err := json.Unmarshal(out.Result, &t); err != nil {
		b.t.Fatal(err)
	}
	return t
}

// planned takes an issue up, has its plan made with a step that writes the file, and approves it.
func (b *bench) planned(t *kernel.Taken, file string) {
	b.t.Helper()
	home := b.k
	b.k = home.Lane(t.Lane)
	b.do(&kernel.Start{Issue: t.Issue, Token: t.Token, Place: effect.Place{Workspace: "/w", Git: true}, RunMode: pawl.Assisted})
	for range 20 {
		s := b.look()
		if s.Session.State == "CONFIRMING" {
			b.do(&kernel.Approve{Hash: s.Approval.Hash})
			break
		}
		b.act(worldOf(file).answer)
	}
	b.k = home
	b.do(&kernel.Leave{Issue: t.Issue, Token: t.Token})
}

// world answers for a plan that changes the file.
func worldOf(file string) *world {
	p := twoSteps()
	p.Goal = "change " + file
	p.Steps[0].ExpectedArtifacts = []plan.Artifact{{Type: plan.ArtifactFile, Value: file}}
	return &world{plan: p}
}

func TestTheBoardTakesIssuesInOrder(t *testing.T) {
	b := newBench(t)
	b.do(&kernel.AddIssues{Issues: []kernel.NewIssue{
		{Ref: "a", Title: "first"}, {Ref: "b", Title: "urgent", Priority: 1}, {Ref: "c", Title: "waits", Priority: 1, After: []string{"a"}},
		{Ref: "d", Title: "held", Priority: 1, Paused: true}, {Ref: "e", Title: "root of a chain"}, {Title: "end", After: []string{"e"}},
	}})
	var order []string
	for {
		taken := b.take(true)
		if taken == nil {
			break
		}
		order = append(order, taken.Lane)
	}
	// Priority first; among those of one age the one that a chain waits for; planning does not wait for dependencies.
	if got := strings.Join(order, " "); got != "ISS-2 ISS-3 ISS-1 ISS-5 ISS-6" {
		t.Errorf("planned in the order %s", got)
	}
	if again := b.take(true); again != nil {
		t.Errorf("taken twice: %+v", again)
	}
	b.now = b.now.Add(b.k.Config().LeaseTime)
	if over := b.take(true); over == nil || over.Token != 2 {
		t.Errorf("a claim that ran out is not taken over: %+v", over)
	}
}

func TestDependenciesHoldBackAndRelease(t *testing.T) {
	b := newBench(t)
	b.do(&kernel.AddIssues{Issues: []kernel.NewIssue{{Ref: "a", Title: "a"}, {Ref: "b", Title: "b", After: []string{"a"}}, {Title: "c", After: []string{"a", "b"}}}})
	for range 3 {
		taken := b.take(true)
		b.planned(taken, taken.Lane+".go")
	}
	first := b.take(false)
	if first == nil || first.Lane != "ISS-1" {
		t.Fatalf("first %+v", first)
	}
	if second := b.take(false); second != nil {
		t.Fatalf("%+v does not wait", second)
	}
	b.work(first, worldOf("x"))
	if i := b.issueOf("ISS-1"); i.State != string(board.IssueCompleted) {
		t.Fatalf("ISS-1 is %s", i.State)
	}
	b.do(&kernel.Leave{Issue: first.Issue, Token: first.Token})
	b.do(&kernel.Release{Issue: first.Issue})
	if out := b.do(&kernel.Release{Issue: first.Issue}); out.Changed {
		t.Error("released twice")
	}
	next := b.take(false)
	if next == nil || next.Lane != "ISS-2" {
		t.Fatalf("next %+v", next)
	}
	if i := b.issueOf("ISS-3"); len(i.Open) != 1 {
		t.Errorf("ISS-3 waits for %v", i.Open)
	}
	for _, v := range joint.CheckInvariants(context.Background(), b.k) {
		t.Errorf("%+v", v)
	}
}

// work drives a claimed issue until nothing is left to do.
func (b *bench) work(taken *kernel.Taken, w *world) *kernel.Snapshot {
	b.t.Helper()
	home := b.k
	defer func() { b.k = home }()
	b.k = home.Lane(taken.Lane)
	b.run(w.answer)
	return b.look()
}

func TestLandingOnABranchThatMoved(t *testing.T) {
	for name, c := range map[string]struct {
		rebases []effect.RebaseResult
		moved   int
		fails   int
		state   board.IssueStatus
		gates   int
	}{
		"not moved":           {state: board.IssueCompleted, gates: 1},
		"moved":               {rebases: []effect.RebaseResult{{Base: "c9", Tree: "t1", Moved: true}}, state: board.IssueCompleted, gates: 2},
		"moved while landing": {moved: 2, state: board.IssueCompleted, gates: 1},
		"fails there once":    {rebases: []effect.RebaseResult{{Base: "c9", Tree: "t1", Moved: true}}, fails: 1, state: board.IssueCompleted, gates: 2},
		"conflict":            {rebases: []effect.RebaseResult{{Base: "c0", Tree: "t1", Moved: true, Conflicts: []effect.Conflict{{Path: "x", Kind: effect.ConflictContent, Detail: "<<<<"}}}}, state: board.IssueFailed, gates: 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.do(&kernel.AddIssues{Issues: []kernel.NewIssue{{Title: "a"}}})
			b.planned(b.take(true), "a.go")
			w := worldOf("a.go")
			w.rebases, w.moved = c.rebases, c.moved
			taken := b.take(false)
			w.failLater = c.fails
			s := b.work(taken, w)
			if i := b.issueOf("ISS-1"); i.State != string(c.state) {
				t.Errorf("the issue is %s: %+v", i.State, s.Session.Blocked)
			}
			if w.gateRuns != c.gates {
				t.Errorf("gates ran %d times", w.gateRuns)
			}
			if c.state == board.IssueFailed && (s.Session.Blocked == nil || s.Session.Blocked.Error.Key != "kernel.landing_conflict") {
				t.Errorf("blocked %+v", s.Session.Blocked)
			}
			for _, v := range joint.CheckInvariants(context.Background(), b.k) {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestOverlappingFilesWait(t *testing.T) {
	b := newBench(t)
	b.do(&kernel.AddIssues{Issues: []kernel.NewIssue{{Title: "a"}, {Title: "b"}, {Title: "c"}}})
	for _, file := range []string{"x.go", "x.go", "y.go"} {
		b.planned(b.take(true), file)
	}
	first, second := b.take(false), b.take(false)
	if first == nil || second == nil || first.Lane != "ISS-1" || second.Lane != "ISS-3" {
		t.Fatalf("%+v %+v", first, second)
	}
	if third := b.take(false); third != nil {
		t.Errorf("%+v collides", third)
	}
	b.do(&kernel.Leave{Owner: "w1"})
	if again := b.take(false); again == nil || again.Lane != "ISS-1" {
		t.Errorf("after the worker is gone: %+v", again)
	}
}

func TestCirclesAreRefused(t *testing.T) {
	b := newBench(t)
	var chain []kernel.NewIssue
	for n := range 60 {
		i := kernel.NewIssue{Ref: fmt.Sprint(n), Title: fmt.Sprint("issue ", n)}
		if n > 0 {
			i.After = []string{fmt.Sprint(n - 1)}
		}
		chain = append(chain, i)
	}
	b.do(&kernel.AddIssues{Issues: chain})
	first, last := b.issueOf("ISS-1"), b.issueOf("ISS-60")
	if first.Height != 59 || last.Height != 0 {
		t.Errorf("heights %d and %d", first.Height, last.Height)
	}
	_, err := b.try(&kernel.Depend{Issue: first.ID, On: last.ID})
	if pawl.CodeOf(err) != pawl.CodeInvalid || !strings.Contains(err.Error(), "ISS-1 → ") {
		t.Errorf("a circle: %v", err)
	}
	if _, err := b.try(&kernel.Depend{Issue: first.ID, On: first.ID}); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("itself: %v", err)
	}
	if _, err := b.try(&kernel.Depend{Issue: first.ID, On: "nobody"}); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("unknown: %v", err)
	}
	b.do(&kernel.Depend{Issue: b.issueOf("ISS-2").ID, On: first.ID, Remove: true})
	b.do(&kernel.Depend{Issue: first.ID, On: last.ID})
	if i := b.issueOf("ISS-60"); i.Height <= b.issueOf("ISS-1").Height-60 || i.Height < 1 {
		t.Errorf("height %d", i.Height)
	}
}
