package outbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pawl"
	"pawl/driver/notify"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/kernel/notices"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/steps"
	"pawl/kernel/view"
	"pawl/store/feed"
	"pawl/store/presence"
	"pawl/text/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// errDead is what a process gets from its store that is dead.
var errDead = errors.New("dead")

// mortal is a process that dies at its nth step: before a commit, behind one, or behind a message that was sent.
type mortal struct {
	kernel.Store
	left   atomic.Int64
	behind bool
	dead   atomic.Bool
}

// step counts a step, and reports whether the process dies at it.
func (m *mortal) step() bool {
	if m.left.Add(-1) == 0 {
		m.dead.Store(true)
		return true
	}
	return false
}

func (m *mortal) Commit(ctx context.Context, b kernel.Batch) (kernel.Committed, error) {
	if m.dead.Load() {
		return kernel.Committed{}, errDead
	}
	dies := m.step()
	if dies && !m.behind {
		return kernel.Committed{}, errDead
	}
	done, err := m.Store.Commit(ctx, b)
	if dies {
		return kernel.Committed{}, errDead
	}
	return done, err
}

func (m *mortal) Load(ctx context.Context, sel ...kernel.Select) ([][]kernel.Row, error) {
	if m.dead.Load() {
		return nil, errDead
	}
	return m.Store.Load(ctx, sel...)
}

// receiver is who receives messages, by channel and id; how often each came.
type receiver struct {
	mu        sync.Mutex
	came      map[string]map[string]int
	withdrawn map[string]int
	specs     []effect.NoticeSpec
	fails     map[string]error
	process   *mortal
}

func (r *receiver) Do(_ context.Context, e effect.Effect) notify.Sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil && r.process.dead.Load() {
		return notify.Sent{Receipt: effect.Failed(errDead)}
	}
	spec, err := effect.Decode[effect.NoticeSpec](e.Spec)
	if err != nil || r.fails[spec.Channel] != nil {
		return notify.Sent{Receipt: effect.Outcome(nil, errors.Join(err, r.fails[spec.Channel]))}
	}
	if r.came[spec.Channel] == nil {
		r.came[spec.Channel] = map[string]int{}
	}
	r.came[spec.Channel][e.ID]++
	r.specs = append(r.specs, spec)
	if r.process != nil {
		r.process.step()
	}
	return notify.Sent{Receipt: effect.Succeeded(effect.NoticeResult{Handle: "h-" + e.ID})}
}

func (r *receiver) Withdraw(_ context.Context, e effect.Effect, handle string) effect.Receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	if handle != "h-"+e.ID {
		return effect.Failed(pawl.Fail(pawl.CodeInvalid, "notify.no_channel", handle))
	}
	r.withdrawn[e.ID]++
	return effect.Succeeded(effect.NoticeResult{})
}

func (r *receiver) sent(channel string) (ids, all int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.came[channel] {
		ids, all = ids+1, all+n
	}
	return ids, all
}

// lab is a workspace in memory with a person and receivers.
type lab struct {
	*testing.T
	store kernel.Store
	dir   string
	k     *kernel.Kernel
	to    *receiver
	ahead atomic.Int64 // how much later it is than by the clock, in nanoseconds
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{T: t, store: memory.New(), dir: t.TempDir(),
		to: &receiver{came: map[string]map[string]int{}, withdrawn: map[string]int{}, fails: map[string]error{}}}
	l.k = l.kernel(l.store)
	l.do("user:ada", &planning.Init{Place: effect.Place{Workspace: l.dir, Tree: l.dir}})
	return l
}

func (l *lab) kernel(s kernel.Store) *kernel.Kernel {
	clock := pawl.ClockFunc(func() time.Time { return time.Now().Add(time.Duration(l.ahead.Load())) })
	return kernel.New(joined.Table(), s, kernel.Defaults(), clock, rand.Reader)
}

func (l *lab) do(by pawl.Actor, c kernel.Command) {
	l.Helper()
	if _, err := l.k.Do(l.Context(), kernel.Envelope{Actor: by, Command: c}); err != nil {
		l.Fatal(err)
	}
}

// ask has an agent ask something.
func (l *lab) ask(text string) { l.do("agent:x", &steps.Ask{Question: text}) }

