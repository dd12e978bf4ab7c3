package main

import (
	"context"
	"os"
	"time"

	"pawl/agent/script"
	"pawl/cli"
	"pawl/driver/archive"
	"pawl/driver/checkpoint"
	"pawl/driver/file"
	"pawl/driver/land"
	"pawl/driver/search"
	"pawl/driver/shell"
	"pawl/driver/verify"
	"pawl/effect"
	"pawl/kernel"
	"pawl/runner"
	"pawl/sandbox"
	"pawl/sandbox/git"
)

// parts are the drivers, the agent and the tools, wired for one process.
type parts struct {
	drivers map[effect.Kind]runner.Driver
	tools   []checkpoint.Tool
	shots   checkpoint.Snapshotter
}

func newParts(smoke string) *parts {
	box, _ := sandbox.New(sandbox.Options{}) // the zero options are always valid
	shots := checkpoint.NewSnapshotter()
	home, _ := os.UserHomeDir()
	machine := verify.Host{Home: home, Env: os.Environ(), LookPath: sandbox.LookPath}
	commands := map[string]string{}
	if smoke != "" {
		commands[verify.GateSmoke] = smoke
	}
	check := verify.New(verify.Config{Box: box, Host: machine, Open: verify.OpenDir, Snapshot: shots.Snapshot, Changed: shots.Diff, Commands: commands})
	agent := script.New(script.Config{LookPath: sandbox.LookPath, Open: verify.OpenDir})
	p := &parts{shots: shots, drivers: map[effect.Kind]runner.Driver{
		effect.KindContext: verify.NewContext(machine, verify.OpenDir, gitStatus), effect.KindVerify: check, effect.KindGates: verify.NewGates(check, gitStatus),
		effect.KindPlan: agent, effect.KindRepair: agent,
		effect.KindWorktree: checkpoint.NewWorktree(), effect.KindCheckpoint: checkpoint.NewPoint(), effect.KindRestore: checkpoint.NewRestore(),
		effect.KindCleanup: cleanup{checkpoint.NewCleanup(), shots}, effect.KindLand: land.New(), effect.KindRevert: land.NewRevert(), effect.KindArchive: archive.New(),
	}}
	command := shell.Command{Box: box, Snapshot: shots.Snapshot, Changed: p.changed, Restore: restore,
		Setting: func(place effect.Place, network bool) (shell.Setting, error) {
			t, err := machine.Toolchain(place, verify.UseWork)
			return shell.Setting(t), err
		}}
	for _, t := range []checkpoint.Tool{file.Read{}, search.List{}, search.Glob{}, search.Grep{}, file.Patch{}, file.Write{}, file.Delete{}, command} {
		p.tools = append(p.tools, checkpoint.Recorded{Tool: t, Snapshotter: shots})
	}
	return p
}

// config is the kernel's configuration with the tools that are wired in.
func (p *parts) config() kernel.Config {
	c := kernel.Defaults()
	for _, t := range p.tools {
		info := t.Info()
		c.Tools[info.Name] = kernel.Tool{Info: info, Request: t.Request}
	}
	return c
}

func (p *parts) infos() []effect.ToolInfo {
	var out []effect.ToolInfo
	for _, t := range p.tools {
		out = append(out, t.Info())
	}
	return out
}

func (p *parts) options(owner string, progress func(effect.Effect, string)) runner.Options {
	o := runner.Options{Owner: owner, Drivers: p.drivers, Tools: map[string]runner.Driver{}, Progress: progress}
	for _, t := range p.tools {
		o.Tools[t.Info().Name] = t
	}
	return o
}

func (p *parts) diff(ctx context.Context, place effect.Place, from, to string) (string, error) {
	patch, _, err := p.shots.Patch(ctx, place, from, to)
	return patch, err
}

// gitStatus tells the context driver what git says of a place, and refuses one that work cannot start from.
func gitStatus(ctx context.Context, place effect.Place) (head, branch string, dirty []string, err error) {
	if !place.Git {
		return "", "", nil, nil
	}
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

var _ cli.Host = host{}

// cleanup removes a task's worktree, the caches that were kept for it, and checkpoints past their time.
type cleanup struct {
	checkpoint.Cleanup
	shots checkpoint.Snapshotter
}

// Do forgets the caches and cleans up. Old checkpoints that cannot be removed now are removed by a later cleanup.
func (c cleanup) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	if err := verify.Forget(e.Place); err != nil {
		return effect.Failed(err)
	}
	r := c.Cleanup.Do(ctx, e, progress)
	_, _ = c.shots.Prune(ctx, effect.Place{Workspace: e.Place.Workspace, Tree: e.Place.Workspace, Git: e.Place.Git}, time.Now().Add(-checkpoint.KeptFor))
	return r
}

// changed names the files that differ between two recorded trees.
func (p *parts) changed(ctx context.Context, place effect.Place, from, to string) ([]string, error) {
	stats, err := p.shots.Diff(ctx, place, from, to)
	var out []string
	for _, s := range stats {
		out = append(out, s.Path)
	}
	return out, err
}

// restore brings a tree back from one recorded state to another, as far as nobody else changed it since.
func restore(ctx context.Context, place effect.Place, before, after string) error {
	spec := effect.RestoreSpec{Name: "undo", Target: before, Expect: after}
	r := checkpoint.NewRestore().Do(ctx, effect.Effect{ID: "undo-" + after, Kind: effect.KindRestore, Place: place, Spec: effect.Encode(spec)}, nil)
	return r.Err()
}
