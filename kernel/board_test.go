package kernel_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	rand2 "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/internal/invariant"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/issues"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/kernel/projection"
	"pawl/kernel/query"
	"pawl/kernel/recovery"
	"pawl/machine/board"
	"pawl/text/plan"
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

func (b *bench) take(planning bool) *issues.Taken {
	b.t.Helper()
	out := b.do(&issues.ClaimIssue{Owner: "w1", Planning: planning, Now: b.now.Add(time.Second)})
	var t *issues.Taken
	if err := json.Unmarshal(out.Result, &t); err != nil {
		b.t.Fatal(err)
	}
	return t
}

// planned takes an issue up, has its plan made with a step that writes the file, and approves it.
func (b *bench) planned(t *issues.Taken, file string) {
	b.t.Helper()
	b.plannedBy(t, worldOf(file))
}

// plannedBy is planned with the plan of a world.
func (b *bench) plannedBy(t *issues.Taken, w *world) {
	b.t.Helper()
	home := b.k
	b.k = home.Session(t.Session)
	b.do(&planning.Start{Issue: t.Issue, Token: t.Token, Place: effect.Place{Workspace: "/w", Git: true},
		RunMode: pawl.Assisted})
	for range 20 {
		s := b.look()
		if s.Session.State == "CONFIRMING" {
			b.do(&approval.Approve{Hash: s.Approval.Hash})
			break
		}
		b.act(w.answer)
	}
	b.k = home
	b.do(&issues.ReleaseIssue{Issue: t.Issue, Token: t.Token})
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
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{
		{Ref: "a", Title: "first"}, {Ref: "b", Title: "urgent", Priority: 1}, {Ref: "c", Title: "waits", Priority: 1,
			After: []string{"a"}},
		{Ref: "d", Title: "held", Priority: 1, Paused: true}, {Ref: "e", Title: "root of a chain"}, {Title: "end",
			After: []string{"e"}},
	}})
	var order []string
	for {
		taken := b.take(true)
		if taken == nil {
			break
		}
		order = append(order, taken.Session)
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
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Ref: "a", Title: "a"},
		{Ref: "b", Title: "b", After: []string{"a"}}, {Title: "c", After: []string{"a", "b"}}}})
	for range 3 {
		taken := b.take(true)
		b.planned(taken, taken.Session+".go")
	}
	first := b.take(false)
	if first == nil || first.Session != "ISS-1" {
		t.Fatalf("first %+v", first)
	}
	if second := b.take(false); second != nil {
		t.Fatalf("%+v does not wait", second)
	}
	b.work(first, worldOf("x"))
	if i := b.issueOf("ISS-1"); i.State != string(board.IssueCompleted) {
		t.Fatalf("ISS-1 is %s", i.State)
	}
	b.do(&issues.ReleaseIssue{Issue: first.Issue, Token: first.Token})
	b.do(&issues.Release{Issue: first.Issue})
	if out := b.do(&issues.Release{Issue: first.Issue}); out.Changed {
		t.Error("released twice")
	}
	next := b.take(false)
	if next == nil || next.Session != "ISS-2" {
		t.Fatalf("next %+v", next)
	}
	if i := b.issueOf("ISS-3"); len(i.Open) != 1 {
		t.Errorf("ISS-3 waits for %v", i.Open)
	}
	for _, v := range invariant.Check(context.Background(), b.k) {
		t.Errorf("%+v", v)
	}
}

// work drives a claimed issue until nothing is left to do.
func (b *bench) work(taken *issues.Taken, w *world) *kernel.Snapshot {
	b.t.Helper()
	home := b.k
	defer func() { b.k = home }()
	b.k = home.Session(taken.Session)
	b.run(w.answer)
	return b.look()
}

// interrupted is a store in which something happens between a decision and its commit.
type interrupted struct {
	kernel.Store
	before func()
}

func (s *interrupted) Commit(ctx context.Context, b kernel.Batch) (kernel.Committed, error) {
	if f := s.before; f != nil {
		s.before = nil
		f()
	}
	return s.Store.Commit(ctx, b)
}

