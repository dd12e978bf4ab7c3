package runner

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/control"
	"pawl/kernel/effect"
)

// closed is a kernel whose store is kept locked for so many commands.
type closed struct {
	Kernel
	err         error
	left, asked int
}

func (c *closed) Do(context.Context, kernel.Envelope) (kernel.Outcome, error) {
	c.asked++
	if c.left--; c.left >= 0 {
		return kernel.Outcome{}, c.err
	}
	return kernel.Outcome{Changed: true}, nil
}

// TestStoreIsWaitedFor: a command is given again while another process keeps the store locked, audibly, or writes its
// rows first, not for ever, and no other error is taken for that.
func TestStoreIsWaitedFor(t *testing.T) { synctest.Test(t, waitedFor) }

func waitedFor(t *testing.T) {
	busy, late := pawl.Fail(pawl.CodeBusy, "store.busy", "x"), pawl.Fail(pawl.CodeTimeout, "store.timeout")
	stale := pawl.Fail(pawl.CodeConflict, "store.stale", "day", "x")
	for _, c := range []struct {
		err               error
		left, asked, told int
		code              pawl.Code
	}{
		{busy, 3, 4, 3, ""}, {late, 2, 3, 2, ""}, {busy, 99, storeTries, storeTries - 1, pawl.CodeBusy},
		{pawl.Fail(pawl.CodeBusy, "kernel.issue_taken", "x", "y"), 1, 1, 0,
			pawl.CodeBusy}, {pawl.Fail(pawl.CodeOutcomeUnknown, "store.unknown"), 1, 1, 0, pawl.CodeOutcomeUnknown},
		{stale, 3, 4, 0, ""}, {stale, 99, storeTries, 0, pawl.CodeConflict},
		{pawl.Fail(pawl.CodeConflict, "solution.names_taken", "x", 100), 1, 1, 0, pawl.CodeConflict},
	} {
		k, told := &closed{err: c.err, left: c.left}, 0
		r := New(k, Options{Waits: func(_ effect.Effect, why error) {
			if told++; !errors.Is(why, c.err) {
				t.Errorf("told %v for %v", why, c.err)
			}
		}})
		_, err := r.do(t.Context(), &control.Sweep{})
		if pawl.CodeOf(err) != c.code || k.asked != c.asked || told != c.told {
			t.Errorf("%v %d times: asked %d, told %d, %v", c.err, c.left, k.asked, told, err)
		}
		// What was waited for long enough ends the work; what somebody else was faster with does not.
		if c.left == 99 && lost(err) || c.asked == 1 && c.code == pawl.CodeBusy && !lost(err) {
			t.Errorf("%v: lost %v", err, lost(err))
		}
	}
	for err, want := range map[error]bool{
		stale: true, pawl.Fail(pawl.CodeFenced, "kernel.effect_taken"): true, pawl.Fail(pawl.CodeBusy, "kernel.paused"): true,
		pawl.Fail(pawl.CodeConflict, "kernel.edit_stale"): false, pawl.Fail(pawl.CodeBusy, "git.tree_held"): false,
		pawl.Fail(pawl.CodeConflict, "git.changed_meanwhile"): false, errors.New("x"): false,
	} {
		if lost(err) != want {
			t.Errorf("%v: lost %v", err, !want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := New(&closed{err: busy, left: 99}, Options{}).do(ctx, &control.Sweep{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("at the end of its context: %v", err)
	}
}
