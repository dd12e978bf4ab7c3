package inspect

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/store/logs"
)

func newAttachCommand(a *cli.App) *cobra.Command {
	return a.Command("attach [RUN|TASK|ISSUE]", "see.attach",
		"  pawl attach\n  pawl attach ISS-2\n  pawl attach --json", cli.Between(0, 1), func(c *cobra.Command,
			args []string) error {
			return a.With(c.Context(), cli.Reading(),
				func(sess *cli.Session) error { return attach(c.Context(), sess, args) })
		})
}

// follower goes along with a run that another process works on: it tells what is committed about it and what is written
// for it.
type follower struct {
	sess    *cli.Session
	tells   *cli.Reporter
	outputs *outputs
	about   func(context.Context, audit.Subject) (bool, error)
	next    int64            // of the audit log
	heard   map[string]int64 // how much of each log was told of
	waiting waiting
}

// attach goes along with a run until it is over, and reports on it then.
func attach(ctx context.Context, sess *cli.Session, args []string) error {
	r, err := find(ctx, sess, args)
	if err != nil {
		return err
	}
	c := &follower{sess: sess, outputs: &outputs{run: r.Run, dir: logs.Of(sess.Workspace.Place.Own())},
		heard: map[string]int64{}, waiting: waiting{sess: sess}}
	if c.about, c.next, err = sess.Ask().Log().Run(ctx, r.ID); err != nil {
		return err
	}
	if r.State != "" {
		if err := c.along(ctx); err != nil {
			return err
		}
	}
	return report(ctx, sess, []string{r.Run})
}

// along tells of the run, from its beginning, until it is over or the person leaves.
func (c *follower) along(ctx context.Context) error {
	c.tells = cli.NewReporter(c.sess)
	done, ticked := make(chan struct{}), make(chan struct{})
	go func() { defer close(ticked); c.tells.Tick(done) }()
	err := c.follow(ctx)
	close(done)
	<-ticked
	if ctx.Err() != nil {
		c.sess.Note(c.sess.Style.Warn() + " " + c.sess.Text("see.detached"))
	}
	return err
}

func (c *follower) follow(ctx context.Context) error {
	tick := time.NewTicker(askEvery) // what is written for the run is no commit
	defer tick.Stop()
	commits := c.sess.Workspace.Feed.Listen()
	defer commits.Close()
	c.silence(ctx)
	for {
		// Whether it is over is asked first: what was committed until then is told before the end.
		_, owned := c.sess.Workspace.Owner()
		if err := c.outputs.read(ctx, c.sess); err != nil {
			return err
		}
		state := c.outputs.of.State
		if err := c.told(ctx); err != nil {
			return err
		}
		c.listen()
		if state == "" {
			return nil
		}
		if err := c.waiting.tell(c.outputs.of, owned); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-commits.C:
		case <-tick.C:
		}
	}
}

// told tells what was committed about the run since it was told last.
func (c *follower) told(ctx context.Context) error {
	for rec, err := range c.sess.Workspace.Feed.Since(ctx, c.next) {
		if err != nil {
			return err
		}
		c.next = rec.Index + 1
		mine, err := c.about(ctx, rec.Subject)
		if err != nil {
			return err
		}
		if !mine {
			continue
		}
		p, err := audit.Parse(rec.Bytes)
		if err != nil {
			return err
		}
		c.tells.Tell(ctx, p.Entry)
	}
	return nil
}

// silence passes over what was written for effects that were over before: it would stand behind what happened since.
// `pawl logs` has it.
func (c *follower) silence(ctx context.Context) {
	if c.outputs.read(ctx, c.sess) != nil {
		return // the next reading tells why
	}
	for _, p := range c.outputs.every() {
		if p.log != nil && !p.running() {
			c.heard[p.log.File] = p.log.Size
		}
	}
}

// listen tells what was written: what an agent says, the last lines of what its commands print, and the last line of
// other output.
func (c *follower) listen() {
	for _, p := range c.outputs.every() {
		if p.log == nil || p.log.Size <= c.heard[p.log.File] {
			continue
		}
		e := effect.Effect{ID: p.Effect, Kind: p.Kind}
		var lines []string
		n, err := p.log.Read(c.heard[p.log.File], !p.running(), func(b []byte) error {
			lines = append(lines, strings.FieldsFunc(logs.Plain(b), func(r rune) bool { return r == '\n' })...)
			if !e.Kind.Agent() && len(lines) > 1 {
				lines = lines[len(lines)-1:]
			}
			return nil
		})
		for _, l := range logs.Brief(lines) {
			if strings.TrimSpace(l) != "" {
				c.tells.Said(e, l)
			}
		}
		c.heard[p.log.File] += n
		if err != nil {
			c.heard[p.log.File] = p.log.Size // it is gone, or nobody may read it
		}
	}
}
