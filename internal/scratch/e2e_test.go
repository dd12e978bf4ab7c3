package scratch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
	"fmt"

	"pawl"
	"pawl/agent/script"
	"pawl/demo"
	"pawl/driver/archive"
	"pawl/driver/checkpoint"
	"pawl/driver/file"
	"pawl/driver/land"
	"pawl/driver/search"
	"pawl/driver/shell"
	"pawl/driver/verify"
	"pawl/effect"
	"pawl/kernel"
	"pawl/policy"
	"pawl/runner"
	"pawl/sandbox"
	"pawl/sandbox/git"
	"pawl/store/sqlite"
	"pawl/workspace"
)

func TestMain(m *testing.M) { sandbox.Child(); os.Exit(m.Run()) }

type tool interface {
	runner.Driver
	Info() effect.ToolInfo
	Request(args json.RawMessage) (policy.Request, error)
}

func gitStatus(ctx context.Context, place effect.Place) (head, branch string, dirty []string, err error) {
	repo, err := git.Open(ctx, git.Place{Workspace: place.Workspace, Tree: place.Tree, Git: true})
	if err != nil {
		return "", "", nil, err
	}
	if err := repo.Ready(ctx); err != nil {
		return "", "", nil, err
	}
	s, err := repo.Status(ctx)
	return s.Head, s.Branch, s.Dirty, err
}

func TestE2E(t *testing.T) {
	ctx := context.Background()
	box, _ := sandbox.New(sandbox.Options{})
	dir := filepath.Join(t.TempDir(), "repo")
	os.MkdirAll(dir, 0o755)
	if err := demo.Unpack(ctx, box, dir); err != nil {
		t.Fatal(err)
	}
	place, _ := workspace.Find(dir)
	if err := workspace.Prepare(place); err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", place)
	st, err := sqlite.Open(filepath.Join(dir, ".pawl/pawl.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	shots := checkpoint.NewSnapshotter()
	home, _ := os.UserHomeDir()
	machine := verify.Host{Home: home, Env: os.Environ(), LookPath: sandbox.LookPath}
	check := verify.New(verify.Config{Box: box, Host: machine, Open: verify.OpenDir, Snapshot: shots.Snapshot, Changed: shots.Diff})
	agent := script.New(script.Config{LookPath: sandbox.LookPath, Open: verify.OpenDir})
	drivers := map[effect.Kind]runner.Driver{
		effect.KindContext: verify.NewContext(machine, verify.OpenDir, gitStatus), effect.KindVerify: check, effect.KindGates: verify.NewGates(check, gitStatus),
		effect.KindPlan: agent, effect.KindRepair: agent,
		effect.KindWorktree: checkpoint.NewWorktree(), effect.KindCheckpoint: checkpoint.NewPoint(), effect.KindRestore: checkpoint.NewRestore(),
		effect.KindCleanup: checkpoint.NewCleanup(), effect.KindLand: land.New(), effect.KindRevert: land.NewRevert(), effect.KindArchive: archive.New(),
	}
	command := shell.Command{Box: box, Snapshot: shots.Snapshot, Setting: func(place effect.Place, network bool) (shell.Setting, error) {
		tc, err := machine.Toolchain(place, verify.UseWork)
		return shell.Setting{Env: tc.Env, Writable: tc.Writable, Readable: tc.Readable}, err
	}}
	tools := []tool{file.Read{}, search.List{}, search.Glob{}, search.Grep{}, file.Patch{}, file.Write{}, file.Delete{}, command}
	c := kernel.Defaults()
	o := runner.Options{Owner: "me", Drivers: drivers, Tools: map[string]runner.Driver{}, Progress: func(e effect.Effect, line string) { fmt.Println("   ..", e.Kind, line) }}
	for _, tl := range tools {
		c.Tools[tl.Info().Name] = kernel.Tool{Info: tl.Info(), Request: tl.Request}
		o.Tools[tl.Info().Name] = tl
	}
	k := kernel.New(st, c, pawl.ClockFunc(time.Now), rand.Reader)
	start := time.Now()
	k.OnCommit(func(out kernel.Outcome) {
		for _, e := range out.Entries {
			if e.Move != nil {
				fmt.Printf("%6d %s %s -> %s (%s) %s\n", time.Since(start).Milliseconds(), e.Subject.Kind, e.Move.From, e.Move.To, e.Move.Rule, e.Move.Reason)
			} else {
				fmt.Printf("%6d %s %s %s\n", time.Since(start).Milliseconds(), e.Subject.Kind, e.Event, e.Data)
			}
		}
	})
	r := runner.New(k, o)
	k.OnCommit(func(kernel.Outcome) { r.Wake() })
	do := func(c kernel.Command) {
		t.Helper()
		if _, err := k.Do(ctx, kernel.Envelope{Actor: "user:ada", Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	do(&kernel.Init{Place: place})
	given, _ := os.ReadFile(filepath.Join(dir, demo.PlanFile))
	do(&kernel.Start{Requirement: demo.Requirement, Given: given, Name: "plan.yaml", Place: place, RunMode: pawl.Assisted})
	rest, err := r.Run(ctx)
	fmt.Println(rest, err)
	s, _ := k.Look(ctx)
	if s.Session.LastError != nil {
		t.Fatal(s.Session.LastError)
	}
	do(&kernel.Approve{Hash: s.Solution.Hash})
	rest, err = r.Run(ctx)
	fmt.Println(rest, err)
	s, _ = k.Look(ctx)
	if s.Session.Blocked != nil {
		t.Fatal(s.Session.Blocked)
	}
	log, err := demo.Log(ctx, box, dir, 5)
	fmt.Println(log, err)
}
