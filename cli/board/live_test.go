package board

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"pawl"
	"pawl/cli"
	"pawl/effect"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/machine/board"
	"pawl/tui"
)

// TestColumnsCountWhatFits reads a column with a filter and without.
func TestColumnsCountWhatFits(t *testing.T) {
	ctx := context.Background()
	k := kernel.New(memory.New(), kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	do := func(c kernel.Command) {
		t.Helper()
		if _, err := k.Do(ctx, kernel.Envelope{Actor: "user:ada", Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	place := effect.Place{Workspace: "/w", Tree: "/w", Git: true}
	do(&kernel.Init{Place: place})
	var issues []kernel.NewIssue
	for n := range 5 {
		issues = append(issues, kernel.NewIssue{Title: fmt.Sprintf("Mend the login %d", n), Closed: true}, kernel.NewIssue{Title: "Other", Closed: true})
	}
	do(&kernel.AddIssues{Issues: issues})
	d := watcher{shelf{&cli.Desk{Workspace: &cli.Workspace{Kernel: k}}}}
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
		if c.Status == board.IssueCompleted && (c.Count != 5 || len(c.Issues) != 2) || c.Status != board.IssueCompleted && c.Count != 0 {
			t.Errorf("%+v", c)
		}
	}
}
