package forge_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pawl"
	"pawl/driver/forge"
	"pawl/internal/forgetest"
	"pawl/internal/gittest"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/kernel/pulls"
	"pawl/kernel/recovery"
	"pawl/runner"
)

// errDead is what a process that is dead gets from everything outside it.
var errDead = errors.New("dead")

// mortal is a process that dies at one of its steps: before or behind a commit of the store or a request to the forge,
// or before a call of git. Nothing that it does afterwards reaches anything.
type mortal struct {
	kernel.Store
	carry http.RoundTripper
	left  int
	dead  atomic.Bool
	die   context.CancelFunc
	// steps are the names of those that were taken. Only are the ends of the names of those that count, nil for all.
	steps, only []string
}

// step takes a step, and reports whether the process is dead.
func (m *mortal) step(name string) bool {
	if m.dead.Load() || m.only != nil && !slices.ContainsFunc(m.only, func(s string) bool { return strings.HasSuffix(name, s) }) {
		return m.dead.Load()
	}
	m.steps = append(m.steps, name)
	if m.left--; m.left == 0 {
		m.dead.Store(true)
		m.die()
	}
	return m.dead.Load()
}

func (m *mortal) Commit(ctx context.Context, b kernel.Batch) (kernel.Committed, error) {
	if m.step("before commit") {
		return kernel.Committed{}, errDead
	}
	done, err := m.Store.Commit(ctx, b)
	if m.step("behind commit") {
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

func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.step("before " + r.Method) {
		return nil, errDead
	}
	got, err := m.carry.RoundTrip(r)
	if m.step("behind "+r.Method) && err == nil {
		_ = got.Body.Close() // nobody is left to read it
		return nil, errDead
	}
	return got, err
}

// estate is a bench with a store, in which runs of one session are over.
type estate struct {
	*bench
	store kernel.Store
	runs  int
	only  []string
}

// all says that every step of every forge is tried, and every call of git.
var all = os.Getenv("GITTEST_ALL") != ""

func newEstate(t *testing.T, kind, token string) *estate {
	e := &estate{bench: newBench(t, kind, token), store: memory.New()}
	env := kernel.Envelope{Actor: "user:ada", Command: &planning.Init{Place: e.place}}
	if _, err := e.kernel(e.store).Do(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *estate) kernel(s kernel.Store) *kernel.Kernel {
	return kernel.New(joined.Table(), s, kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
}

// session is the row of the person's session.
func (e *estate) session(t *testing.T) *kernel.Session {
	t.Helper()
	rows, err := e.store.Load(t.Context(), kernel.Select{Kind: kernel.KindSession, Label: kernel.SessionLabel})
	s := new(kernel.Session)
	if err == nil && len(rows[0]) == 1 {
		err = kernel.Decode(rows[0][0], s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// over adds a run whose result is kept on a branch, as the last one of the session. It returns its id and the label of
// its task.
func (e *estate) over(t *testing.T) (id, task string) {
	t.Helper()
	e.runs++
	s := e.session(t)
	label := strings.Repeat("X", e.runs)
	id, task = "01RUN"+label, "T-"+label
	write := func(from int64, row kernel.Row, doc any) kernel.Write {
		row.Doc = kernel.Encode(doc)
		row.Version = from + 1
		return kernel.Write{Row: row, From: from}
	}
	run := kernel.Run{Requirement: "work", Place: e.place, Task: "01TASK" + label, Outcome: "completed",
		Land: &effect.LandResult{Outcome: effect.Kept, Commit: e.commit, Tree: "tree-" + label, Branch: "pawl/" + task}}
	s.LastRun = id
	_, err := e.store.Commit(t.Context(), kernel.Batch{Writes: []kernel.Write{
		write(0, kernel.Row{Kind: kernel.KindRun, ID: id, Label: "RUN-" + label, Parent: s.ID}, run),
		write(0, kernel.Row{Kind: kernel.KindTask, ID: run.Task, Label: task, Parent: s.ID, State: "done"},
			kernel.Task{Title: "Work", Place: e.place, Branch: "main"}),
		write(s.Version, s.Row, s)}})
	if err != nil {
		t.Fatal(err)
	}
	return id, task
}

// carryOn is what a process does: it gives the command, unless that was committed by one that died, and does what is to
// be done then.
func (e *estate) carryOn(ctx context.Context, m *mortal, command kernel.Command) error {
	k := e.kernel(m)
	connect := *e.client
	connect.HTTP = m
	d := *e.Driver
	d.Connect = func(g effect.Target) (forge.Forge, error) { return connect.Of(g.Repository, g.Fork) }
	drivers := map[effect.Kind]runner.Driver{}
	for _, kind := range []effect.Kind{effect.KindPush, effect.KindPull, effect.KindStatus, effect.KindComment,
		effect.KindClose} {
		drivers[kind] = &d
	}
	work := runner.New(k, runner.Options{Owner: "me", Drivers: drivers})
	drive := func() error {
		for {
			s, err := k.Snapshot(ctx)
			if err != nil || s.Session.Effect == "" {
				return err
			}
			if err := work.Effect(ctx, s.Session.Effect); err != nil {
				return err
			}
		}
	}
	if err := drive(); err != nil { // what another process left comes first
		return err
	}
	if _, err := k.Do(ctx, kernel.Envelope{Actor: "user:ada", Command: command}); err != nil {
		return err
	}
	return drive()
}

// process carries a command out in a process that dies at a step, or at none for 0.
func (e *estate) process(t *testing.T, at int, command kernel.Command) (*mortal, error) {
	t.Helper()
	ctx, die := context.WithCancel(t.Context())
	defer die()
	m := &mortal{Store: e.store, carry: e.client.HTTP, left: at, die: die, only: e.only}
	err := e.carryOn(gittest.Trace(ctx, func(name string) {
		if all || name == "git push" || name == "git update-ref" {
			m.step(name)
		}
	}), m, command)
	return m, err
}

// settled tries a process that dies at each of its steps, with a new run each time, and one that takes the work up
// again. Before prepares the run, and after looks at what came of it.
func (e *estate) settled(t *testing.T, least int, before func(id string), command func(id string) kernel.Command,
	after func(step, id, task string)) {
	t.Helper()
	for n := 1; ; n++ {
		id, task := e.over(t)
		e.hub.Do(func() { e.hub.Pulls, e.hub.Statuses, e.hub.Checks, e.hub.Comments = nil, nil, nil, nil })
		before(id)
		m, err := e.process(t, n, command(id))
		if !m.dead.Load() {
			if err != nil || n <= least {
				t.Errorf("only %d steps: %q, %v", n-1, m.steps, err)
			}
			after("the end", id, task)
			return
		}
		step := m.steps[n-1]
		if m, err = e.process(t, 0, command(id)); err != nil && pawl.CodeOf(err) != pawl.CodeNotFound {
			t.Errorf("step %d, %s: %v", n, step, err)
		}
		after(step, id, task)
		if t.Failed() {
			t.Fatalf("killed at step %d, %s, of %q", n, step, m.steps)
		}
	}
}

// pull is the pull request of a run, as the store has it.
func (e *estate) pull(t *testing.T, id string) effect.Pull {
	t.Helper()
	rows, err := e.store.Load(t.Context(), kernel.Select{Kind: kernel.KindRun, ID: id})
	r := new(kernel.Run)
	if err == nil {
		err = kernel.Decode(rows[0][0], r)
	}
	if err != nil || r.Pull == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	return *r.Pull
}

// A process that makes a pull request is killed at every step: before and behind each commit of the store and each
// request to the forge, and before each push. When the work is taken up again there is one of everything. What is the
// same for all forges is tried with one of them, unless all is to be tried.
func TestKilled(t *testing.T) {
	for _, kind := range append(forgetest.Kinds, "application") {
		t.Run(kind, func(t *testing.T) {
			kind, shown, least := kind, token, 30
			if kind == "application" {
				kind, shown = "github", appToken
			}
			e := newEstate(t, kind, shown)
			if !all && (kind != "github" || shown == appToken) {
				e.only, least = []string{"POST", "push"}, 7
			}
			e.settled(t, least, func(string) {}, func(id string) kernel.Command { return &pulls.Propose{Run: id} },
				func(step, id, task string) {
					p := e.pull(t, id)
					at := run(t, e.bare, "rev-parse", "refs/heads/pawl/"+task)
					if e.counts() != [3]int{1, 1, 1} || p.Fault != nil || p.Number != 1 || p.State != effect.PullOpen ||
						at != e.commit {
						t.Errorf("%s: %v, %+v, the branch is at %s", step, e.counts(), p, at)
					}
				})
		})
	}
}

// A process that takes a pull request back is killed at every step. When the work is taken up again it is closed, and
// its branch is gone.
func TestKilledClosing(t *testing.T) {
	kinds := forgetest.Kinds
	if !all { // what is the same for all forges is tried with one of them
		kinds = []string{"github"}
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			e := newEstate(t, kind, token)
			e.settled(t, 12, func(id string) {
				if _, err := e.process(t, 0, &pulls.Propose{Run: id}); err != nil {
					t.Fatal(err)
				}
			}, func(id string) kernel.Command { return &recovery.Undo{Run: id} }, func(step, id, task string) {
				p := e.pull(t, id)
				if e.counts() != [3]int{1, 1, 1} || e.hub.Pulls[0]["state"] != "closed" || p.State != effect.PullClosed ||
					strings.Contains(e.branches(t), task+"\n") || strings.HasSuffix(e.branches(t), task) {
					t.Errorf("%s: %v, %+v, %s", step, e.hub.Pulls[0]["state"], p, e.branches(t))
				}
			})
		})
	}
}