// TestALostClaimBinds: what a worker says under a claim that is another's by now is not done, also where it was decided
// before the claim changed hands; only what it did before is taken down.
func TestALostClaimBinds(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}}})
	b.planned(b.take(true), "a.go")
	first := b.take(false)
	store := &interrupted{Store: b.store}
	home := b.k
	lane := kernel.New(joined.Table(), store, *b.k.Config(), pawl.ClockFunc(b.k.Now),
		rand.Reader).Session(first.Session)
	under := func(token int64, c kernel.Command) (kernel.Outcome, error) {
		return lane.Do(context.Background(), kernel.Envelope{Actor: actorOf(c), Claim: token, Command: c})
	}
	change := func() *issues.Taken {
		b.do(&issues.ReleaseIssue{Owner: "w1"})
		next := b.take(false)
		if next == nil || next.Issue != first.Issue {
			t.Fatalf("nobody takes it over: %+v", next)
		}
		return next
	}
	pending := func() *kernel.EffectDoc {
		b.k = home.Session(first.Session)
		defer func() { b.k = home }()
		for s := b.look(); ; s = b.look() {
			if s.Effect != nil && s.Effect.State == kernel.EffectPending {
				return s.Effect
			}
			if !b.act(worldOf("a.go").answer) {
				t.Fatalf("no effect: %+v", s.Session)
			}
		}
	}
	e := pending()
	begin := &effects.Begin{Effect: e.ID, Owner: "w1", Day: b.now, Tree: "t0"}

	var second *issues.Taken
	store.before = func() { second = change() }
	if _, err := under(first.Token, begin); pawl.CodeOf(err) != pawl.CodeFenced {
		t.Errorf("begun under a claim that was lost behind the decision: %v", err)
	}
	if _, err := under(first.Token, begin); pawl.CodeOf(err) != pawl.CodeFenced {
		t.Errorf("begun under a lost claim: %v", err)
	}
	out, err := under(second.Token, begin)
	var begun effect.Effect
	if err == nil {
		err = json.Unmarshal(out.Result, &begun)
	}
	if err != nil || begun.ID == "" {
		t.Fatalf("not begun under the present claim: %+v, %v", begun, err)
	}
	third := change()
	if third.Token <= second.Token {
		t.Fatalf("the token does not grow: %d behind %d", third.Token, second.Token)
	}
	for _, c := range []kernel.Command{&effects.Recover{Effect: e.ID, Answer: effect.DoneNo}, &recovery.Fix{}} {
		if _, err := under(second.Token, c); pawl.CodeOf(err) != pawl.CodeFenced {
			t.Errorf("%T under a lost claim: %v", c, err)
		}
	}
	if out, err := under(second.Token, &effects.Report{Effect: e.ID, Token: begun.Token,
		Receipt: worldOf("a.go").answer(begun)}); err != nil || !out.Changed {
		t.Errorf("the receipt of what was begun under the claim is not taken: %+v, %v", out, err)
	}
}

func TestLandingOnABranchThatMoved(t *testing.T) {
	for name, c := range map[string]struct {
		rebases []effect.RebaseResult
		moved   int
		fails   int
		state   board.IssueStatus
		gates   int
	}{
		"not moved": {state: board.IssueCompleted, gates: 1},
		"moved": {rebases: []effect.RebaseResult{{Base: "c9", Tree: "t1", Moved: true}},
			state: board.IssueCompleted, gates: 2},
		"moved while landing": {moved: 2, state: board.IssueCompleted, gates: 1},
		"fails there once": {rebases: []effect.RebaseResult{{Base: "c9", Tree: "t1", Moved: true}}, fails: 1,
			state: board.IssueCompleted, gates: 2},
		"conflict": {rebases: []effect.RebaseResult{{Base: "c0", Tree: "t1", Moved: true,
			Conflicts: []effect.Conflict{{Path: "x", Kind: effect.ConflictContent, Detail: "<<<<"}}}},
			state: board.IssueFailed, gates: 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}}})
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
			if c.state == board.IssueFailed &&
				(s.Session.Blocked == nil || s.Session.Blocked.Error.Key != "kernel.landing_conflict") {
				t.Errorf("blocked %+v", s.Session.Blocked)
			}
			for _, v := range invariant.Check(context.Background(), b.k) {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestOverlappingFilesWait(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}, {Title: "b"}, {Title: "c"}}})
	for _, file := range []string{"x.go", "x.go", "y.go"} {
		b.planned(b.take(true), file)
	}
	first, second := b.take(false), b.take(false)
	if first == nil || second == nil || first.Session != "ISS-1" || second.Session != "ISS-3" {
		t.Fatalf("%+v %+v", first, second)
	}
	if third := b.take(false); third != nil {
		t.Errorf("%+v collides", third)
	}
	b.do(&issues.ReleaseIssue{Owner: "w1"})
	if again := b.take(false); again == nil || again.Session != "ISS-1" {
		t.Errorf("after the worker is gone: %+v", again)
	}
}

