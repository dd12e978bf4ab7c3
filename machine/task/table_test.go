package task_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl"
	"pawl/internal/golden"
	"pawl/machine"
	"pawl/machine/machinetest"
	"pawl/machine/task"
	"pawl/text/message"
)

// seedRows is the list of docs/spec/task.md#s3: id, from, to, actor, priority.
var seedRows = [][5]string{
	{"T1", "draft", "approved", "user/system", "HIGH"},
	{"T2", "draft", "canceled", "user/system", "LOW"},
	{"T3", "approved", "queued", "system", "HIGH"},
	{"T4", "approved", "canceled", "user/system", "LOW"},
	{"T5", "queued", "running", "runner", "HIGH"},
	{"T6", "queued", "canceled", "user/system", "LOW"},
	{"T7", "running", "verifying", "runner", "HIGH"},
	{"T8", "running", "failed", "runner", "MEDIUM"},
	{"T9", "running", "canceled", "user/system", "LOW"},
	{"T10", "running", "blocked", "runner", "HIGH"},
	{"T11", "verifying", "verified", "verifier", "HIGH"},
	{"T12", "verifying", "failed", "verifier", "MEDIUM"},
	{"T13", "verifying", "canceled", "user/system", "LOW"},
	{"T14", "verifying", "queued", "gate_runner", "MEDIUM"},
	{"T15", "verified", "done", "system", "MEDIUM"},
	{"T16", "failed", "queued", "system", "MEDIUM"},
	{"T17", "blocked", "queued", "system", "HIGH"},
	{"T18", "blocked", "canceled", "user/system", "LOW"},
	{"T19", "running", "running", "runner", "LOW"},
	{"T20", "queued", "queued", "system", "LOW"},
}

func TestSeedTransitions(t *testing.T) {
	rules := task.Table.Rules()
	if len(rules) != len(seedRows) {
		t.Fatalf("%d rows, the seed has %d", len(rules), len(seedRows))
	}
	var high []string
	for i, want := range seedRows {
		r := rules[i]
		actors := make([]string, len(r.Actors))
		for i, a := range r.Actors {
			actors[i] = string(a)
		}
		got := [5]string{r.ID, string(r.From), string(r.To), strings.Join(actors, "/"), string(r.Priority)}
		if got != want {
			t.Errorf("row %d is %v, the seed says %v", i+1, got, want)
		}
		if r.Ext || r.Idempotent != (r.From == r.To) {
			t.Errorf("%s: ext %v, idempotent %v", r.ID, r.Ext, r.Idempotent)
		}
		if r.Priority == machine.High {
			high = append(high, r.ID)
		}
	}
	if want := "T1 T3 T5 T7 T10 T11 T17"; strings.Join(high, " ") != want {
		t.Errorf("high priority: %v, the seed says %s", high, want)
	}
}

func TestCheckAndCounts(t *testing.T) {
	if p := task.Table.Describe().Check(); len(p) != 0 {
		t.Errorf("problems: %v", p)
	}
	if p := machinetest.Strict(task.Table.Describe()).Check(); len(p) != 0 {
		t.Errorf("problems of the strict table: %v", p)
	}
	if states, seed, ext := task.Table.Describe().Count(); states != 10 || seed != 20 || ext != 0 {
		t.Errorf("%d states, %d rows, %d added; want 10, 20, 0", states, seed, ext)
	}
	golden.Check(t, "../../docs/machines/task.md", machinetest.Page("task", message.Translation, task.Describe()...))
}

// TestStrictActors: in strict-seed mode nobody but the seed's actors may act.
func TestStrictActors(t *testing.T) {
	full, _ := task.Table.Rule("T3")
	strict, _ := machinetest.Find(machinetest.Strict(task.Table.Describe()),
		func(r machine.RuleDescription) bool { return r.ID == "T3" })
	if !full.Admits(pawl.KindUser) || !slices.Equal(strict.Actors, []string{string(pawl.KindSystem)}) ||
		len(strict.AlsoActors) > 0 {
		t.Error("T3: the user queues a task, and in strict-seed mode only the system does")
	}
	for _, r := range task.Table.Rules() {
		if r.Admits(pawl.KindAgent) {
			t.Errorf("%s: an agent reports, it never moves a task", r.ID)
		}
	}
}

func TestAllPairs(t *testing.T) {
	legal, same, refused := 0, 0, 0
	for _, from := range task.Table.States() {
		for _, to := range task.Table.States() {
			r, ok := task.Table.Between(from, to)
			err := task.Refusal(from, to)
			switch {
			case task.Same(from, to):
				same++
				if ok && !r.Idempotent || err != nil {
					t.Errorf("%s to itself: row %v, refusal %v", from, r, err)
				}
			case ok:
				legal++
				if err != nil {
					t.Errorf("%s → %s is %s and refused: %v", from, to, r.ID, err)
				}
			default:
				refused++
				if err == nil || err.Code != pawl.CodeInvalidTransition || len(err.Args) != 4 {
					t.Errorf("%s → %s: no reason: %v", from, to, err)
				}
			}
		}
	}
	if legal != 18 || same != 10 || refused != 72 {
		t.Errorf("%d legal, %d the same, %d refused; want 18, 10, 72", legal, same, refused)
	}
	if task.Same("", "") || task.Same("QUEUED", "QUEUED") {
		t.Error("what is no state is not the same state")
	}
}

