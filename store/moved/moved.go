// Package moved has a store speak of where its workspace is now.
package moved

import (
	"context"
	"iter"

	"pawl/kernel"
)

// At returns a store of a workspace that is at a path now. The paths in its documents say where the workspace was when
// they were written; what kernel.Decode makes of a row that comes from here speaks of where it is. Nothing
// else differs.
func At(s kernel.Store, workspace string) kernel.Store { return anchored{s, workspace} }

type anchored struct {
	kernel.Store
	at string
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
