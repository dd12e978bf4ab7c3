package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/internal/invariant"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/planning"
	"pawl/kernel/projection"
	"pawl/kernel/query"
	"pawl/kernel/recovery"
	"pawl/kernel/tasks"
)

// retire takes out what may go, as often as there is something, and returns what that was.
func (b *bench) retire(keep query.Keep) (records int64, rows int, held string) {
	b.t.Helper()
	for {
		old, err := query.Old(context.Background(), b.k, keep)
		if err != nil {
			b.t.Fatal(err)
		}
		if held = old.Held; old.Records == 0 {
			return records, rows, held
		}
		_, err = b.k.Do(context.Background(), kernel.Envelope{Actor: "system:retention",
			Command: &control.Retire{Retirement: old.Retirement, Before: keep.Ended}})
		if err != nil {
			b.t.Fatal(err)
		}
		records, rows = records+old.Records, rows+len(old.Rows)
	}
}

// whole makes sure that log and rows agree, and that everything that is shown of the workspace can be read.
func (b *bench) whole() audit.Report {
	b.t.Helper()
	ctx := context.Background()
	var report audit.Report
	if err := b.store.Log(ctx, func(l audit.Log) (err error) { report, err = l.Verify(); return err }); err != nil {
		b.t.Fatal(err)
	}
	seen := 0
	for r, err := range b.store.Scan(ctx, kernel.Select{}) {
		if err != nil {
			b.t.Fatal(err)
		}
		if tail := report.Tails[audit.Subject{Kind: string(r.Kind), ID: r.ID}]; tail.Seq != r.AuditSeq || r.AuditSeq > 0 && tail.Hash != r.AuditHash {
			b.t.Errorf("%s %s stands at record %d, the log at %d", r.Kind, r.Label, r.AuditSeq, tail.Seq)
		} else if tail.Seq > 0 {
			seen++
		}
		if r.Parent != "" {
			if parents, err := b.store.Load(ctx, kernel.Select{ID: r.Parent}); err != nil || len(parents[0]) != 1 {
				b.t.Errorf("%s %s is below nothing: %v", r.Kind, r.Label, err)
			}
		}
	}
	if seen != len(report.Tails) {
		b.t.Errorf("the log tells of %d rows more than there are", len(report.Tails)-seen)
	}
	for _, v := range invariant.Check(ctx, b.k) {
		b.t.Errorf("%+v", v)
	}
	if _, err := projection.Files(ctx, b.k); err != nil {
		b.t.Error(err)
	}
	for run, err := range query.Of(b.k).Runs(ctx, query.Page{}) {
		if err == nil {
			_, err = query.Of(b.k).Outputs(ctx, kernel.SessionLabel, run.Value.ID)
		}
		if err != nil {
			b.t.Error(err)
		}
	}
	for _, err := range query.Of(b.k).Board().Issues(ctx, query.Filter{Every: true}) {
		if err != nil {
			b.t.Error(err)
		}
	}
	return report
}

// again has a run of two steps carried out, in a day of its own.
func (b *bench) again(w *world) *kernel.Run {
	b.t.Helper()
	b.now = b.now.Add(24 * time.Hour)
	b.do(&planning.Start{Requirement: "do the work", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted})
	b.run(w.answer)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.run(w.answer)
	s, err := b.k.LastRun(context.Background())
	if err != nil || s.Run == nil {
		b.t.Fatal(err)
	}
	return s.Run
}

// Runs that ended long ago go with all that is below them and all that the log told of them; those that are newer, that
// have not ended or that the next may refer to stay whole, and work goes on.
func TestRetire(t *testing.T) {
	b := newBench(t)
	var runs []*kernel.Run
	for range 4 {
		runs = append(runs, b.again(&world{plan: twoSteps()}))
	}
	ctx, keep := context.Background(), query.Keep{Ended: b.now.AddDate(0, 0, 1)}
	if n, _, _ := b.retire(keep); n != 0 {
		t.Errorf("%d records go although nothing says so", n)
	}
	keep.Since = runs[1].EndedAt.Add(time.Hour) // by age, the first two
	n, rows, held := b.retire(keep)
	if n == 0 || rows == 0 || held != "" {
		t.Fatalf("%d records and %d rows go, held by %q", n, rows, held)
	}
	report := b.whole()
	for i, r := range runs {
		found, err := b.store.Load(ctx, kernel.Select{Kind: kernel.KindRun, ID: r.ID}, kernel.Select{Kind: kernel.KindTask, ID: r.Task})
		if err != nil || len(found[0]) != len(found[1]) || (len(found[0]) == 0) != (i < 2) {
			t.Errorf("run %d: %d rows, %v", i+1, len(found[0]), err)
		}
		if gone := query.Of(b.k).Log().Retired(ctx, r.Label); gone != (i < 2) {
			t.Errorf("run %d is said to be retired: %v", i+1, gone)
		}
		_, err = query.Of(b.k).Run(ctx, kernel.SessionLabel, r.Label)
		if i < 2 && (err == nil || !strings.Contains(err.Error(), "retired")) || i >= 2 && err != nil {
			t.Errorf("run %d: %v", i+1, err)
		}
	}
	if l := query.Of(b.k).Log(); l.Retired(ctx, "RUN-9") || l.Retired(ctx, "T-0") || l.Retired(ctx, "x") {
		t.Error("what never was is said to be retired")
	}
	if by := b.recorded(audit.EventRetired); by != "system:retention" {
		t.Errorf("it is recorded as %q", by)
	}
	if n, _, _ := b.retire(keep); n != 0 {
		t.Errorf("%d records go once more", n)
	}

	// By age all of them; the last one is what undo means.
	keep.Since = keep.Ended
	if _, _, held := b.retire(keep); held != runs[3].Label {
		t.Errorf("held by %q", held)
	}
	if next := b.whole(); next.Front <= report.Front || len(next.Tails) >= len(report.Tails) {
		t.Errorf("%d records of %d rows, then %d of %d", report.Front, len(report.Tails), next.Front, len(next.Tails))
	}
	b.do(&recovery.Undo{})
	b.run((&world{}).answer)
	if s, err := b.k.LastRun(ctx); err != nil || !s.Run.Undone {
		t.Errorf("the last run cannot be undone: %v", err)
	}
	if next := b.again(&world{plan: twoSteps()}); next.Label != "RUN-5" {
		t.Errorf("the next run is %s", next.Label)
	}
	b.whole()
}

