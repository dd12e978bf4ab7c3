package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/internal/modeltest"
)

var agentKills = flag.Int("agentkills", 3, "how often the agent kill test kills pawl, the agent or both")

// ranOnce is a command that may run only once, with time to be killed in before and after it did what it does.
const ranOnce = "sleep 0.2; echo ran >> ran.txt; sleep 0.2"

// slowly gives a model time to be killed in before each of its answers.
func slowly(s modeltest.Script) modeltest.Script {
	for _, b := range s.Branches {
		for i := range b.Steps {
			b.Steps[i].Wait = 80 * time.Millisecond
		}
	}
	return s
}

// withCommand adds a command to a script, before the end of its first branch.
func withCommand(s modeltest.Script, command string) modeltest.Script {
	b := &s.Branches[0]
	b.Steps = slices.Insert(b.Steps, len(b.Steps)-1,
		modeltest.Step{Text: "I run it.", Calls: []modeltest.Call{{Run: command}}})
	return s
}

// mending is a run of one agent that mends the small module, to be killed.
type mending struct {
	scene
	agent  string
	kind   string
	script modeltest.Script
	// requests is how often an undisturbed run asks the model.
	requests int
	names    []string // of the agent's programs, none for an agent without a process
}

// begin makes the user, with what the agent needs.
func (m mending) begin(t *testing.T) (*user, *modeltest.Server) {
	t.Helper()
	u, srv := faulty(t, m.kind, m.script, "agent: "+m.agent)
	if len(m.names) > 0 {
		u.path = installed(t)
	}
	return u, srv
}

// learn runs it without a kill.
func (m mending) learn(t *testing.T) mending {
	t.Helper()
	u, srv := m.begin(t)
	m.run = []string{"run", "Sum(2, 3) is not 5", "--yes", "--json"}
	start := time.Now()
	a := u.must(0, m.run...)
	m.time, m.lines, m.want = time.Since(start), strings.Count(a.out, "\n"), u.lived()
	if u.read("sum.go") != sumRight || m.want.Task.State != "done" || m.want.Status.Last == nil ||
		m.want.Status.Last.Outcome != "completed" {
		t.Fatalf("the undisturbed run: %s", pretty(m.want))
	}
	for _, s := range m.want.Task.Steps {
		if s.Unchanged {
			t.Errorf("step %s changed something, and is said to have changed nothing", s.ID)
		}
	}
	m.requests = len(srv.Requests())
	remembered(t, srv)
	t.Logf("the undisturbed run of %s took %v and said %d lines", m.agent, m.time.Round(time.Millisecond), m.lines)
	return m
}

// TestKill_Agent kills pawl, the agent, and both, at random moments of a run. Whatever the moment, the same tree lands,
// and no call is made twice.
func TestKill_Agent(t *testing.T) {
	t.Parallel()
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-killseed %d", seed)
	model := mending{agent: "llm", kind: "openai",
		script: slowly(withCommand(asking(modeltest.FixBug("sum.go", sumWorse, sumRight)), ranOnce))}.learn(t)
	if model.want.Ran != "ran\n" {
		t.Fatalf("the command ran %q", model.want.Ran)
	}
	all := []mending{model}
	for _, p := range programs(t) {
		all = append(all, mending{agent: p.Name, kind: kindOf(p.Wire), names: p.Names,
			script: slowly(modeltest.FixBug("sum.go", sumWorse, sumRight))}.learn(t))
	}
	for n, m := range all {
		for i := range *agentKills {
			if *killOnly >= 0 && i != *killOnly {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", m.agent, i), func(t *testing.T) {
				t.Parallel()
				m.play(t, rand.New(rand.NewPCG(seed, uint64(1000*n+i))), i)
			})
		}
	}
}

// Who is killed. An agent without a process of its own dies with pawl.
const (
	killPawl = iota
	killAgent
	killBoth
	killChoices
)

// play kills once or twice, lets the run come to its end and judges it.
func (m mending) play(t *testing.T, random *rand.Rand, i int) {
	u, srv := m.begin(t)
	victim := killPawl
	if len(m.names) > 0 {
		victim = i % killChoices
	}
	promised := m.strike(u, srv, random, victim)
	if i%2 == 0 {
		m.interrupt(u, random, "resume", "--json")
	}
	m.settle(u, promised)
	m.judge(u)
	u.once()
	u.told()
	remembered(t, srv)
	u.must(0, "audit", "verify")
	u.quiet()
	u.git("fsck", "--no-dangling", "--no-progress")
	if t.Failed() {
		t.Logf("the log:\n%s", u.pawl("audit", "log").out)
	}
}