func TestCirclesAreRefused(t *testing.T) {
	b := newBench(t)
	var chain []issues.NewIssue
	for n := range 60 {
		i := issues.NewIssue{Ref: fmt.Sprint(n), Title: fmt.Sprint("issue ", n)}
		if n > 0 {
			i.After = []string{fmt.Sprint(n - 1)}
		}
		chain = append(chain, i)
	}
	b.do(&issues.AddIssues{Issues: chain})
	first, last := b.issueOf("ISS-1"), b.issueOf("ISS-60")
	if first.Height != 59 || last.Height != 0 {
		t.Errorf("heights %d and %d", first.Height, last.Height)
	}
	_, err := b.try(&issues.AddDependency{Issue: first.ID, On: last.ID})
	if pawl.CodeOf(err) != pawl.CodeInvalid || !strings.Contains(err.Error(), "ISS-1 → ") {
		t.Errorf("a circle: %v", err)
	}
	if _, err := b.try(&issues.AddDependency{Issue: first.ID, On: first.ID}); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("itself: %v", err)
	}
	if _, err := b.try(&issues.AddDependency{Issue: first.ID, On: "nobody"}); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("unknown: %v", err)
	}
	b.do(&issues.AddDependency{Issue: b.issueOf("ISS-2").ID, On: first.ID, Remove: true})
	b.do(&issues.AddDependency{Issue: first.ID, On: last.ID})
	if i := b.issueOf("ISS-60"); i.Height <= b.issueOf("ISS-1").Height-60 || i.Height < 1 {
		t.Errorf("height %d", i.Height)
	}
}

// edges reads who waits for whom, by labels, and the heights.
func (b *bench) edges() (after map[string][]string, height map[string]int64) {
	b.t.Helper()
	rows, err := b.store.Load(context.Background(), kernel.Select{Kind: kernel.KindIssue})
	if err != nil {
		b.t.Fatal(err)
	}
	after, height, label := map[string][]string{}, map[string]int64{}, map[string]string{}
	for _, r := range rows[0] {
		label[r.ID] = r.Label
	}
	for _, r := range rows[0] {
		i := new(kernel.Issue)
		if err := kernel.Decode(r, i); err != nil {
			b.t.Fatal(err)
		}
		height[i.Label] = i.Height
		for _, id := range i.DependsOn {
			after[i.Label] = append(after[i.Label], label[id])
		}
	}
	return after, height
}

// leads reports whether one issue waits for another one over any number of others.
func leads(after map[string][]string, from, to string) bool {
	seen := map[string]bool{}
	var walk func(string) bool
	walk = func(at string) bool {
		if at == to {
			return true
		}
		if seen[at] {
			return false
		}
		seen[at] = true
		return slices.ContainsFunc(after[at], walk)
	}
	return walk(from)
}

// TestDependenciesStayInOrder adds dependencies at random to a chain that is too long to be raised and to issues beside
// it, and takes some back: just those that close a circle are refused, and what is waited for always stands higher.
func TestDependenciesStayInOrder(t *testing.T) {
	b := newBench(t)
	const chain, all = 50, 80
	var listed []issues.NewIssue
	for n := range all {
		i := issues.NewIssue{Ref: fmt.Sprint(n), Title: fmt.Sprint("issue ", n)}
		if n > 0 && n < chain {
			i.After = []string{fmt.Sprint(n - 1)}
		}
		listed = append(listed, i)
	}
	b.do(&issues.AddIssues{Issues: listed})
	random, refused, below := rand2.New(rand2.NewPCG(3, 4)), 0, false
	label := func() string { return fmt.Sprintf("ISS-%d", 1+random.IntN(all)) }
	for n := range 120 {
		after, _ := b.edges()
		from, to := label(), label()
		if n < 20 {
			from, to = fmt.Sprintf("ISS-%d", chain+1+n), fmt.Sprintf("ISS-%d", chain+n) // on at the foot of the chain
		}
		if waits := after[from]; n%7 == 6 && len(waits) > 0 {
			b.do(&issues.AddDependency{Issue: b.issueOf(from).ID, On: b.issueOf(waits[0]).ID, Remove: true})
			continue
		}
		_, err := b.try(&issues.AddDependency{Issue: b.issueOf(from).ID, On: b.issueOf(to).ID})
		if circle := leads(after, to, from); circle != (err != nil) {
			t.Fatalf("%s on %s, circle %t: %v", from, to, circle, err)
		}
		if err != nil {
			refused++
		}
		after, height := b.edges()
		for from, list := range after {
			for _, to := range list {
				if height[to] <= height[from] {
					t.Fatalf("%s waits for %s: heights %d and %d", from, to, height[from], height[to])
				}
			}
			below = below || height[from] < 0
		}
	}
	if refused == 0 || !below {
		t.Errorf("%d refused, lowered %t", refused, below)
	}
}

