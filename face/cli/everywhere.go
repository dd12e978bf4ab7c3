package cli

import (
	"context"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"pawl/face/host"
	"pawl/kernel/query"
	"pawl/text/shell"
)

const (
	// patience is how long one workspace may take to say how it is: its disk may be a network's.
	patience = 3 * time.Second
	// atOnce is how many workspaces are looked at together, and MostNeeds how many sessions of each.
	atOnce    = 8
	MostNeeds = 200
)

// In has a command line speak of the workspace in a folder, so that it can be typed in another one; "" leaves it as it
// is.
func In(dir, command string) string {
	if dir == "" {
		return command
	}
	return strings.Replace(command, "pawl ", "pawl -C "+shell.Quote(dir)+" ", 1)
}

// Quietly opens a workspace without a change to it, not even to the form of its store.
func Quietly() host.Open { return host.Open{ReadOnly: true, Still: true} }

// Look says how workspaces are, in their order. Nothing is written to any of them, and one that cannot be read, or that
// takes too long, says so without keeping the others.
func Look(ctx context.Context, a *App, dirs []string) []host.Sight {
	out := make([]host.Sight, len(dirs))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for n, dir := range dirs {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			seen := host.Sight{Dir: dir}
			err := Elsewhere(a, dir).With(ctx, Quietly(), func(sess *Session) error { return glance(ctx, sess, &seen) })
			if err != nil {
				seen = host.Sight{Dir: dir, Err: err} // half of what waits would look like all of it
			}
			out[n] = seen
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	return out
}

// glance says how one workspace is.
func glance(ctx context.Context, sess *Session, s *host.Sight) (err error) {
	k := sess.Workspace.Kernel
	s.At = k.Now()
	if s.Status, err = query.Status(ctx, k); err != nil {
		return err
	}
	s.Inbox, err = query.Inbox(ctx, k, sess.Working(), MostNeeds)
	for _, need := range s.Inbox.Needs {
		for i, next := range need.Next {
			need.Next[i].Command = In(s.Dir, next.Command)
		}
	}
	return err
}
