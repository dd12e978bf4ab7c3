// Package moved has a store speak of where its workspace is now.
package moved

import (
	"context"
	"iter"

	"pawl/kernel"
	"pawl/kernel/effect"
)

// At returns a store of a workspace that is at a place now. The paths in its documents name the directories of the day
// on which they were written; what kernel.Decode returns for a row of this store names the current ones. Nothing else
// differs.
func At(s kernel.Store, now effect.Place) kernel.Store { return anchored{s, now} }

type anchored struct {
	kernel.Store
	at effect.Place
}

// Load implements kernel.Store.
func (a anchored) Load(ctx context.Context, sel ...kernel.Select) ([][]kernel.Row, error) {
	found, err := a.Store.Load(ctx, sel...)
	for _, rows := range found {
		for i := range rows {
			rows[i].Root = a.at
		}
	}
	return found, err
}

// Scan implements kernel.Store.
func (a anchored) Scan(ctx context.Context, sel kernel.Select) iter.Seq2[kernel.Row, error] {
	return func(yield func(kernel.Row, error) bool) {
		for r, err := range a.Store.Scan(ctx, sel) {
			r.Root = a.at
			if !yield(r, err) {
				return
			}
		}
	}
}