// TestOneMoreAtTheFoot: a dependency on the last of a long chain leaves the chain as it is.
func TestOneMoreAtTheFoot(t *testing.T) {
	b := newBench(t)
	var chain []issues.NewIssue
	for n := range 200 {
		i := issues.NewIssue{Ref: fmt.Sprint(n), Title: fmt.Sprint("issue ", n)}
		if n > 0 {
			i.After = []string{fmt.Sprint(n - 1)}
		}
		chain = append(chain, i)
	}
	b.do(&issues.AddIssues{Issues: append(chain, issues.NewIssue{Title: "by itself"})})
	b.do(&issues.AddDependency{Issue: b.issueOf("ISS-201").ID, On: b.issueOf("ISS-200").ID})
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "new", After: []string{"ISS-201"}}}})
	for label, height := range map[string]int64{"ISS-1": 199, "ISS-200": 0, "ISS-201": -1, "ISS-202": -2} {
		if i := b.issueOf(label); i.Height != height {
			t.Errorf("%s stands at %d", label, i.Height)
		}
	}
	if i := b.issueOf("ISS-1"); i.Version != 1 {
		t.Errorf("the first was written %d times", i.Version)
	}
	if _, err := b.try(&issues.AddDependency{Issue: b.issueOf("ISS-1").ID,
		On: b.issueOf("ISS-202").ID}); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("a circle: %v", err)
	}
	// A new issue that another one waits for is no last one: the chain is raised.
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "waits", After: []string{"a"}},
		{Ref: "a", Title: "between", After: []string{"ISS-200"}}}})
	if last, on := b.issueOf("ISS-204"), b.issueOf("ISS-200"); last.Height != 1 || on.Height != 2 ||
		b.issueOf("ISS-1").Height != 201 {
		t.Errorf("heights %d and %d", last.Height, on.Height)
	}
}

// TestManyAtWork: more claims than are looked at first do not hide the next issue.
func TestManyAtWork(t *testing.T) {
	b := newBench(t)
	var listed []issues.NewIssue
	for n := range 70 {
		listed = append(listed, issues.NewIssue{Title: fmt.Sprint("issue ", n)})
	}
	b.do(&issues.AddIssues{Issues: listed})
	for n := range listed {
		if taken := b.take(true); taken == nil || taken.Session != fmt.Sprintf("ISS-%d", n+1) {
			t.Fatalf("claim %d: %+v", n+1, taken)
		}
	}
	if taken := b.take(true); taken != nil {
		t.Errorf("%+v is taken twice", taken)
	}
}

