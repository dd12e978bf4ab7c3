package query_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/tasks"
	"pawl/kernel/view"
	"pawl/machine/board"
	"pawl/machine/session"
)

// desk is a workspace to ask about, and the way to change it.
type desk struct {
	*testing.T
	k *kernel.Kernel
	query.Reader
}

func open(t *testing.T) desk {
	t.Helper()
	k := kernel.New(joined.Table(), memory.New(), kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	return desk{t, k, query.Of(k)}
}

func (d desk) do(c kernel.Command) kernel.Outcome {
	d.Helper()
	out, err := d.k.Do(context.Background(), kernel.Envelope{Actor: "user:ada", Command: c})
	if err != nil {
		d.Fatal(err)
	}
	return out
}

// keyOf is the key of an error's text.
func keyOf(err error) string {
	if e, ok := err.(*pawl.Error); ok {
		return e.Key
	}
	return ""
}

// add registers issues and returns their labels.
func (d desk) add(listed ...issues.NewIssue) []string {
	d.Helper()
	var labels []string
	if err := json.Unmarshal(d.do(&issues.AddIssues{Issues: listed}).Result, &labels); err != nil {
		d.Fatal(err)
	}
	return labels
}

func (d desk) issue(name string) *view.Issue {
	d.Helper()
	i, err := d.Board().Issue(context.Background(), name)
	if err != nil {
		d.Fatal(err)
	}
	return i
}

func (d desk) init() desk {
	d.Helper()
	d.do(&planning.Init{Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	return d
}

func TestNothingIsThere(t *testing.T) {
	d, ctx := open(t), context.Background()
	for what, err := range map[string]error{
		"session": second(d.Session(ctx, kernel.SessionLabel)), "an issue's session": second(d.Session(ctx, "ISS-1")),
		"counts": second(d.Board().Counts(ctx)),
		"issue":  second(d.Board().Issue(ctx, "ISS-1")), "question": second(d.Question(ctx, "q-1")),
	} {
		if pawl.CodeOf(err) != pawl.CodeNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	if pawl.CodeOf(second(d.Board().Issue(ctx, " "))) != pawl.CodeUsage {
		t.Error("an issue without a name was looked for")
	}
	if b, err := d.Board().Batch(ctx); b != nil || err != nil {
		t.Error(b, err)
	}
	if last, err := d.Log().Last(ctx); last != nil || err != nil {
		t.Error(last, err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestAnIssueIsFound by each of the names that people give it.
func TestAnIssueIsFound(t *testing.T) {
	d := open(t).init()
	d.add(issues.NewIssue{Title: "one"}, issues.NewIssue{Title: "two", External: "gh:7", Digest: "d7"})
	id := d.issue("ISS-2").ID
	for _, name := range []string{"ISS-2", "iss-2", "2", id, strings.ToLower(id), "gh:7", " ISS-2 "} {
		if got := d.issue(name); got.Title != "two" {
			t.Errorf("%s is %q", name, got.Title)
		}
	}
	for _, name := range []string{"ISS-2", "gh:7"} {
		if _, err := d.Reader.Run(context.Background(), kernel.SessionLabel,
			name); keyOf(err) != "cli.issue_untouched" {
			t.Errorf("the run of %s, for which nothing was done: %v", name, err)
		}
	}
	_, err := d.Board().Issue(context.Background(), "ISS-22")
	var e *pawl.Error
	if e, _ = err.(*pawl.Error); e == nil || e.Key != "cli.issue_unknown_near" ||
		fmt.Sprint(e.Args) != "[ISS-22 ISS-2]" {
		t.Errorf("%v", err)
	}
	known, err := d.Board().External(context.Background(), []string{"gh:7", "gh:8"})
	if err != nil || len(known) != 1 || known["gh:7"] != "d7" {
		t.Error(known, err)
	}
}

// TestStanding says of each issue what it waits for.
func TestStanding(t *testing.T) {
	d, ctx := open(t).init(), context.Background()
	d.add(issues.NewIssue{Title: "first"}, issues.NewIssue{Title: "held", Paused: true})
	d.add(issues.NewIssue{Title: "behind", After: []string{d.issue("1").ID, d.issue("2").ID}})
	d.add(issues.NewIssue{Title: "closed", Closed: true})
	want := []view.Standing{view.StandingReady, view.StandingPaused, view.StandingWaits, view.StandingNone}
	n := 0
	for i, err := range d.Board().Issues(ctx, query.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if i.Standing != want[n] || i.Priority != board.UsualPriority {
			t.Errorf("%s: %q, priority %d", i.Title, i.Standing, i.Priority)
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d issues", n)
	}
	d.do(&issues.ClaimIssue{Owner: "host/1", Planning: true, Issue: d.issue("1").ID, Now: d.k.Now()})
	if i := d.issue("1"); i.Standing != view.StandingWorking || i.Owner != "host/1" || i.LeaseUntil.IsZero() {
		t.Errorf("%+v", i)
	}
	b, err := d.Board().Batch(ctx)
	if err != nil || len(b.Workers) != 1 || b.Workers[0].Label != "ISS-1" || !b.Workers[0].Planning {
		t.Errorf("%+v %v", b, err)
	}
	i := d.issue("3")
	if fmt.Sprint(i.After) != "[ISS-1 ISS-2]" || i.Open != 2 || len(i.Waits) != 2 ||
		i.Waits[1].Status != board.IssueRegistered {
		t.Errorf("%+v", i)
	}
	whole, err := d.Board().Detail(ctx, d.issue("2"))
	if err != nil || fmt.Sprint(whole.Needed) != "[ISS-3]" || len(whole.Solutions) != 0 {
		t.Errorf("%+v %v", whole, err)
	}
	if c, err := d.Board().Counts(ctx); err != nil || c.Total != 4 || c.Unfinished() != 3 {
		t.Errorf("%+v %v", c, err)
	}
}

// TestAListIsFiltered by tags and words, and streamed beyond what is looked at together.
func TestAListIsFiltered(t *testing.T) {
	d, ctx := open(t).init(), context.Background()
	const many = 230
	var listed []issues.NewIssue
	for n := range many {
		i := issues.NewIssue{Title: fmt.Sprint("number ", n)}
		if n%2 == 0 {
			i.Tags = []string{"even"}
		}
		if n == 7 {
			i.Context = "The Parser fails"
		}
		listed = append(listed, i)
	}
	d.add(listed...)
	list := func(f query.Filter) (titles []string) {
		t.Helper()
		for i, err := range d.Board().Issues(ctx, f) {
			if err != nil {
				t.Fatal(err)
			}
			titles = append(titles, i.Title)
		}
		return titles
	}
	if got := list(query.Filter{}); len(got) != many || got[many-1] != "number 229" {
		t.Errorf("%d issues, the last %q", len(got), got[len(got)-1])
	}
	if got := list(query.Filter{Tags: []string{"even"}}); len(got) != many/2 {
		t.Errorf("%d of them are even", len(got))
	}
	if got := list(query.Filter{Search: "PARSER fails"}); !slices.Equal(got, []string{"number 7"}) {
		t.Errorf("%q", got)
	}
	if got := list(query.Filter{Limit: 103}); len(got) != 103 {
		t.Errorf("%d were listed", len(got))
	}
	if n, err := d.Board().Fitting(ctx, query.Filter{Tags: []string{"even"}}); err != nil || n != many/2 {
		t.Errorf("%d of them are even, %v", n, err)
	}
	if got := list(query.Filter{Looked: 3}); len(got) != 3 {
		t.Errorf("%d were looked at", len(got))
	}
	if got := list(query.Filter{States: []string{string(board.IssueFailed)}}); len(got) != 0 {
		t.Errorf("%q are failed", got)
	}
	// Whoever breaks off gets no more, also in the middle of what is looked at together.
	n := 0
	for range d.Board().Issues(ctx, query.Filter{}) {
		if n++; n == 150 {
			break
		}
	}
	var cursor int64
	seen := 0
	for {
		before := cursor
		for i, err := range d.Board().Issues(ctx, query.Filter{Limit: 50, After: cursor}) {
			if err != nil {
				t.Fatal(err)
			}
			seen, cursor = seen+1, i.Pos
		}
		if cursor == before {
			break
		}
	}
	if seen != many {
		t.Errorf("%d issues on the pages", seen)
	}
}

func TestTheLog(t *testing.T) {
	d, ctx := open(t).init(), context.Background()
	d.add(issues.NewIssue{Title: "one"}, issues.NewIssue{Title: "two"})
	title := "uno"
	d.do(&issues.EditIssue{Issue: d.issue("1").ID, Title: &title})
	about := audit.Subject{Kind: string(kernel.KindIssue), ID: d.issue("1").ID}
	events := func(about audit.Subject, from int64) (out []string) {
		t.Helper()
		for rec, err := range d.Log().Records(ctx, about, from) {
			p, parseErr := audit.Parse(rec.Bytes)
			if err != nil || parseErr != nil {
				t.Fatal(err, parseErr)
			}
			out = append(out, p.Event)
		}
		return out
	}
	all, own := events(audit.Subject{}, 0), events(about, 0)
	if len(own) < 2 || len(all) <= len(own) || own[len(own)-1] != "ISSUE_EDITED" {
		t.Fatalf("%q of %q", own, all)
	}
	for _, c := range []struct {
		about audit.Subject
		n     int
		want  []string
	}{{audit.Subject{}, 2, all[len(all)-2:]}, {audit.Subject{}, 1000, all}, {about, 1, own[len(own)-1:]},
		{about, 1000, own}} {
		first, err := d.Log().FirstOf(ctx, c.about, c.n)
		if got := events(c.about, first); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("the last %d: %q, want %q; %v", c.n, got, c.want, err)
		}
	}
	last, err := d.Log().Last(ctx)
	if err != nil || last.Event != all[len(all)-1] {
		t.Errorf("%+v %v", last, err)
	}
	if name := d.Log().NameOf(ctx, about); name != "ISS-1" {
		t.Errorf("%q", name)
	}
	head, err := d.Log().Head(ctx)
	if err != nil || head.Size != int64(len(all)) {
		t.Errorf("%+v %v", head, err)
	}
}

func TestASessionIsTold(t *testing.T) {
	d, ctx := open(t).init(), context.Background()
	s, err := d.Session(ctx, kernel.SessionLabel)
	if err != nil || s.State != session.Idle || s.Run != "" {
		t.Fatalf("%+v %v", s, err)
	}
	if run, err := d.LastRun(ctx, s); run != "" || err != nil {
		t.Error(run, err)
	}
	d.do(&planning.Start{Requirement: "rename it", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted})
	s, err = d.Session(ctx, kernel.SessionLabel)
	if err != nil || s.State == session.Idle || s.Goal != "rename it" || s.Run == "" {
		t.Fatalf("%+v %v", s, err)
	}
	if run, err := d.LastRun(ctx, s); run != s.Run || err != nil {
		t.Error(run, err)
	}
	s.Run = ""
	if run, err := d.LastRun(ctx, s); run == "" || err != nil {
		t.Error("the newest run was not found", err)
	}
	if home, err := query.Home(ctx, d.k.Store()); home != "/w" || err != nil {
		t.Errorf("%q %v", home, err)
	}
}

// TestARunIsFound by each of the names that people give it, and one that is not there is told from one that has no run.
func TestARunIsFound(t *testing.T) {
	d, ctx := open(t).init(), context.Background()
	_, err := d.Reader.Run(ctx, kernel.SessionLabel, "")
	if pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("a run where there was none: %v", err)
	}
	d.do(&planning.Start{Requirement: "rename it", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted})
	s, err := d.Session(ctx, kernel.SessionLabel)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "RUN-1", "run-1", "1", " 1 ", s.Run, strings.ToLower(s.Run)} {
		r, err := d.Reader.Run(ctx, kernel.SessionLabel, name)
		if err != nil || r.ID != s.Run || r.Summary.Run != "RUN-1" || r.Goal != "rename it" ||
			r.State != string(session.Planning) {
			t.Errorf("%q: %+v %v", name, r, err)
		}
	}
	alone := d.do(&tasks.CreateTask{Title: "by hand", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	var id string
	if err := json.Unmarshal(alone.Result, &id); err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]string{"RUN-11": "see.run_unknown_near", "nonsense": "see.run_unknown",
		"abcdef0": "see.commit_unknown", id: "see.task_alone", "T-1": "see.task_alone"} {
		r, err := d.Reader.Run(ctx, kernel.SessionLabel, name)
		if e, ok := err.(*pawl.Error); !ok || e.Key != key || e.Code != pawl.CodeNotFound {
			t.Errorf("%s: %+v %v, want %s", name, r, err, key)
		}
	}
	d.add(issues.NewIssue{Title: "never begun"})
	if _, err := d.Reader.Run(ctx, kernel.SessionLabel, "ISS-1"); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("an issue that nobody has worked on: %v", err)
	}
	n := 0
	for r, err := range d.Runs(ctx, query.Page{Newest: true, Limit: 5}) {
		if n++; err != nil || r.Value.Label != "RUN-1" || r.Value.Goal != "rename it" || r.Cursor == 0 {
			t.Errorf("%+v %v", r, err)
		}
	}
	if n != 1 {
		t.Errorf("%d runs", n)
	}
}

// TestTasksAreSearched: only so many tasks are looked at for one page, which says where the next one begins; a page
// that is full begins it behind its last task. Nobody finds a task of an agent that is of no run.
func TestTasksAreSearched(t *testing.T) {
	d := open(t)
	var b kernel.Batch
	now := time.Now()
	for n := range 7000 {
		title := "other"
		if n == 0 || n == 6990 {
			title = "The Needle"
		}
		b.Writes = append(b.Writes, kernel.Write{Row: kernel.Row{Kind: kernel.KindTask,
			ID: fmt.Sprintf("01HZZZZZZZZZZZZZZZZZZZ%04d", n), Label: fmt.Sprint("T-", n), State: "done", Version: 1,
			Doc: []byte(`{"title":"` + title + `"}`), CreatedAt: now, UpdatedAt: now}})
	}
	if _, err := d.k.Store().Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		f     query.TaskFilter
		found []string
		most  int // pages
	}{
		{query.TaskFilter{Search: "needle the"}, []string{"T-6990", "T-0"}, 4},
		{query.TaskFilter{Search: "nothing"}, nil, 4},
		{query.TaskFilter{Agent: "pi"}, nil, 4},
		{query.TaskFilter{Since: now.Add(time.Hour)}, nil, 4},
	} {
		var found []string
		pages := 0
		c.f.Newest, c.f.Limit = true, 1
		for next := int64(-1); next != 0; pages++ {
			c.f.After = max(next, 0)
			list, more, err := query.FindTasks(t.Context(), d.Reader, c.f)
			if err != nil {
				t.Fatal(err)
			}
			if more != 0 && next > 0 && more >= next {
				t.Fatalf("%+v: the page behind %d goes on at %d", c.f, next, more)
			}
			for _, l := range list {
				found = append(found, l.Label)
			}
			next = more
		}
		if !slices.Equal(found, c.found) || pages < 3 || pages > c.most {
			t.Errorf("%+v: found %v on %d pages", c.f, found, pages)
		}
	}
}
