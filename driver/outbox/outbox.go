// Package outbox tells people what waits for them: it looks at what is committed, has messages committed that the
// rules of the channels ask for, sends them and says what came of it. Of all processes at work in a workspace one does
// that at a time, the one that holds the lock; whatever it was sending when it died is settled by the next one.
package outbox

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"pawl"
	"pawl/driver/notify"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/notices"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/store/feed"
	"pawl/store/lockfile"
	"pawl/store/presence"
	"pawl/text/message"
)

// lockName, below .pawl, is locked by the process that tells people.
const lockName = "notify.lock"

// How often is looked who tells people, how long commits are gathered, and how long the last look of a process that
// ends and a test may take.
const (
	again  = 2 * time.Second
	gather = 200 * time.Millisecond
	last   = 10 * time.Second
	tested = 45 * time.Second
)

// Channel is a way to a person, with what it is used for.
type Channel struct {
	notify.Channel
	Rules []notices.Rule
}

// Sender sends messages and takes them back.
type Sender interface {
	Do(ctx context.Context, e effect.Effect) notify.Sent
	Withdraw(ctx context.Context, e effect.Effect, handle string) effect.Receipt
}

// Options are what an Outbox is made of.
type Options struct {
	Kernel *kernel.Kernel
	Feed   *feed.Feed
	// Dir is the .pawl folder, Project what people call the workspace.
	Dir, Project string
	Channels     []Channel
	Sender       Sender
	// Hold is for how long something that waits is not told of while a person looks.
	Hold time.Duration
	Lang message.Lang
	// Pages is the address of the dashboard, "" where none is served. Hide takes secrets out of a text.
	Pages func() string
	Hide  func(string) string
	// Owner is what this process is called in records.
	Owner string
}

// Outbox tells people. It is safe for concurrent use.
type Outbox struct {
	Options
	wake chan struct{}
	// known is what was found out, by what it is about; only the one pass at work looks at it.
	known map[string]*known

	mu   sync.Mutex
	busy map[string]bool // channels at work
	work sync.WaitGroup
	// sends ends what is being sent; what is committed about it is not ended.
	sends context.Context
}

// known is which channels were told of something, and its risk once that was looked up.
type known struct {
	told map[string]bool
	risk pawl.Risk
}

// New returns an outbox. Nothing is told before it runs.
func New(o Options) *Outbox {
	return &Outbox{Options: o, wake: make(chan struct{}, 1), known: map[string]*known{}, busy: map[string]bool{}}
}