// What has not ended keeps all that is newer, by whatever rule the rest goes.
func TestRetireKeepsWhatIsOpen(t *testing.T) {
	b := newBench(t)
	b.again(&world{plan: twoSteps()})
	b.do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "a"}, {Title: "b"}, {Title: "c"}}})
	for _, file := range []string{"a.go", "b.go"} {
		b.now = b.now.Add(24 * time.Hour)
		b.planned(b.take(true), file)
	}
	b.work(b.take(false), worldOf("a.go"))
	for range 3 {
		b.again(&world{plan: twoSteps()})
	}
	keep := query.Keep{Ended: b.now.AddDate(0, 0, 1), Bytes: 1}
	_, rows, held := b.retire(keep)
	if first := b.issueOf("ISS-1"); first.State != "completed" || rows == 0 {
		t.Fatalf("issue 1 is %s, %d rows went", first.State, rows)
	}
	if held != "RUN-2.1" {
		t.Errorf("held by %q", held)
	}
	b.whole()
	// It ends, and then it may go.
	b.work(b.take(false), worldOf("b.go"))
	b.now = b.now.AddDate(0, 0, 5)
	keep.Ended = b.now
	if _, rows, held = b.retire(keep); held != "RUN-4" || rows == 0 {
		t.Errorf("held by %q, %d rows", held, rows)
	}
	b.whole()
	b.planned(b.take(true), "c.go")
	b.work(b.take(false), worldOf("c.go"))
	if i := b.issueOf("ISS-3"); i.State != "completed" {
		t.Errorf("issue 3 is %s", i.State)
	}
	b.whole()
}

// A row that is written while it is to be retired, or below which something new is, stays, and so does the log.
func TestRetireIsDecidedAnew(t *testing.T) {
	b := newBench(t)
	for range 3 {
		b.again(&world{plan: twoSteps()})
	}
	old, err := query.Old(context.Background(), b.k, query.Keep{Ended: b.now.AddDate(0, 0, 1), Bytes: 1})
	if err != nil || old.Records == 0 || old.Bytes == 0 {
		t.Fatal(old, err)
	}
	before := fmt.Sprint(b.whole())
	old.Rows[len(old.Rows)/2].Version--
	_, err = b.k.Do(context.Background(), kernel.Envelope{Actor: "system:retention", Command: &control.Retire{Retirement: old.Retirement}})
	if pawl.CodeOf(err) != pawl.CodeConflict || fmt.Sprint(b.whole()) != before {
		t.Errorf("retired what has changed: %v", err)
	}
}

// Tasks outside of runs go when they are over, each for itself.
func TestRetireTasks(t *testing.T) {
	b := newBench(t)
	var ids []string
	for range 3 {
		ids = append(ids, b.created())
	}
	for _, id := range ids[:2] {
		b.do(&control.CancelTask{Task: id})
	}
	b.now = b.now.AddDate(0, 0, 3)
	b.do(&control.CancelTask{Task: b.created()}) // is too young
	keep := query.Keep{Ended: b.now.AddDate(0, 0, -1), Bytes: 1}
	if _, rows, held := b.retire(keep); rows != 0 || held != "T-003" {
		t.Errorf("%d rows go, held by %q", rows, held)
	}
	b.do(&control.CancelTask{Task: ids[2]})
	if _, rows, _ := b.retire(keep); rows != 0 {
		t.Errorf("%d rows go, of which one is young", rows)
	}
	b.now = b.now.AddDate(0, 0, 3)
	keep.Ended = b.now.AddDate(0, 0, -1)
	b.created()
	if _, rows, held := b.retire(keep); rows != 4 || held != "" {
		t.Errorf("%d rows go, held by %q", rows, held)
	}
	b.whole()
}

// created makes a task outside of runs.
func (b *bench) created() string {
	b.t.Helper()
	var id string
	if err := json.Unmarshal(b.do(&tasks.CreateTask{Title: "x"}).Result, &id); err != nil {
		b.t.Fatal(err)
	}
	return id
}
