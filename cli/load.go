package cli

import (
	"context"
	"strconv"
	"strings"

	"pawl"
	"pawl/effect"
	"pawl/kernel"
)

// doc is a document of the kernel: what kernel.Decode fills.
type doc[T any] interface {
	*T
	decodable
}

// decodable is satisfied by every document that embeds a row.
type decodable interface{ *kernel.Session | *kernel.Run | *kernel.Task | *kernel.Turn | *kernel.Solution | *kernel.EffectDoc }

// loadDoc reads one document by its id; nil when there is none.
func loadDoc[T kernel.Session | kernel.Run | kernel.Task | kernel.Turn | kernel.Solution | kernel.EffectDoc](ws *Workspace, kind kernel.Kind, id string) (*T, error) {
	return nil, nil
}