// Start tells people until stop is called, which looks once more for what was committed last and waits a moment until
// that is told. What cannot be told by then is told by whichever process works next.
func (o *Outbox) Start() (stop func()) {
	if len(o.Channels) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// run waits until it may tell people, and does.
func (o *Outbox) run(ctx context.Context) {
	commits := o.Feed.Listen()
	defer commits.Close()
	for {
		lock, err := lockfile.Try(filepath.Join(o.Dir, lockName))
		if lock != nil {
			o.tell(ctx, commits)
			_ = lock.Remove()
			return
		}
		if err != nil || !pause(ctx, again) {
			return // there is nothing to write to, or the other process sees to it
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// tell tells people what is committed, with the lock, until ctx ends; then what is left to tell, for a moment.
func (o *Outbox) tell(ctx context.Context, commits *feed.Listener) {
	sends, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	o.sends = sends
	o.recover(sends)
	for ctx.Err() == nil {
		next := o.pass(ctx)
		t := time.NewTimer(min(max(time.Until(next), gather), time.Minute))
		select {
		case <-ctx.Done():
		case <-commits.C:
			pause(ctx, gather)
		case <-o.wake:
		case <-t.C:
		}
		t.Stop()
	}
	defer time.AfterFunc(last, stop).Stop()
	ctx = context.WithoutCancel(ctx)
	for range 2 { // what the first one finds to be over is taken back by the second
		o.work.Wait()
		o.pass(ctx)
	}
	o.work.Wait()
}

// do gives a command. What is refused or cannot be committed is seen by the next pass.
func (o *Outbox) do(ctx context.Context, c kernel.Command) (kernel.Outcome, error) {
	return o.Kernel.Do(ctx, kernel.Envelope{Actor: pawl.By(pawl.KindRunner, o.Owner), Command: c})
}

// open are the messages with which something is left to do.
func (o *Outbox) open(ctx context.Context, states ...string) (out []*kernel.EffectDoc) {
	rows, err := o.Kernel.Store().Load(ctx, kernel.Select{Kind: kernel.KindNotice, States: states})
	if err != nil {
		return nil
	}
	for _, row := range rows[0] {
		if e := new(kernel.EffectDoc); kernel.Decode(row, e) == nil {
			out = append(out, e)
		}
	}
	return out
}

// recover settles what was being sent when the process died that told people before.
func (o *Outbox) recover(ctx context.Context) {
	for _, e := range o.open(ctx, notices.Running) {
		_, _ = o.do(ctx, &notices.Recover{Notice: e.ID})
	}
}

// pass looks at everything once, and says when it has to be looked again at the latest.
func (o *Outbox) pass(ctx context.Context) (next time.Time) {
	now := o.Kernel.Now()
	next = now.Add(time.Minute)
	sooner := func(at time.Time) {
		if !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	waiting, err := query.NoticesOf(o.Kernel).Waiting(ctx)
	if err != nil {
		return now.Add(again)
	}
	waits := map[string]bool{}
	for i := range waiting {
		waits[waiting[i].About] = true
		sooner(o.ask(ctx, &waiting[i], now))
	}
	maps.DeleteFunc(o.known, func(about string, _ *known) bool { return !waits[about] })
	for _, e := range o.open(ctx, notices.Open()...) {
		spec, err := effect.Decode[effect.NoticeSpec](e.Effect.Spec)
		if err != nil {
			continue
		}
		if spec.Topic.Waits() && !waits[spec.About] && (e.State == notices.Pending || e.State == notices.Told) {
			_, _ = o.do(ctx, &notices.Settle{Notice: e.ID})
			sooner(now)
		} else if e.State == notices.Pending || e.State == notices.Withdrawing {
			if e.Due.After(now) {
				sooner(e.Due)
			} else {
				o.begin(ctx, spec.Channel)
			}
		}
	}
	return next
}

// ask has messages committed about something, as the rules of the channels ask for them, and says when there will be
// more to ask for.
func (o *Outbox) ask(ctx context.Context, w *view.Waiting, now time.Time) (next time.Time) {
	k := o.known[w.About]
	if k == nil {
		k = &known{told: map[string]bool{}}
		o.known[w.About] = k
	}
	// Only what is to be told whatever its risk is looked into.
	risk := k.risk
	if risk == "" {
		risk = pawl.RiskHigh
	}
	asked, next := o.asked(k, w, risk, now)
	if len(asked) == 0 {
		return next
	}
	if query.Describe(ctx, o.Kernel.Session(w.Session), w) != nil {
		return now.Add(again)
	}
	k.risk = w.Risk
	asked, next = o.asked(k, w, w.Risk, now)
	ask := &notices.Tell{About: notices.ParseAbout(w.About)}
	for _, c := range asked {
		ask.Messages = append(ask.Messages, o.message(c, w))
	}
	if len(asked) == 0 {
		return next
	}
	if _, err := o.do(ctx, ask); err != nil {
		return now.Add(again)
	}
	for _, c := range asked {
		k.told[c.Name] = true
	}
	return next
}

// asked are the channels that are to be told now of something of a risk, and when there will be more.
func (o *Outbox) asked(k *known, w *view.Waiting, risk pawl.Risk, now time.Time) (out []Channel, next time.Time) {
	for _, c := range o.Channels {
		if k.told[c.Name] {
			continue
		}
		at := time.Time{}
		for _, r := range c.Rules {
			tells, due := r.Tells(w.Topic, risk, w.Since, now)
			if tells {
				out, at = append(out, c), time.Time{}
				break
			}
			if !due.IsZero() && (at.IsZero() || due.Before(at)) {
				at = due
			}
		}
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return out, next
}

// begin has a channel send what is due, beside the others, unless it is at that.
func (o *Outbox) begin(ctx context.Context, channel string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy[channel] {
		return
	}
	o.busy[channel] = true
	ctx = context.WithoutCancel(ctx) // what came of what has begun is reported where the process ends, too
	o.work.Go(func() {
		o.send(ctx, channel)
		o.mu.Lock()
		delete(o.busy, channel)
		o.mu.Unlock()
		select {
		case o.wake <- struct{}{}:
		default:
		}
	})
}

// send sends what is due of a channel, one after the other.
func (o *Outbox) send(ctx context.Context, channel string) {
	for _, e := range o.open(ctx, notices.Pending, notices.Withdrawing) {
		spec, err := effect.Decode[effect.NoticeSpec](e.Effect.Spec)
		if err != nil || spec.Channel != channel || e.Due.After(o.Kernel.Now()) {
			continue
		}
		if e.State == notices.Withdrawing {
			o.withdraw(ctx, e)
			continue
		}
		out, err := o.do(ctx, &notices.Begin{Notice: e.ID, Owner: o.Owner})
		var begun *effect.Effect
		if err != nil || json.Unmarshal(out.Result, &begun) != nil || begun == nil {
			continue
		}
		sent := o.Sender.Do(o.sends, *begun)
		_, _ = o.do(ctx, &notices.Report{Notice: e.ID, Token: begun.Token, Receipt: sent.Receipt,
			After: sent.After.Milliseconds()})
	}
}

// withdraw takes a message back.
func (o *Outbox) withdraw(ctx context.Context, e *kernel.EffectDoc) {
	handle := ""
	if e.Receipt != nil {
		if r, err := effect.Decode[effect.NoticeResult](e.Receipt.Result); err == nil {
			handle = r.Handle
		}
	}
	_, _ = o.do(ctx, &notices.Withdrawn{Notice: e.ID, Receipt: o.Sender.Withdraw(o.sends, e.Effect, handle)})
}

// Test sends a message through a channel, or through all of them for "", and returns what came of it.
func (o *Outbox) Test(ctx context.Context, channel string) ([]view.Notice, error) {
	ask := &notices.Tell{About: notices.About{Kind: kernel.KindNotice, ID: rand.Text()}}
	for _, c := range o.Channels {
		if channel == "" || c.Name == channel {
			w := view.Waiting{Topic: effect.TopicTest, Risk: pawl.RiskLow}
			ask.Messages = append(ask.Messages, o.message(c, &w))
		}
	}
	if len(ask.Messages) == 0 {
		return nil, pawl.Fail(pawl.CodeNotFound, "notify.no_channel", channel)
	}
	out, err := o.do(ctx, ask)
	var made []string
	if err == nil {
		err = json.Unmarshal(out.Result, &made)
	}
	if err != nil {
		return nil, err
	}
	defer o.Start()()
	until := time.Now().Add(tested)
	for {
		list, err := query.NoticesOf(o.Kernel).List(ctx, 4*len(made))
		list = slices.DeleteFunc(list, func(n view.Notice) bool { return !slices.Contains(made, n.ID) })
		open := func(n view.Notice) bool { return n.State == notices.Pending || n.State == notices.Running }
		if err != nil || !slices.ContainsFunc(list, open) || time.Now().After(until) {
			return list, err
		}
		if !pause(ctx, gather) {
			return list, ctx.Err()
		}
	}
}

// looked reports whether a person looks at the workspace.
func (o *Outbox) looked() bool { return presence.Looked(o.Dir) }
