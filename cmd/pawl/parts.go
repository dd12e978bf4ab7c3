package main

import (
	"context"
	"os"

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

func newParts(effect.Place) *parts {
	box, _ := sandbox.New(sandbox.Options{}) // the zero options are always valid
	shots := checkpoint.NewSnapshotter()
	home, _ := os.UserHomeDir()
	machine := verify.Host{Home: home, Env: os.Environ(), LookPath: sandbox.LookPath}
	check := verify.New(verify.Config{Box: box, Host: machine, Open: verify.OpenDir, Snapshot: shots.Snapshot, Changed: shots.Diff})
	agent := script.New(script.Config{LookPath: sandbox.LookPath, Open: verify.OpenDir})
	p := &parts{shots: shots, drivers: map[effect.Kind]runner.Driver{
		effect.KindContext: verify.NewContext(machine, verify.OpenDir, gitStatus), effect.KindVerify: check, effect.KindGates: verify.NewGates(check, gitStatus),
		effect.KindPlan: agent, effect.KindRepair: agent,
		effect.KindWorktree: checkpoint.NewWorktree(), effect.KindCheckpoint: checkpoint.NewPoint(), effect.KindRestore: checkpoint.NewRestore(),
		effect.KindCleanup: checkpoint.NewCleanup(), effect.KindLand: land.New(), effect.KindRevert: land.NewRevert(), effect.KindArchive: archive.New(),
	}}
	command := shell.Command{Box: box, Snapshot: shots.Snapshot, Setting: func(place effect.Place, network bool) (shell.Setting, error) {
		t, err := machine.Toolchain(place, verify.UseWork)
		return shell.Setting{Env: t.Env, Writable: t.Writable, Readable: t.Readable}, err
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
		c.Tools[t.Info().Name] = kernel.Tool{Info: t.Info(), Request: t.Request}
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
