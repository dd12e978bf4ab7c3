package board

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"testing"
	"time"

	"pawl"
	"pawl/face/cli"
	"pawl/face/host"
	"pawl/face/tui"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/machine/board"
)

// workspaceOn is a workspace on a store, and how a person gives it commands.
func workspaceOn(t *testing.T, store kernel.Store) (*kernel.Kernel, func(kernel.Command)) {
	t.Helper()
	k := kernel.New(joined.Table(), store, kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	do := func(c kernel.Command) {
		t.Helper()
		if _, err := k.Do(t.Context(), kernel.Envelope{Actor: "user:ada", Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	do(&planning.Init{Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	return k, do
}

// TestColumnsCountWhatFits reads a column with a filter and without.
func TestColumnsCountWhatFits(t *testing.T) {
	ctx := context.Background()
	k, do := workspaceOn(t, memory.New())
	var listed []issues.NewIssue
	for n := range 5 {
		listed = append(listed, issues.NewIssue{Title: fmt.Sprintf("Mend the login %d", n), Closed: true},
			issues.NewIssue{Title: "Other", Closed: true})
	}
	do(&issues.AddIssues{Issues: listed})
	d := boardReader{sess: &cli.Session{Workspace: &host.Workspace{Kernel: k}}}
	// Words of a filter need not stand beside each other, as in the list, and what is counted is what fits.
	got, fit, err := d.head(ctx, board.IssueCompleted, tui.Query{Filter: "LOGIN mend", PerColumn: 2})
	if err != nil || len(got) != 2 || fit != 5 {
		t.Errorf("%d issues of %d, %v", len(got), fit, err)
	}
	if got, _, err := d.head(ctx, board.IssueCompleted, tui.Query{PerColumn: 3}); err != nil || len(got) != 3 {
		t.Errorf("%d issues, %v", len(got), err)
	}
	out, err := d.scene(ctx, tui.Query{Filter: "login", PerColumn: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range out.Columns {
		if c.Status == board.IssueCompleted && (c.Count != 5 || len(c.Issues) != 2) ||
			c.Status != board.IssueCompleted && c.Count != 0 {
			t.Errorf("%+v", c)
		}
	}
}

// reading counts the records that are read from a store.
type reading struct {
	kernel.Store
	records int
}

func (r *reading) Records(ctx context.Context, subject string, first int64) iter.Seq2[audit.Stored, error] {
	return func(yield func(audit.Stored, error) bool) {
		for rec, err := range r.Store.Records(ctx, subject, first) {
			r.records++
			if !yield(rec, err) {
				return
			}
		}
	}
}

// TestScreenReadsOnlyWhatIsNew opens the board when the last move of an issue lies far back in the audit log: it is
// found, and from then on neither the board nor an open issue reads a record twice.
func TestScreenReadsOnlyWhatIsNew(t *testing.T) {
	ctx := context.Background()
	store := &reading{Store: memory.New()}
	k, do := workspaceOn(t, store)
	do(&issues.AddIssues{Issues: []issues.NewIssue{{Title: "one"}, {Title: "two"}}})
	rows, err := store.Load(ctx, kernel.Select{Kind: kernel.KindIssue})
	if err != nil {
		t.Fatal(err)
	}
	two := rows[0][1]
	edit := func(times int) {
		for n := range times {
			title := fmt.Sprint("two ", n)
			do(&issues.EditIssue{Issue: two.ID, Title: &title})
		}
	}
	begin := func(id string) {
		t.Helper()
		out, err := k.Do(ctx, kernel.Envelope{Actor: "user:ada",
			Command: &issues.ClaimIssue{Owner: "one/1", Planning: true, Issue: id, Now: k.Now()}})
		if err != nil {
			t.Fatal(err)
		}
		var taken issues.Taken
		if err := json.Unmarshal(out.Result, &taken); err != nil {
			t.Fatal(err)
		}
		start := &planning.Start{Issue: taken.Issue, Token: taken.Token,
			Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: pawl.Assisted}
		if _, err := k.Session(taken.Session).Do(ctx,
			kernel.Envelope{Actor: "user:ada", Claim: taken.Token, Command: start}); err != nil {
			t.Fatal(err)
		}
	}
	begin(rows[0][0].ID)
	edit(lookedBack + 10)
	d := &boardReader{sess: &cli.Session{Workspace: &host.Workspace{Kernel: k}}}
	look := func() (events, history []tui.Event, read int) {
		t.Helper()
		store.records = 0
		events, err := d.lately(ctx)
		if err != nil {
			t.Fatal(err)
		}
		i, err := d.sess.Ask().Board().ByID(ctx, []string{two.ID})
		if err != nil {
			t.Fatal(err)
		}
		if history, err = d.historyOf(ctx, i[0]); err != nil {
			t.Fatal(err)
		}
		return events, history, store.records
	}
	events, history, _ := look()
	if len(events) != 1 || events[0].Text != "registered → planning" || len(history) != maxEvents {
		t.Fatalf("%+v; %d of the history", events, len(history))
	}
	if again, _, read := look(); read != 0 || len(again) != 1 {
		t.Errorf("%d records were read again; %+v", read, again)
	}
	edit(2)
	begin(two.ID)
	events, later, read := look()
	if len(events) != 2 || events[0].Issue != two.Label || len(later) != maxEvents || later[2].Text != "ISSUE_EDITED" ||
		!later[4].At.Equal(history[0].At) || read > 20 {
		t.Errorf("%d records were read; %+v; %+v", read, events, later)
	}
}

// TestScreenSaysWhatWasSpent charges a day and an issue, one of them for a model without a price.
func TestScreenSaysWhatWasSpent(t *testing.T) {
	ctx := context.Background()
	store := memory.New()
	d := &boardReader{sess: &cli.Session{Workspace: &host.Workspace{Kernel: kernel.New(joined.Table(), store,
		kernel.Defaults(),
		pawl.ClockFunc(time.Now), rand.Reader)}}}
	for label, spent := range map[string]effect.Usage{"day:2026-01-02": {MicroUSD: 1_230_000},
		"issue:ISS-1": {MicroUSD: 5, Unpriced: true}} {
		doc, err := json.Marshal(kernel.Budget{Spent: spent})
		if err != nil {
			t.Fatal(err)
		}
		row := kernel.Row{Kind: kernel.KindBudget, ID: label, Label: label, Version: 1, Doc: doc}
		if _, err := store.Commit(ctx, kernel.Batch{Writes: []kernel.Write{{Row: row}}}); err != nil {
			t.Fatal(err)
		}
	}
	for label, want := range map[string]string{"day:2026-01-02": "$1.23", "issue:ISS-1": "", "issue:ISS-2": ""} {
		if got, err := d.cost(ctx, label); err != nil || got.String() != want {
			t.Errorf("%s cost %q, %v; want %q", label, got, err, want)
		}
	}
}
