//go:build !linux

package git

import (
	"context"
	"os"
	"time"
)

// stamp identifies a version of a file. Without a time of change that programs cannot set, none is trusted.
type stamp struct{}

func stampFile(string) stamp { return stamp{} }

func (stamp) settled(time.Time) bool { return false }

// table is what is remembered of a tree: nothing, on this system.
type table struct{}

// again never knows the tree.
func (r statusCache) again(context.Context, *table) (string, bool, error) { return "", false, nil }

// moment is not asked for.
func (r statusCache) moment() instant { return instant{} }

// instant says nothing.
type instant struct{}

// tabulate remembers nothing.
func (r statusCache) tabulate(context.Context, string, seen, instant) *table { return nil }

// begin has nothing to do.
func begin(*os.File) {}

// flush makes the content of a file durable.
func flush(f *os.File, _ bool) error { return f.Sync() }

// fingerprint is none: without a time of change that programs cannot set, only contents tell.
func fingerprint(string) (string, bool) { return "", true }