func TestWorkThatConflictsBeginsAnewOnce(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}, {Title: "b"}}})
	w := worldOf("a.go")
	for round := range 2 {
		b.planned(b.take(true), "a.go")
		w.rebases = []effect.RebaseResult{{Base: "c0", Tree: "t1", Moved: true,
			Conflicts: []effect.Conflict{{Path: "shared.md", Kind: effect.ConflictContent, Detail: "<<<<"}}}}
		taken := b.take(false)
		if s := b.work(taken, w); s.Session.Blocked == nil || s.Session.Blocked.Kind != kernel.BlockedDependency {
			t.Fatalf("round %d: blocked %+v", round, s.Session.Blocked)
		}
		i := b.issueOf("ISS-1")
		if (i.Work == board.WorkDraining) != (round == 0) || len(i.ConflictFiles) != 1 || i.ConflictFiles[0] != "shared.md" {
			t.Fatalf("round %d: winding %v, met %v", round, i.Work, i.ConflictFiles)
		}
		// The worker may die here: whoever claims the issue next helps it on.
		b.do(&issues.ReleaseIssue{Owner: "w1"})
		home := b.k
		b.k = home.Session("ISS-1")
		_, err := b.k.Do(context.Background(), kernel.Envelope{Actor: pawl.By(pawl.KindPolicy, "board/retry"),
			Command: &recovery.Rollback{Reason: "conflict"}})
		if round == 1 {
			if pawl.CodeOf(err) != pawl.CodeBudget {
				t.Errorf("a second time: %v", err)
			}
			b.k = home
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b.k = home
		if again := b.take(false); again == nil || again.Session != "ISS-1" {
			t.Fatalf("what is to be wound up is not claimed: %+v", again)
		}
		b.work(taken, w)
		b.do(&issues.ReleaseIssue{Owner: "w1"})
		if i := b.issueOf("ISS-1"); i.State != string(board.IssueRegistered) || len(i.Feedback) != 1 ||
			!strings.Contains(i.Feedback[0], "<<<<") || i.Work == board.WorkDraining {
			t.Fatalf("after the rollback: %s, %v", i.State, i.Feedback)
		}
	}
	for _, v := range invariant.Check(context.Background(), b.k) {
		t.Errorf("%+v", v)
	}
}

// TestWorkThatConflictsIsNotBegunAnewAfterWhatMayRunOnce leaves it to the person.
func TestWorkThatConflictsIsNotBegunAnewAfterWhatMayRunOnce(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}}})
	w := worldOf("a.go")
	w.plan.Steps[0].ToolCalls[0].Name = "run_terminal_cmd"
	w.rebases = []effect.RebaseResult{{Base: "c0", Tree: "t1", Moved: true,
		Conflicts: []effect.Conflict{{Path: "shared.md", Kind: effect.ConflictContent, Detail: "<<<<"}}}}
	b.plannedBy(b.take(true), w)
	b.work(b.take(false), w)
	b.do(&issues.ReleaseIssue{Owner: "w1"})
	b.k = b.k.Session("ISS-1")
	s := b.look()
	if s.Session.Blocked == nil || s.Session.Blocked.Error.Key != "kernel.landing_conflict_once" ||
		len(s.Task.Once) == 0 {
		t.Fatalf("%s: %+v", s.Session.State, s.Session.Blocked)
	}
	if _, err := b.k.Do(context.Background(), kernel.Envelope{Actor: pawl.By(pawl.KindPolicy, "board/retry"),
		Command: &recovery.Rollback{Reason: "conflict"}}); pawl.CodeOf(err) != pawl.CodeBudget {
		t.Errorf("begun anew: %v", err)
	}
}

func TestClosedAndNamedIssues(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{
		{Title: "done elsewhere", External: "x-1", Label: "ISS-20250129-001", Closed: true}, {Title: "b",
			External: "x-2", Label: "ISS-7", After: []string{"x-1"}},
		{Title: "c", Label: "ISS-7", External: "x-3"}, {Title: "d"},
	}})
	if i := b.issueOf("ISS-20250129-001"); i.State != string(board.IssueCompleted) || i.Dependents != board.DependentsReleased {
		t.Errorf("%+v", i)
	}
	if i := b.issueOf("ISS-7"); len(i.Open) != 0 || i.Number != 7 {
		t.Errorf("%+v", i)
	}
	if c, d := b.issueOf("ISS-8"), b.issueOf("ISS-9"); c.Title != "c" || d.Title != "d" {
		t.Errorf("%+v %+v", c, d)
	}
	if taken := b.take(false); taken != nil {
		t.Errorf("%+v is done", taken)
	}
	// What is closed at its source later on is held back, and only that.
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "b", External: "x-2", Digest: "2", Closed: true},
		{Title: "done elsewhere", External: "x-1", Digest: "2", Closed: true}}})
	if closed, before := b.issueOf("ISS-7"), b.issueOf("ISS-20250129-001"); closed.Hold != board.HoldPaused || before.Hold != board.HoldOpen {
		t.Errorf("closed at its source: paused %v; completed before: paused %v", closed.Hold, before.Hold)
	}
	if taken := b.take(true); taken == nil || taken.Session == "ISS-7" {
		t.Errorf("taken: %+v", taken)
	}
	// An external id never stands for a package of a plan.
	if _, err := b.try(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "e", External: kernel.PackageAlias +
		"202602081200_add"}}}); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("an id that names a package: %v", err)
	}
	for _, v := range invariant.Check(context.Background(), b.k) {
		t.Errorf("%+v", v)
	}
}