// strike kills pawl, the agent or both in the middle of a run. It returns whether pawl had acknowledged the run by
// then.
func (m mending) strike(u *user, srv *modeltest.Server, random *rand.Rand, victim int) (promised bool) {
	p := u.start(m.run...)
	pid := 0
	if victim == killPawl {
		m.moment(p, srv, random, random.IntN(3))
	} else {
		m.moment(p, srv, random, 2+random.IntN(2))
		for over := false; pid == 0 && !over; pid = agentOf(u.own()) {
			select {
			case <-p.done:
				over = true
			case <-time.After(5 * time.Millisecond):
			}
		}
		if pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended already
		}
	}
	var a answer
	if victim == killAgent {
		a = p.wait()
	} else {
		a = p.kill()
	}
	u.t.Logf("killed %s %d: %d lines said, exit status %d", []string{"pawl", "the agent", "pawl and the agent"}[victim],
		pid, strings.Count(a.out, "\n"), a.code)
	if left := gone(u.base()); len(left) > 0 {
		u.t.Errorf("processes are left: %v", left)
	}
	return strings.Contains(a.out, "RUN_CREATED")
}

// moment waits for a moment of the time that an undisturbed run takes (0), for one just after something that pawl said
// (1) or just after the model was asked (2), or for one soon after an agent of its own process began (3).
func (m mending) moment(p *process, srv *modeltest.Server, random *rand.Rand, what int) {
	late := func() bool { return true }
	switch what {
	case 0:
		wait(p, time.Duration(random.Int64N(int64(m.time))))
		return
	case 1:
		n := random.IntN(m.lines)
		p.until(func(out string) bool { return strings.Count(out, "\n") >= n })
	case 2:
		n := random.IntN(m.requests)
		late = func() bool { return len(srv.Requests()) > n }
	case 3:
		late = func() bool { return agentOf(p.u.own()) != 0 }
	}
	for !late() {
		select {
		case <-p.done:
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
	wait(p, time.Duration(random.Float64()*random.Float64()*float64(300*time.Millisecond)))
}

// told logs what the kills led to, so that a reader sees whether they hit what they were for.
func (u *user) told() {
	u.t.Helper()
	count := map[string]int{}
	for _, r := range u.log() {
		if r.Event == "EFFECT_RECOVERED" || r.Event == "EFFECT_ANSWERED" || r.Event == "EFFECT_FAILED" {
			count[r.Event+" "+r.Payload.Effect+" "+r.Payload.Answer]++
		}
	}
	u.t.Logf("%v", count)
}

// agentOf finds the agent's own process among those of a folder: the first that has its home there and is no part of
// pawl; 0 when there is none.
func agentOf(dir string) int {
	self, err := filepath.EvalSymlinks(os.Args[0])
	if err != nil {
		return 0
	}
	found := 0
	for _, p := range processesOf(dir) {
		at := filepath.Join("/proc", fmt.Sprint(p.pid))
		exe, err := os.Readlink(filepath.Join(at, "exe"))
		if err != nil || exe == self {
			continue
		}
		env, _ := os.ReadFile(filepath.Join(at, "environ"))
		if strings.Contains(string(env), "HOME="+filepath.Join(dir, "agents")) &&
			(found == 0 || p.pid < found) {
			found = p.pid
		}
	}
	return found
}

// judge compares the end with that of the undisturbed run. When an agent is killed that has a process of its own, its
// step fails and is repaired; the way may differ then, and the end may not.
func (m mending) judge(u *user) {
	u.t.Helper()
	got, want := u.lived(), m.want
	same(u.t, "the folder", want.Files, got.Files)
	got.Files, want.Files = "", ""
	if len(m.names) > 0 {
		got, want = end(got), end(want)
	}
	if pretty(got) != pretty(want) {
		u.t.Errorf("another end: %s\nwant %s", pretty(got), pretty(want))
	}
}

// end leaves of a life what it came to.
func end(l life) life {
	out := life{Tree: l.Tree, Commits: l.Commits, Ran: l.Ran, Dirty: l.Dirty}
	out.Task.State, out.Task.Verified, out.Status.State = l.Task.State, l.Task.Verified, l.Status.State
	return out
}

// remembered fails when the model was asked for a step again although it had seen the results of the calls of that
// step: then the conversation was lost, and the calls were made once more.
func remembered(t *testing.T, srv *modeltest.Server) {
	t.Helper()
	seen := map[string]bool{}
	for n, r := range srv.Requests() {
		step := fmt.Sprintf("call_b%ds%dn", r.Branch, r.Step)
		for id := range seen {
			if strings.HasPrefix(id, step) && strings.Contains(r.Body, `"tools"`) {
				t.Errorf("request %d asks for step %d of branch %d again, whose call %s was made", n, r.Step, r.Branch,
					id)
			}
		}
		for _, id := range r.Results {
			seen[id] = true
		}
	}
}