// outbox is one of a process over a store. Twice is a channel whose receiver tells repetitions, once one that cannot.
func (l *lab) outbox(s kernel.Store, rules ...notices.Rule) *Outbox {
	if rules == nil {
		rules = notices.Usual()
	}
	k := l.kernel(s)
	f := feed.New(s, nil)
	k.OnCommit(func(kernel.Outcome) { f.Tell() })
	return New(Options{Kernel: k, Feed: f, Dir: l.dir, Project: "shop", Sender: l.to, Hold: time.Hour,
		Channels: []Channel{{Channel: notify.Channel{Name: "twice", Kind: notices.Ntfy}, Rules: rules},
			{Channel: notify.Channel{Name: "once", Kind: notices.Slack}, Rules: rules}},
		Lang: message.English, Pages: func() string { return "" }, Owner: "me",
		Hide: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[hidden]") }})
}

// work has an outbox do what there is to do.
func work(o *Outbox) { o.Start()() }

// all are the messages, by channel.
func (l *lab) all() map[string]view.Notice {
	l.Helper()
	list, err := query.NoticesOf(l.k).List(l.Context(), 100)
	if err != nil {
		l.Fatal(err)
	}
	out := map[string]view.Notice{}
	for _, n := range list {
		out[n.Channel] = n
	}
	return out
}

// TestTold: a question is told once by each channel, however often is looked; it is text of one line without secrets;
// and it is taken back when it is answered, where that can be done.
func TestTold(t *testing.T) {
	l := newLab(t)
	l.ask("Which port?\x1b[31m\u202e hunter2 " + strings.Repeat("long ", 300))
	for range 3 {
		work(l.outbox(l.store))
	}
	for _, c := range []string{"twice", "once"} {
		if ids, all := l.to.sent(c); ids != 1 || all != 1 || l.all()[c].State != notices.Told {
			t.Errorf("%s: %d messages, %d times, %s", c, ids, all, l.all()[c].State)
		}
	}
	if s := l.to.specs[0]; strings.ContainsAny(s.Body, "\x1b\u202e") || strings.Contains(s.Body, "hunter2") ||
		!strings.Contains(s.Body, "[hidden]") || len(s.Body) > maxBody || s.Title != "shop: An agent asks (q-1)" ||
		!strings.HasPrefix(s.Command, "pawl answer") {
		t.Errorf("%+v", s)
	}
	l.do("user:ada", &steps.AnswerQuestions{Answers: []string{"80"}, Question: "q-1"})
	work(l.outbox(l.store))
	if all := l.all(); len(l.to.withdrawn) != 1 || all["twice"].State != notices.Done || all["once"].State != notices.Done {
		t.Errorf("%v %+v", l.to.withdrawn, all)
	}
	l.ask("And which host?")
	work(l.outbox(l.store))
	if ids, _ := l.to.sent("once"); ids != 2 {
		t.Errorf("%d messages for two questions", ids)
	}
}

// TestKilled: killed before or behind each commit, and behind each message: who tells repetitions has one message, and
// who cannot has one at most, of which is known where it may be missing.
func TestKilled(t *testing.T) {
	lost := 0
	for _, behind := range []bool{false, true} {
		for n := 1; ; n++ {
			l := newLab(t)
			l.ask("Which port?")
			p := &mortal{Store: l.store, behind: behind}
			p.left.Store(int64(n))
			l.to.process = p
			work(l.outbox(p))
			l.to.process = nil
			work(l.outbox(l.store))
			if ids, _ := l.to.sent("twice"); ids != 1 || l.all()["twice"].State != notices.Told {
				t.Errorf("%v, step %d: %d messages, %s", behind, n, ids, l.all()["twice"].State)
			}
			switch _, all := l.to.sent("once"); {
			case l.all()["once"].State == notices.Unknown:
				if lost++; all > 1 {
					t.Errorf("%v, step %d: sent %d times", behind, n, all)
				}
			case all != 1 || l.all()["once"].State != notices.Told:
				t.Errorf("%v, step %d: sent %d times, %s", behind, n, all, l.all()["once"].State)
			}
			if !p.dead.Load() {
				if n < 7 {
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

// TestLooking: while a person looks, nobody is told of a question; where it is answered meanwhile, never, and else
// later.
func TestLooking(t *testing.T) {
	for _, answered := range []bool{true, false} {
		l := newLab(t)
		done := presence.Look(l.dir)
		l.ask("Which port?")
		work(l.outbox(l.store))
		if _, all := l.to.sent("once"); all != 0 {
			t.Fatal("told while a person looks")
		}
		if answered {
			l.do("user:ada", &steps.AnswerQuestions{Answers: []string{"80"}, Question: "q-1"})
		}
		l.ahead.Store(int64(2 * time.Hour))
		work(l.outbox(l.store))
		want, state := 0, notices.Canceled
		if !answered {
			want, state = 1, notices.Told
		}
		if _, all := l.to.sent("once"); all != want || l.all()["once"].State != state {
			t.Errorf("answered %v: %d messages, %s", answered, all, l.all()["once"].State)
		}
		done()
		if presence.Looked(l.dir) {
			t.Error("somebody looks still")
		}
		if left, err := os.ReadDir(l.dir); err != nil || len(left) != 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}

// TestDead: a receiver that is dead is tried again for a day with longer and longer waits, and then given up; meanwhile
// the others are told, and one that is back is told once.
func TestDead(t *testing.T) {
	l := newLab(t)
	l.ask("Which port?")
	l.to.fails["twice"] = pawl.Fail(pawl.CodeEnvironment, "notify.unreached", "x:1")
	l.to.fails["once"] = pawl.Fail(pawl.CodeEnvironment, "notify.unreached", "x:1")
	for n := range 200 {
		if n == 20 {
			delete(l.to.fails, "once")
		}
		work(l.outbox(l.store))
		l.ahead.Add(int64(10 * time.Minute))
	}
	all := l.all()
	if n := all["twice"]; n.State != notices.Failed || n.Error == nil || n.Attempts < 10 || n.Attempts > 60 {
		t.Errorf("%+v", n)
	}
	if _, sent := l.to.sent("once"); sent != 1 || all["once"].State != notices.Told {
		t.Errorf("%d messages, %+v", sent, all["once"])
	}
	if n, err := query.NoticesOf(l.k).Undelivered(t.Context()); err != nil || n != 1 {
		t.Errorf("%d not delivered, %v", n, err)
	}
}

// TestUnknown: where nobody knows whether a message arrived, it is sent again if the receiver tells repetitions, and
// otherwise not.
func TestUnknown(t *testing.T) {
	l := newLab(t)
	l.ask("Which port?")
	for _, c := range []string{"twice", "once"} {
		l.to.fails[c] = pawl.Fail(pawl.CodeOutcomeUnknown, "notify.unknown", "x:1")
	}
	work(l.outbox(l.store))
	clear(l.to.fails)
	l.ahead.Store(int64(time.Hour))
	work(l.outbox(l.store))
	_, twice := l.to.sent("twice")
	if _, once := l.to.sent("once"); once != 0 || twice != 1 || l.all()["once"].State != notices.Unknown {
		t.Errorf("%d and %d messages, %+v", once, twice, l.all()["once"])
	}
}

// TestOne: of two processes at work one tells people.
func TestOne(t *testing.T) {
	l := newLab(t)
	var stops []func()
	for range 4 {
		stops = append(stops, l.outbox(l.store).Start())
	}
	for n := range 5 {
		l.ask(fmt.Sprint("Question ", n))
	}
	for _, stop := range stops {
		stop()
	}
	work(l.outbox(l.store))
	for _, c := range []string{"twice", "once"} {
		if ids, all := l.to.sent(c); all != ids || ids == 0 {
			t.Errorf("%s: %d messages, sent %d times", c, ids, all)
		}
	}
}

// TestRules: a rule tells of its topics, from its risk on, when it is time.
func TestRules(t *testing.T) {
	l := newLab(t)
	l.ask("Which port?")
	later, err := notices.ParseRule("question after=10m")
	if err != nil {
		t.Fatal(err)
	}
	work(l.outbox(l.store, later))
	if _, all := l.to.sent("once"); all != 0 {
		t.Error("told too early")
	}
	risky, err := notices.ParseRule("* risk=high")
	if err != nil {
		t.Fatal(err)
	}
	l.ahead.Store(int64(11 * time.Minute))
	if work(l.outbox(l.store, risky)); len(l.all()) != 0 {
		t.Error("told of what is of low risk")
	}
	if work(l.outbox(l.store, risky, later)); len(l.all()) != 2 {
		t.Error("not told")
	}
	for _, bad := range []string{"", "risk=high", "everything", "question risk=huge", "question after=-1s",
		"question after=1y", "test"} {
		if _, err := notices.ParseRule(bad); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestTest: a test says what came of it.
func TestTest(t *testing.T) {
	l := newLab(t)
	l.to.fails["once"] = pawl.Fail(pawl.CodeEnvironment, "notify.unreached", "x:1")
	sent, err := l.outbox(l.store).Test(t.Context(), "")
	if err != nil || len(sent) != 2 {
		t.Fatalf("%+v %v", sent, err)
	}
	for _, n := range sent {
		if want := map[string]string{"twice": notices.Done, "once": notices.Failed}[n.Channel]; n.State != want {
			t.Errorf("%+v", n)
		}
	}
	if _, err := l.outbox(l.store).Test(t.Context(), "nobody"); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Error(err)
	}
}