// TestLabelsThatAreTaken sees that the issues of the board and those of runs by themselves keep out of each other's
// way.
func TestLabelsThatAreTaken(t *testing.T) {
	b := flowBench(t)
	// A backlog brings labels of the form that runs by themselves give theirs, and one that would name the person's
	// session.
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{
		{Title: "of today", Label: "ISS-20260208-001"}, {Title: "another", Label: "ISS-20260208-001-2"},
		{Title: "hostile", Label: kernel.SessionLabel},
	}})
	if i := b.issueOf("ISS-3"); i.Title != "hostile" {
		t.Errorf("%+v", i)
	}
	w := &evaluating{world: changing("a.go"), evaluation: judged(8, medium)}
	b.do(&planning.Start{Requirement: "add a flag", Place: place, RunMode: pawl.Assisted})
	b.run(w.answer)
	if got := b.look().Issue.Label; got != "ISS-20260208-001-3" {
		t.Errorf("the run's issue is %s", got)
	}
	b.do(&planning.Revise{Feedback: "smaller"})
	b.run(w.answer)
	own := b.look().Issue.Label
	if own != "ISS-20260208-002" {
		t.Errorf("the revised run's issue is %s", own)
	}
	if _, err := b.try(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "waits",
		After: []string{own}}}}); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("an issue that waits for that of a run: %v", err)
	}
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "of another system", External: own, Label: own}}})
	if i := b.issueOf("ISS-4"); i.External != own {
		t.Errorf("%+v", i)
	}
}

func TestABatchEndsWhenNothingIsAtWork(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}}})
	taken := b.take(true)
	b.planned(taken, "a.go")
	next := b.take(false)
	if _, err := b.try(&issues.MoveBoard{Action: board.Complete}); pawl.CodeOf(err) != pawl.CodeGate {
		t.Errorf("while an issue is claimed: %v", err)
	}
	b.work(next, worldOf("a.go"))
	b.do(&issues.ReleaseIssue{Issue: next.Issue, Token: next.Token})
	b.do(&issues.MoveBoard{Action: board.Complete})
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "b"}}})
	if i := b.issueOf("ISS-2"); i.Batch != 2 {
		t.Errorf("%+v", i)
	}
}

// TestTheListIsAPhaseBetweenWork: whoever looks at the list takes the batch there and planning and carrying out lead out
// of it, but not while somebody is at work.
func TestTheListIsAPhaseBetweenWork(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}, {Title: "b"}}})
	list := func(want board.PhaseStatus) {
		t.Helper()
		b.do(&issues.MoveBoard{Action: board.List})
		batch, err := query.Of(b.k).Board().Batch(t.Context())
		if err != nil || batch.Phase != want {
			t.Errorf("phase %+v, %v, want %s", batch, err, want)
		}
	}
	list(board.PhaseListing)
	first := b.take(true)
	list(board.PhasePlanning)
	b.planned(first, "a.go")
	list(board.PhaseListing)
	b.planned(b.take(true), "b.go")
	next := b.take(false)
	list(board.PhaseExecuting)
	b.work(next, worldOf("a.go"))
	b.do(&issues.ReleaseIssue{Issue: next.Issue, Token: next.Token})
	list(board.PhaseListing)
	b.do(&issues.MoveBoard{Action: board.Complete})
	if _, err := b.try(&issues.MoveBoard{Action: board.List}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("a batch that is complete: %v", err)
	}
	b.verifyAudit()
}

// TestAnOlderIssueCountsWhereItIsWorkedOn: what was left of one batch and is completed in the next one belongs to that.
func TestAnOlderIssueCountsWhereItIsWorkedOn(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}, {Title: "b"}}})
	b.planned(b.take(true), "a.go")
	b.do(&issues.MoveBoard{Action: board.Complete})
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "c"}}})
	taken := b.take(false)
	b.work(taken, worldOf("a.go"))
	if i := b.issueOf(taken.Session); i.State != string(board.IssueCompleted) || i.Batch != 2 {
		t.Errorf("%s is %s in batch %d", i.Label, i.State, i.Batch)
	}
	if i := b.issueOf("ISS-2"); i.Batch != 1 {
		t.Errorf("nobody has touched ISS-2, but it is in batch %d", i.Batch)
	}
	raw, err := projection.BoardState(context.Background(), b.k)
	if err != nil {
		t.Fatal(err)
	}
	state, err := board.ParseState(raw)
	if err != nil || len(state.Issues) != 3 {
		t.Errorf("state.json has %d issues, %v", len(state.Issues), err)
	}
}

