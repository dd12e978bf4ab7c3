package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/planning"
	"pawl/kernel/projection"
	"pawl/machine/board"
)

// updatedAt is left out of the comparison: what is written without a record makes the file that is read as a whole
// newer.
var updatedAt = regexp.MustCompile(`"updated_at": "[^"]*"`)

// TestStateFileFollows: a state.json that is brought up to date after each commit, and one that skips some, say what
// one that is made anew says, whatever happens on the board, also where more issues have failed than its error log
// holds.
func TestStateFileFollows(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	files := func(shown projection.Shown) string {
		t.Helper()
		f, err := (&projection.Board{}).Files(ctx, b.k, shown)
		if err != nil || len(f) != 2 {
			t.Fatalf("%d files, %v", len(f), err)
		}
		return f[0].Content
	}
	var each, some projection.Shown
	commits, seldom := 0, 1
	follow := func(s *projection.Shown, whole string) {
		t.Helper()
		head, err := b.store.Head(ctx)
		if err != nil {
			t.Fatal(err)
		}
		got := files(*s)
		if updatedAt.ReplaceAllString(got, "") != updatedAt.ReplaceAllString(whole, "") {
			t.Fatalf("after commit %d:\n%s\nnot\n%s", commits, got, whole)
		}
		if _, err := board.ParseState([]byte(got)); err != nil {
			t.Fatalf("%v:\n%s", err, got)
		}
		*s = projection.Shown{Content: []byte(got), Size: head.Size}
	}
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: `first "issues": {`}}})
	stop := b.k.OnCommit(func(kernel.Outcome) {
		if commits++; commits%seldom > 0 {
			return
		}
		whole := files(projection.Shown{})
		follow(&each, whole)
		if commits%(7*seldom) == 0 {
			follow(&some, whole)
		}
	})
	defer stop()
	var listed []issues.NewIssue
	for n := range 11 {
		listed = append(listed, issues.NewIssue{Title: fmt.Sprintf(`%d     }, "queue": [`, n)})
	}
	listed[3].Label, listed[4].Closed = "GH-7", true
	b.do(&issues.AddIssues{Issues: listed})
	title := `another "title": {`
	b.do(&issues.EditIssue{Issue: b.issueOf("ISS-10").ID, Title: &title})
	for range 3 {
		taken := b.take(true)
		b.planned(taken, taken.Session+".go")
	}
	taken := b.take(false)
	b.work(taken, worldOf(taken.Session+".go"))
	b.do(&issues.ReleaseIssue{Issue: taken.Issue, Token: taken.Token})
	fail := func(taken *issues.Taken) {
		t.Helper()
		home := b.k
		b.k = home.Session(taken.Session)
		place := effect.Place{Workspace: "/w", Git: true}
		b.do(&planning.Start{Issue: taken.Issue, Token: taken.Token, Place: place, RunMode: pawl.Assisted})
		b.run(func(e effect.Effect) effect.Receipt {
			if e.Kind == effect.KindPlan {
				return effect.Failed(pawl.Fail(pawl.CodeModel, "agent.no_plan"))
			}
			return worldOf("a.go").answer(e)
		})
		b.k = home
		b.do(&issues.ReleaseIssue{Issue: taken.Issue, Token: taken.Token})
		if i := b.issueOf(taken.Session); i.Error == nil {
			t.Fatalf("%s has not failed: %+v", i.Label, i)
		}
	}
	again := b.take(true)
	fail(again)
	again = b.take(true)
	b.planned(again, "b.go") // of what failed before, perhaps
	b.do(&issues.MoveBoard{Action: board.Complete})
	listed = nil
	for n := range 105 {
		listed = append(listed, issues.NewIssue{Title: fmt.Sprint("more ", n)})
	}
	b.do(&issues.AddIssues{Issues: listed})
	seldom = 40
	take := func(label string) *issues.Taken {
		var taken *issues.Taken
		out := b.do(&issues.ClaimIssue{Owner: "w1", Planning: true, Issue: b.issueOf(label).ID,
			Now: b.now.Add(time.Second)})
		if err := json.Unmarshal(out.Result, &taken); err != nil || taken == nil {
			t.Fatalf("%s: %s, %v", label, out.Result, err)
		}
		return taken
	}
	for n := range 103 {
		fail(take(fmt.Sprintf("ISS-%d", 13+n)))
	}
	seldom = 1
	errors := func() int { return strings.Count(files(projection.Shown{}), `"action": "plan"`) }
	if n := errors(); n != 100 {
		t.Fatalf("%d errors are told, not 100", n)
	}
	// Of what is planned after all the log still tells.
	for _, n := range []int{115, 20, 112, 30, 40} {
		taken := take(fmt.Sprintf("ISS-%d", n))
		b.planned(taken, taken.Session+".go")
	}
	if n := errors(); n != 100 {
		t.Errorf("%d errors are told, not 100", n)
	}
	if commits < 100 || len(some.Content) == 0 {
		t.Errorf("%d commits", commits)
	}
}
