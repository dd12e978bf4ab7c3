package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/kernel/audit"
	"pawl/machine/task"
	"pawl/text/plan"
)

func TestQuantile(t *testing.T) {
	values := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, 0.5: 2.5, 1: 4} {
		if got := quantile(values, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if got := median([]float64{7}); got != 7 {
		t.Errorf("median of one is %v", got)
	}
	if !math.IsNaN(median(nil)) {
		t.Error("nothing has a median")
	}
	if values[0] != 4 {
		t.Error("the values were sorted in place")
	}
}

func TestFigures(t *testing.T) {
	for want, f := range map[string]Figure{
		"11.2 ns": tookNanos(11.2), "450 ns": took(450), "2.35 µs": took(2350), "15.0 ms": took(15 * time.Millisecond),
		"3.41 s":   took(3410 * time.Millisecond),
		"63,012/s": rate(63012.4), "999/s": rate(999), "1,234,567/s": rate(1234567), "0 allocs": count(0,
			"allocs"), "–": {},
	} {
		if got := f.String(); got != want {
			t.Errorf("%+v shows as %q, want %q", f, got, want)
		}
	}
}

func TestGoals(t *testing.T) {
	for _, c := range []struct {
		r    Result
		want string
		miss bool
	}{
		{Result{Score: 10, Goal: 10, Unit: "×"}, "≥ 10×", false},
		{Result{Score: 9.99, Goal: 10, Unit: "×"}, "≥ 10×", true},
		{Result{Score: 2, Goal: 2, Unit: "ms", AtMost: true}, "≤ 2 ms", false},
		{Result{Score: 2.01, Goal: 2, Unit: "ms", AtMost: true}, "≤ 2 ms", true},
		{Result{Score: 0, Goal: 0, Unit: "allocs", AtMost: true}, "≤ 0 allocs", false},
		{Result{Score: math.NaN(), Goal: 15, Unit: "%", AtMost: true}, "≤ 15%", true},
		{Result{Score: 99, Unit: "×", NoGoal: true}, "", false},
	} {
		if got := c.r.goal(); got != c.want || c.r.Missed() != c.miss {
			t.Errorf("%+v: goal %q, missed %t", c.r, got, c.r.Missed())
		}
	}
}

func TestRunRefusesBadArguments(t *testing.T) {
	for _, args := range [][]string{{"-only", "nothing"}, {"more"}, {"-time", "0s"}, {"-time", "x"}, {"-unknown"}} {
		var errs bytes.Buffer
		if code := run(context.Background(), args, io.Discard, &errs); code != 2 || errs.Len() == 0 {
			t.Errorf("%q: status %d, %q", args, code, errs.String())
		}
	}
	if code := run(context.Background(), []string{"-only", "decide", "-dir", t.TempDir() + "/missing"}, io.Discard,
		io.Discard); code != 1 {
		t.Errorf("a folder that is not there: status %d", code)
	}
}

// TestReport measures the shortest benchmark and reads both forms of the report.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	var table, raw bytes.Buffer
	args := []string{"-only", "decide", "-time", "1ms", "-dir", dir}
	if code := run(context.Background(), args, &table, io.Discard); code != 0 {
		t.Fatalf("status %d", code)
	}
	if code := run(context.Background(), append(args, "-json"), &raw, io.Discard); code != 0 {
		t.Fatalf("status %d with -json", code)
	}
	var rep report
	if err := json.Unmarshal(raw.Bytes(), &rep); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(table.String()), "\n")
	lines = lines[max(0, len(lines)-len(rep.Results)):]
	if len(rep.Results) < 9 || len(lines) != len(rep.Results) {
		t.Fatalf("%d results:\n%s", len(rep.Results), table.String())
	}
	for i, r := range rep.Results {
		if line := lines[i]; !strings.Contains(line, r.Case) || !strings.Contains(line, r.goal()) {
			t.Errorf("line %q does not show %+v", line, r)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestStrictFailsWhereAGoalIsMissed(t *testing.T) {
	var out bytes.Buffer
	code := run(context.Background(), []string{"-only", "decide", "-time", "1ms", "-dir", t.TempDir(), "-strict"}, &out,
		io.Discard)
	if want := map[bool]int{true: 1}[strings.Contains(out.String(), "missed")]; code != want {
		t.Errorf("status %d after\n%s", code, out.String())
	}
}

func TestBusyMachineIsNamed(t *testing.T) {
	for load, want := range map[float64]bool{-1: false, 0: false, 1e6: true} {
		var out bytes.Buffer
		if err := printTable(&out, report{Load: load}); err != nil || strings.Contains(out.String(), "busy") != want {
			t.Errorf("load %v: %v\n%s", load, err, out.String())
		}
	}
}

// TestSameTable: all candidates give the table's answer to every pair of states.
func TestSameTable(t *testing.T) {
	legal, refused := pairs()
	if len(legal) != 18 || len(refused) != 72 {
		t.Errorf("%d legal and %d refused pairs", len(legal), len(refused))
	}
	for name, make := range map[string]func([]pair) func(int) error{
		"kernel": decider, "table": tableLookup, "stateless": statelessMachine, "looplab": looplabMachine,
	} {
		moves := append(append([]pair{}, legal...), refused...)
		try := make(moves)
		for i := range moves {
			if err := try(i); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		moves[0].legal = false
		if make(moves[:1])(0) == nil {
			t.Errorf("%s: a wrong answer goes unnoticed", name)
		}
	}
}

func TestSeededStoreVerifies(t *testing.T) {
	ctx := context.Background()
	f, err := openFleet(ctx, t.TempDir(), perBatch+7)
	if err != nil {
		t.Fatal(err)
	}
	defer f.store.Close()
	l, err := f.transitions(ctx, 4, 30*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if l.rate <= 0 || !(l.p50 > 0) || l.p99 < l.p50 {
		t.Errorf("%+v", l)
	}
	head, err := f.store.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (audit.Log{Head: head, Records: f.store.Records(ctx, "", 0)}).Verify(); err != nil {
		t.Error(err)
	}
	if size, err := f.sizes(ctx); err != nil || size.record < 200 || size.doc < 100 || size.head < 64 {
		t.Errorf("sizes %+v, %v", size, err)
	}
	if err := f.check(ctx); err != nil {
		t.Error(err)
	}
	f.tasks[0].at = task.Blocked
	if f.check(ctx) == nil {
		t.Error("a state that was never acknowledged passes")
	}
}

func TestDriveStopsAtTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	start := time.Now()
	_, err := drive(context.Background(), 3, time.Minute, func(c, n int) error {
		if c == 1 && n == 2 {
			return broken
		}
		time.Sleep(time.Millisecond)
		return nil
	})
	if !errors.Is(err, broken) || time.Since(start) > 10*time.Second {
		t.Errorf("%v after %s", err, time.Since(start))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := drive(ctx, 1, time.Minute, func(int, int) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestNaive(t *testing.T) {
	ctx := context.Background()
	n, err := openNaive(ctx, t.TempDir()+"/n.db", 2, []string{"a", "b", "c"}, sizes{doc: 700, record: 600, head: 64})
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	for range 3 {
		if err := n.transition(ctx, "b"); err != nil {
			t.Fatal(err)
		}
	}
	var state string
	var records, bytes, size, docs, synchronous int
	if err := n.db.QueryRow("SELECT state FROM task WHERE id='b'").Scan(&state); err != nil || state != "queued" {
		t.Errorf("%s after a round, %v", state, err)
	}
	if err := n.db.QueryRow("SELECT count(*), sum(length(record)) FROM audit").Scan(&records, &bytes); err != nil ||
		records != 4 || bytes != 2400 {
		t.Errorf("%d records of %d bytes, %v", records, bytes, err)
	}
	if err := n.db.QueryRow("SELECT size, (SELECT sum(length(doc)) FROM task) FROM log").Scan(&size,
		&docs); err != nil || size != 4 || docs != 2100 {
		t.Errorf("a log of %d records, documents of %d bytes, %v", size, docs, err)
	}
	if err := n.db.QueryRow("PRAGMA synchronous").Scan(&synchronous); err != nil || synchronous != 2 {
		t.Errorf("synchronous %d is not FULL, %v", synchronous, err)
	}
}

func TestIdleLap(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	o, err := openOffice(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer o.store.Close()
	served := make(chan error, 1)
	go func() { served <- o.serve(ctx) }()
	for n := range 2 {
		wait, whole, err := o.lap(ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		if wait <= 0 || whole < wait {
			t.Errorf("queued for %s of %s", wait, whole)
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestFirstRow(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal("sh is missing; it is part of every Debian")
	}
	first, whole, rows, err := firstRow(exec.Command(sh, "-c", "echo head; echo T-1; sleep 0.05; echo T-2"), "T-")
	if err != nil || rows != 2 || whole-first < 40*time.Millisecond {
		t.Errorf("first %s of %s, %d rows, %v", first, whole, rows, err)
	}
	if _, _, _, err := firstRow(exec.Command(sh, "-c", "echo nothing"), "T-"); err == nil {
		t.Error("a list without rows passes")
	}
	if _, _, _, err := firstRow(exec.Command(sh, "-c", "echo T-1; exit 3"), "T-"); err == nil {
		t.Error("a command that fails passes")
	}
}

func TestPlanFile(t *testing.T) {
	file, err := writePlan(t.TempDir(), slices.Repeat([]string{runCommand}, runSteps))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := plan.Decode(file, data)
	if err != nil || len(p.Steps) != runSteps {
		t.Errorf("%d steps, %v", len(p.Steps), err)
	}
}