// TestAPauseOfAPersonStays: asking for another plan does not let go what a person holds back.
func TestAPauseOfAPersonStays(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}}})
	taken := b.take(true)
	home := b.k
	b.k = home.Session(taken.Session)
	b.do(&planning.Start{Issue: taken.Issue, Token: taken.Token, Place: effect.Place{Workspace: "/w", Git: true},
		RunMode: pawl.Assisted})
	for b.look().Session.State != "CONFIRMING" {
		b.act(worldOf("a.go").answer)
	}
	b.k = home
	b.do(&issues.EditIssue{Issue: taken.Issue, Paused: new(true)})
	b.k = home.Session(taken.Session)
	b.do(&planning.Revise{Feedback: "smaller"})
	b.k = home
	if i := b.issueOf("ISS-1"); i.Hold != board.HoldPaused || len(i.Feedback) != 1 {
		t.Errorf("%s, feedback %v", i.Hold, i.Feedback)
	}
}

// TestWhatWasHeardIsBounded: an issue that is tried and edited for years does not grow without end, and what was said
// last is always kept.
func TestWhatWasHeardIsBounded(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}}})
	id := b.issueOf("ISS-1").ID
	for n := range 40 {
		b.do(&issues.EditIssue{Issue: id, Feedback: fmt.Sprint("note ", n)})
	}
	if f := b.issueOf("ISS-1").Feedback; len(f) != 32 || f[0] != "note 8" || f[31] != "note 39" {
		t.Errorf("%d notes: %v", len(f), f)
	}
	long := strings.Repeat("x", 100<<10)
	b.do(&issues.EditIssue{Issue: id, Feedback: long})
	if f := b.issueOf("ISS-1").Feedback; len(f) != 1 || f[0] != long {
		t.Errorf("%d notes behind a long one", len(f))
	}
	b.do(&issues.EditIssue{Issue: id, Feedback: "short"})
	if f := b.issueOf("ISS-1").Feedback; len(f) != 1 || f[0] != "short" {
		t.Errorf("%d notes behind a short one", len(f))
	}
}

// TestAnIssueThatFailsLaterIsLeftAloneWhoeverLeavesIt: the time of the next attempt is the task's, and no worker that
// goes or is gone takes it back.
func TestAnIssueThatFailsLaterIsLeftAloneWhoeverLeavesIt(t *testing.T) {
	for name, leave := range map[string]func(*issues.Taken) *issues.ReleaseIssue{
		"the worker goes": func(t *issues.Taken) *issues.ReleaseIssue {
			return &issues.ReleaseIssue{Issue: t.Issue, Token: t.Token}
		},
		"the worker is gone": func(*issues.Taken) *issues.ReleaseIssue { return &issues.ReleaseIssue{Owner: "w1"} },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}}})
			b.planned(b.take(true), "a.go")
			taken := b.take(false)
			w := worldOf("a.go")
			answer := func(e effect.Effect) effect.Receipt {
				if e.Kind == effect.KindGates {
					return effect.Succeeded(effect.VerifyResult{Tree: "t", TreeAfter: "t",
						Outcomes: []effect.CheckOutcome{{Check: effect.Check{Name: "doctor"},
							Status: effect.CheckFailed}}})
				}
				return w.answer(e)
			}
			home := b.k
			b.k = home.Session(taken.Session)
			for s := b.look(); s.Task == nil || !s.Task.Due.After(b.now.Add(time.Second)); s = b.look() {
				if !b.act(answer) {
					t.Fatal("the task is never put off")
				}
			}
			due := b.look().Task.Due
			b.k = home
			b.do(leave(taken))
			if i := b.issueOf("ISS-1"); !i.NotBefore.Equal(due) || !i.Due.Equal(due) {
				t.Errorf("may be claimed at %v, the task is due at %v", i.Due, due)
			}
			b.now = due
			if again := b.take(false); again == nil {
				t.Error("not claimed when its time has come")
			}
		})
	}
}