// TestSeedRefusals holds the examples of docs/spec/task.md#s7-1 and one of each other kind.
func TestSeedRefusals(t *testing.T) {
	for _, c := range []struct {
		from, to   task.State
		key, about string
	}{
		{task.Draft, task.Running, "machine.task_skips", "approved, queued"},
		{task.Approved, task.Running, "machine.task_skips", "queued"},
		{task.Queued, task.Verified, "machine.task_skips", "running, verifying"},
		{task.Verifying, task.Done, "machine.task_skips", "verified"},
		{task.Done, task.Approved, "machine.task_final", "-"},
		{task.Failed, task.Approved, "machine.task_resting", "-"},
		{task.Draft, task.Failed, "machine.task_skips", "approved, queued, running"},
		{task.Canceled, task.Draft, "machine.task_final", "-"},
		{task.Blocked, task.Done, "machine.task_resting", "-"},
		{task.Running, task.Draft, "machine.task_to_draft", "-"},
		{task.Verified, task.Canceled, "machine.task_verified", "-"},
		{task.Verifying, task.Blocked, "machine.task_sources", "running"},
		{task.Running, task.Queued, "machine.task_backward", "-"},
		{"", task.Draft, "machine.unknown", ""},
		{task.Draft, "DONE", "machine.unknown", ""},
	} {
		err := task.Refusal(c.from, c.to)
		if err == nil || err.Key != c.key || c.about != "" && err.Args[2] != c.about {
			t.Errorf("%s → %s: %v, want %s about %q", c.from, c.to, err, c.key, c.about)
		}
	}
}

func TestGroups(t *testing.T) {
	for group, want := range map[string]string{
		task.GroupInitial: "draft", task.GroupApproval: "approved", task.GroupExecution: "queued running",
		task.GroupVerification: "verifying verified", task.GroupTerminal: "done failed canceled blocked",
		task.GroupActive: "queued running verifying",
	} {
		var got []string
		for _, s := range machinetest.Group(task.Table, group) {
			got = append(got, string(s))
			if group == task.GroupTerminal && !s.Terminal() || group == task.GroupActive && !s.Active() {
				t.Errorf("%s is in group %s and does not know it", s, group)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("group %s is %v, want %s", group, got, want)
		}
	}
	for _, s := range task.Table.States() {
		if s.Final() != (len(task.Table.From(s)) == 0) || s.Final() != task.Table.Final(s) {
			t.Errorf("%s: final is wrong", s)
		}
		if s.Terminal() != slices.Contains(machinetest.Group(task.Table, task.GroupTerminal), s) ||
			s.Active() != slices.Contains(machinetest.Group(task.Table, task.GroupActive), s) {
			t.Errorf("%s: terminal or active is wrong", s)
		}
	}
}

func TestParse(t *testing.T) {
	for in, want := range map[string]task.State{
		"draft": task.Draft, " RUNNING\n": task.Running, "cancelled": task.Canceled, "Canceled": task.Canceled,
		"CANCELLED": task.Canceled,
	} {
		if got, err := task.Parse(in); err != nil || got != want {
			t.Errorf("Parse(%q) = %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "cancel", "done!", "完成", strings.Repeat("x", 1<<16)} {
		if got, err := task.Parse(in); err == nil || got != "" || pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("Parse(%.20q) = %q, %v", in, got, err)
		}
	}
}

func TestExitReasons(t *testing.T) {
	var got []string
	for _, r := range task.ExitReasons() {
		got = append(got, string(r))
	}
	want := "timeout retry_exhausted canceled exception gate_failed user_stopped fatal_error max_iterations blocked unknown"
	if strings.Join(got, " ") != want {
		t.Errorf("exit reasons are %v", got)
	}
	if task.ExitReason("success").Valid() || task.ExitReason("").Valid() {
		t.Error("the list is not closed")
	}
}

// TestNextAgreesWithScan compares the index with the plain reading of the table.
func TestNextAgreesWithScan(t *testing.T) {
	rules := task.Table.Rules()
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom(append(task.Table.States(), "", "DRAFT")).Draw(t, "from")
		on := rapid.SampledFrom(append(machinetest.Events(task.Table), "", "approve")).Draw(t, "on")
		at := slices.IndexFunc(rules, func(r machine.Rule[task.State, task.Event]) bool {
			return r.From == from &&
				r.On == on
		})
		r, ok := task.Table.Next(from, on, "")
		if ok != (at >= 0) || ok && r.ID != rules[at].ID {
			t.Fatalf("Next(%s, %s) = %v, %v", from, on, r, ok)
		}
	})
}

func TestNoAllocation(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		task.Table.Next(task.Running, task.Finish, "")
		task.Table.Next(task.Done, task.Start, "")
		task.Table.Between(task.Queued, task.Running)
		task.Table.Refusal(task.Done, task.Start)
		task.Refusal(task.Draft, task.Running)
		task.Refusal("", "nowhere")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRefusal(b *testing.B) {
	for b.Loop() {
		if _, ok := task.Table.Between(task.Draft, task.Running); !ok {
			_ = task.Refusal(task.Draft, task.Running)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for b.Loop() {
		task.Table.Next(task.Running, task.Finish, "")
	}
}

func ExampleRefusal() {
	err := task.Refusal(task.Draft, task.Running)
	fmt.Println(err.Key, err.Args)
	// Output: machine.task_skips [draft running approved, queued approved, canceled]
}
