package outbox

import (
	"context"
	"testing"
	"time"

	"pawl/driver/notify"
	"pawl/internal/noticetest"
	"pawl/kernel/effect"
	"pawl/kernel/notices"
)

// courier is a process that sends messages as pawl does, and may die before or behind each.
type courier struct {
	*notify.Driver
	process *mortal
}

func (c *courier) Do(ctx context.Context, e effect.Effect) notify.Sent {
	if c.process.dead.Load() || c.process.step() {
		return notify.Sent{Receipt: effect.Failed(errDead)}
	}
	sent := c.Driver.Do(ctx, e)
	c.process.step()
	return sent
}

// TestKilledArrives: killed before or behind each commit and each message, a webhook whose signatures another library
// verifies and a mail server have one message in the end, and a desktop has one, or perhaps one, of which is known that
// it may be missing.
func TestKilledArrives(t *testing.T) {
	const busName = "org.freedesktop.Notifications"
	const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	hook, letters := noticetest.NewHook(t, key), noticetest.NewMail(t, false, "ada", "hunter2")
	address, desk := noticetest.Bus(t, busName, "/org/freedesktop/Notifications")
	channels := map[string]notify.Channel{
		"hook": {Name: "hook", Kind: notices.Webhook, URL: hook.URL, Secret: "pawl/hook"},
		"mail": {Name: "mail", Kind: notices.Email, URL: "smtp://" + letters.At, Secret: "pawl/mail", User: "ada",
			From: "p@x.example", To: "a@x.example"},
		"desk": {Name: "desk", Kind: notices.Desktop}}
	secrets := map[string]string{"pawl/hook": key, "pawl/mail": "hunter2"}
	sends := &notify.Driver{Channels: channels, Now: time.Now, Roots: letters.Roots,
		Secret: func(_ context.Context, entry string) (string, error) { return secrets[entry], nil },
		Getenv: func(name string) string { return map[string]string{"DBUS_SESSION_BUS_ADDRESS": address}[name] }}
	lost, shown := 0, 0
	for _, behind := range []bool{false, true} {
		for n := 1; ; n++ {
			l := newLab(t)
			l.ask("Which port?")
			process := func(p *mortal) {
				o := l.outbox(p)
				o.Sender, o.Channels = &courier{sends, p}, nil
				for _, c := range channels {
					o.Channels = append(o.Channels, Channel{Channel: c, Rules: notices.Usual()})
				}
				work(o)
			}
			messages, mails := hook.Messages(), letters.Messages()
			p := &mortal{Store: l.store, behind: behind}
			p.left.Store(int64(n))
			process(p)
			process(&mortal{Store: l.store})
			all := l.all()
			if got := hook.Messages() - messages; got != 1 || all["hook"].State != notices.Told {
				t.Errorf("%v, step %d: %d messages came to the webhook, %s", behind, n, got, all["hook"].State)
			}
			if got := letters.Messages() - mails; got != 1 || all["mail"].State != notices.Told {
				t.Errorf("%v, step %d: %d letters, %s", behind, n, got, all["mail"].State)
			}
			before := shown
			shown = noticetest.Shown(t, desk)
			switch state := all["desk"].State; {
			case state == notices.Unknown && shown-before <= 1:
				lost++
			case shown-before != 1 || state != notices.Told:
				t.Errorf("%v, step %d: shown %d times, %s", behind, n, shown-before, state)
			}
			if !p.dead.Load() {
				if n < 12 {
					t.Errorf("only %d steps", n)
				}
				break
			}
		}
	}
	if lost == 0 {
		t.Error("no step lost a receipt; the test cannot see what it is for")
	}
}