func TestIssuesBeginWhereTheirBranchIs(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}}})
	b.planned(b.take(true), "a.go")
	w, from := worldOf("a.go"), ""
	taken := b.take(false)
	home := b.k
	b.k = home.Session(taken.Session)
	b.run(func(e effect.Effect) effect.Receipt {
		switch e.Kind {
		case effect.KindWorktree:
			if spec, _ := effect.Decode[effect.WorktreeSpec](e.Spec); spec.Branch == "" {
				t.Errorf("no branch is named: %+v", spec)
			}
			return effect.Succeeded(effect.WorktreeResult{Tree: "t0", Base: "c7"})
		case effect.KindRebase:
			spec, _ := effect.Decode[effect.RebaseSpec](e.Spec)
			from = spec.Base
		}
		return w.answer(e)
	})
	b.k = home
	if i := b.issueOf("ISS-1"); i.State != string(board.IssueCompleted) || from != "c7" {
		t.Errorf("%s, brought onto its branch from %q", i.State, from)
	}
}

// TestTheHistoryOfABoard: each phase is told with the issues that there were then, by a process that has seen them come
// and by one that has not.
func TestTheHistoryOfABoard(t *testing.T) {
	b := newBench(t)
	seen := &projection.Board{}
	files := func(p *projection.Board) string {
		t.Helper()
		f, err := p.Files(context.Background(), b.k, projection.Shown{})
		if err != nil || len(f) != 2 {
			t.Fatalf("%d files, %v", len(f), err)
		}
		return f[1].Content
	}
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}, {Title: "b"}}})
	files(seen)
	b.planned(b.take(true), "a.go")
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "c"}}})
	files(seen)
	b.take(false)
	got := files(seen)
	if fresh := files(&projection.Board{}); fresh != got {
		t.Errorf("a process that has not seen it tells another history:\n%s\n%s", got, fresh)
	}
	var points []struct {
		Phase  string `json:"phase"`
		Issues int    `json:"issues_count"`
	}
	if err := json.Unmarshal([]byte(got), &points); err != nil {
		t.Fatal(err)
	}
	if told := fmt.Sprint(points); told != "[{init 0} {listing 2} {planning 2} {executing 3}]" {
		t.Errorf("%s", told)
	}
}

// TestWhatIsInTheWayOfALandingWaitsForAPerson: proven work of an issue that cannot reach its branch is not done,
// whatever else waits for it, and lands once a person has made way.
func TestWhatIsInTheWayOfALandingWaitsForAPerson(t *testing.T) {
	b := newBench(t)
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Ref: "a", Title: "a"}, {Title: "b", After: []string{"a"}}}})
	for range 2 {
		taken := b.take(true)
		b.planned(taken, taken.Session+".go")
	}
	taken := b.take(false)
	w := worldOf("ISS-1.go")
	home := b.k
	b.k = home.Session(taken.Session)
	b.run(func(e effect.Effect) effect.Receipt {
		if e.Kind == effect.KindLand {
			return effect.Failed(pawl.Fail(pawl.CodeEnvironment, "land.blocked_dirty", "x.go"))
		}
		return w.answer(e)
	})
	s := b.look()
	if bl := s.Session.Blocked; bl == nil || bl.Kind != kernel.BlockedEnvironment ||
		bl.Error.Key != "land.blocked_dirty" {
		t.Fatalf("blocked: %+v", bl)
	}
	b.k = home
	b.do(&issues.ReleaseIssue{Issue: taken.Issue, Token: taken.Token})
	if i := b.issueOf("ISS-1"); i.State == string(board.IssueCompleted) || i.Work != board.WorkWaiting {
		t.Errorf("%s is %s, waits for a person: %v", i.Label, i.State, i.Work)
	}
	if next := b.take(false); next != nil {
		t.Errorf("%s is taken although nothing landed", next.Session)
	}
	b.k = home.Session(taken.Session)
	b.do(&recovery.Fix{})
	b.run(w.answer)
	b.k = home
	if i := b.issueOf("ISS-1"); i.State != string(board.IssueCompleted) {
		t.Errorf("%s is %s once the way is free", i.Label, i.State)
	}
	for _, v := range invariant.Check(context.Background(), b.k) {
		t.Errorf("%+v", v)
	}
}
