package main

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/machine/task"
)

// TestTwoCrewsDoEachTaskOnce: two processes drain one queue.
func TestTwoCrewsDoEachTaskOnce(t *testing.T) {
	const tasks, workers = 160, 4
	ctx, dir := t.Context(), t.TempDir()
	var crews [2]*crew
	for i, name := range []string{"one", "two"} {
		c, err := openCrew(name, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer c.store.Close()
		crews[i] = c
	}
	if _, err := seedRanks(ctx, crews[0].kernel, effect.Place{Workspace: dir, Tree: dir}, tasks, queueRanks,
		task.Queued); err != nil {
		t.Fatal(err)
	}
	if err := crews[0].verify(ctx, tasks, workers-1); err == nil {
		t.Fatal("tasks that nobody did pass for done")
	}
	var all sync.WaitGroup
	var did [2]int
	for i, c := range crews {
		all.Go(func() {
			took, err := c.work(ctx, workers)
			if err != nil {
				t.Error(err)
			}
			did[i] = len(took)
		})
	}
	all.Wait()
	if did[0]+did[1] != tasks {
		t.Errorf("%d and %d of %d tasks", did[0], did[1], tasks)
	}
	// A page of the other crew may be as old as its life, so its order is not the concern here.
	if err := crews[1].verify(ctx, tasks, tasks); err != nil {
		t.Error(err)
	}
	if err := crews[1].verify(ctx, tasks+1, tasks); err == nil {
		t.Error("a task that is missing goes unnoticed")
	}
}

// TestOneCrewKeepsTheOrder: within a process no task waits behind one of a lower rank.
func TestOneCrewKeepsTheOrder(t *testing.T) {
	const tasks, workers = 120, 4
	ctx, dir := t.Context(), t.TempDir()
	c, err := openCrew("one", dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.store.Close()
	if _, err := seedRanks(ctx, c.kernel, effect.Place{Workspace: dir, Tree: dir}, tasks, queueRanks,
		task.Queued); err != nil {
		t.Fatal(err)
	}
	if _, err := c.work(ctx, workers); err != nil {
		t.Fatal(err)
	}
	if err := c.verify(ctx, tasks, workers-1); err != nil {
		t.Error(err)
	}
	if err := c.verify(ctx, tasks, -1); err == nil {
		t.Error("the order is not looked at")
	}
}

func TestCandidates(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	c, err := openCrew("one", dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.store.Close()
	ids, err := seedRanks(ctx, c.kernel, effect.Place{Workspace: dir, Tree: dir}, 3, 3, task.Queued)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 4 {
		id, err := c.queue.take(ctx)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, id)
	}
	if want := []string{ids[1], ids[0], ids[2], ""}; strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("handed out %v, want %v", got, want)
	}
	// A task whose claim came to nothing is there again.
	c.queue.settle(ids[0])
	if id, err := c.queue.take(ctx); err != nil || id != ids[0] {
		t.Errorf("%q, %v", id, err)
	}
	// One of a higher rank comes first as soon as the page is old.
	c.queue.settle(ids[0])
	c.queue.settle(ids[1])
	if id, _ := c.queue.take(ctx); id != ids[1] {
		t.Errorf("%q is not the highest rank", id)
	}
	if err := c.do(ctx, "runner:other", nil,
		&kernel.Transition{Task: ids[0], To: task.Running, Owner: "other"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.claim(ctx, "one/1", ids[0]); !errors.Is(err, pawl.ErrAlreadyInState) {
		t.Errorf("a task that was claimed already: %v", err)
	}
	time.Sleep(pageLife)
	if id, err := c.queue.take(ctx); err != nil || id != "" {
		t.Errorf("%q is handed out, %v", id, err)
	}
}

func TestPlot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plots")
	name, err := Plot(dir, "Reading <much>", []float64{1000, 10000, 100000},
		[]Series{{"a & b", []float64{1e5, 2e5, 4e5}}, {"c", []float64{3e5, 3e5, 3e5}}})
	if err != nil || filepath.Base(name) != "reading-much.svg" {
		t.Fatal(name, err)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(raw))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	// The sizes are a factor of ten apart each, so their places are evenly apart; four times the value lies four times
	// as high.
	for _, want := range []string{"76.0,315.3 318.0,262.7 560.0,157.3", "a &amp; b", ">100,000<", ">400 µs<",
		"Reading &lt;much&gt;"} {
		if !strings.Contains(string(raw), want) || strings.Contains(string(raw), "%!") {
			t.Errorf("no %q in\n%s", want, raw)
		}
	}
	for _, bad := range []func() (string, error){
		func() (string, error) { return Plot(dir, "x", []float64{10, 10}, nil) },
		func() (string, error) { return Plot(dir, "x", []float64{1, 10}, nil) },
		func() (string, error) { return Plot(dir, "x", []float64{10, 20}, []Series{{"a", []float64{1}}}) },
	} {
		if name, err := bad(); err == nil {
			t.Errorf("wrote %s", name)
		}
	}
}

func TestGrowthIsHeldAgainstTheLogarithm(t *testing.T) {
	for last, miss := range map[float64]bool{1.6e4: false, 1.7e4: true} {
		var out []Result
		emitGrowth(Series{"x", []float64{1e4, 1e4, last}}, growthSizes, time.Millisecond,
			func(r Result) { out = append(out, r) })
		if len(out) != 2 || out[0].Missed() != miss || out[1].Missed() {
			t.Errorf("%v: %+v", last, out)
		}
	}
}

// withoutServer hides the programs of a server, and lets what would install one leave a mark instead.
func withoutServer(t *testing.T) (mark string) {
	t.Helper()
	fakes := t.TempDir()
	mark = filepath.Join(fakes, "installed")
	install := "echo \"$0 $*\" >> '" + mark + "'\n"
	for name, does := range map[string]string{"apt-get": install, "sudo": install, "ls": ""} { // the last finds what Debian installs beside PATH
		if err := os.WriteFile(filepath.Join(fakes, name), []byte("#!/bin/sh\n"+does+"exit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	dirs := []string{fakes}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
			dirs = append(dirs, dir)
		}
	}
	t.Setenv("PATH", strings.Join(dirs, string(filepath.ListSeparator)))
	return mark
}

func TestServerThatIsMissing(t *testing.T) {
	mark := withoutServer(t)
	dsn, stop, err := servePostgres(filepath.Join(t.TempDir(), "missing"))
	if err == nil || strings.Contains(err.Error(), "\n") || dsn != "" {
		t.Errorf("%q, %v", dsn, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if code := run(context.Background(), []string{"-only", "queue", "-dir", t.TempDir(), "-postgres",
		"host=/nonexistent user=x"}, io.Discard, io.Discard); code != 1 {
		t.Errorf("a server that is not there: status %d", code)
	}
	if said, err := os.ReadFile(mark); err == nil {
		t.Errorf("something was installed: %s", said)
	}
}
