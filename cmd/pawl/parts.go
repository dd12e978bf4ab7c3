package main

import (
	"context"
	"os"
	"time"

	"pawl"
	"pawl/agent/mcptools"
	"pawl/agent/script"
	"pawl/cli"
	"pawl/driver/archive"
	"pawl/driver/checkpoint"
	"pawl/driver/commit"
	"pawl/driver/contextpack"
	"pawl/driver/file"
	"pawl/driver/knowledge"
	"pawl/driver/land"
	"pawl/driver/packages"
	"pawl/driver/search"
	"pawl/driver/shell"
	"pawl/driver/verify"
	"pawl/effect"
	"pawl/kernel"
	"pawl/logs"
	"pawl/plan"
	"pawl/runner"
	"pawl/sandbox"
	"pawl/sandbox/egress"
	"pawl/sandbox/git"
)

// parts are the drivers, the agent and the tools, wired for one process.
type parts struct {
	drivers map[effect.Kind]runner.Driver
	tools   []checkpoint.Tool
	shots   checkpoint.Snapshotter
	foreign []*mcptools.Tool // of the MCP servers that the user trusts; they are among the tools
	warm    func()           // makes ready for commands behind walls, without waiting
	// pool keeps worktrees of the workspace ready.
	pool  func(size int) checkpoint.Pool
	close func()
}

func newParts(place effect.Place, c cli.Config, keep *recordings, of folders) *parts {
	held := walls(c)
	held.Ready = true
	box, _ := sandbox.New(held) // these options are always valid
	if !fenced(c) {
		of.std = "" // a check could write what belongs to all workspaces
	}
	memory := &git.Memory{}
	shots := checkpoint.NewSnapshotter(memory)
	machine := thisMachine()
	machine.Dependencies = finder(memory, c)
	commands := map[string]string{}
	if c.SmokeCommand != "" {
		commands[verify.GateSmoke] = c.SmokeCommand
	}
	check := verify.New(verify.Config{Box: box, Host: machine, Open: verify.OpenDir, Snapshot: shots.Snapshot, Changed: shots.Diff, Std: of.std, Commands: commands})
	agent := script.New(script.Config{LookPath: sandbox.LookPath, Open: verify.OpenDir})
	packs := contextpack.New(contextpack.Options{Walk: search.Shown(place.Workspace), Box: box, LookPath: sandbox.LookPath, Env: plainEnv()})
	p := &parts{shots: shots, warm: box.Warm, close: box.Close, drivers: map[effect.Kind]runner.Driver{
		effect.KindContext: informed{verify.NewContext(machine, verify.OpenDir, gitStatus(memory)).Inspecting(git.Inspect), packs, elsewhere{memory}}, effect.KindVerify: before{check, memory}, effect.KindGates: verify.NewGates(check, gitStatus(memory)),
		effect.KindPlan: agent, effect.KindRepair: agent,
		effect.KindWorktree: checkpoint.NewWorktree(memory), effect.KindCheckpoint: checkpoint.NewPoint(memory), effect.KindRestore: checkpoint.NewRestore(memory),
		effect.KindCleanup: cleanup{checkpoint.NewCleanup(memory), shots, memory}, effect.KindLand: land.New(memory), effect.KindRevert: land.NewRevert(memory), effect.KindRebase: land.NewRebase(memory), effect.KindArchive: archive.New(),
		effect.KindKnowledge: knowledge.New(), effect.KindPackage: packages.NewMake(), effect.KindRetire: packages.NewRetire(),
		effect.KindCommit: commit.New(memory), effect.KindRewind: commit.NewRewind(memory), effect.KindTest: check, effect.KindPrepare: fetcher(box, machine),
	}}
	p.pool = func(size int) checkpoint.Pool { return checkpoint.NewPool(memory, place, size) }
	command := shell.Command{Box: box, Snapshot: shots.Snapshot, Changed: p.changed, Restore: restore(memory),
		Setting: func(place effect.Place, network bool) (shell.Setting, error) {
			if network {
				t, err := machine.Fetching(place, registries().Variables(plan.Ecosystems()))
				return setting(t), err
			}
			t, err := machine.Toolchain(place, verify.UseWork)
			return setting(t), err
		}}
	for _, t := range []checkpoint.Tool{file.Read{}, search.List{}, search.Glob{}, search.Grep{}, file.Patch{}, file.Write{}, file.Delete{}, command} {
		p.tools = append(p.tools, checkpoint.Recorded{Tool: t, Snapshotter: shots})
	}
	var infos []effect.ToolInfo
	for _, t := range p.tools {
		infos = append(infos, t.Info())
	}
	flaw := p.connect(box, place, c, machine.Dependencies)
	for _, t := range p.foreign {
		infos = append(infos, t.Offered())
	}
	workers := briefed{staff{config: c, place: place, tools: infos, flaw: flaw, box: box, shots: shots, keep: keep, state: of.state, deps: machine.Dependencies}.agents(), packs, elsewhere{memory}.lodge}
	for _, k := range []effect.Kind{effect.KindIntake, effect.KindPlan, effect.KindRepair, effect.KindWork} {
		p.drivers[k] = workers
	}
	return p
}

// thisMachine is what checks have to know of the machine.
func thisMachine() verify.Host {
	home, _ := os.UserHomeDir()
	return verify.Host{Home: home, Env: os.Environ(), LookPath: sandbox.LookPath}
}

// registries are what the user's own settings say of them.
func registries() egress.Settings {
	home, _ := os.UserHomeDir()
	return egress.Settings{Env: os.Environ(), Home: home}
}

// sites says what a network grant of a plan stands for on this machine.
func sites(grant string) ([]effect.Site, error) {
	rules, err := registries().Places(grant)
	out := make([]effect.Site, len(rules))
	for i, r := range rules {
		out[i] = effect.Site(r)
	}
	return out, err
}

// kernelTools are the tools as the kernel knows them, by name.
func (p *parts) kernelTools() map[string]kernel.Tool {
	out := make(map[string]kernel.Tool, len(p.tools))
	for _, t := range p.tools {
		info := t.Info()
		out[info.Name] = kernel.Tool{Info: info, Request: t.Request}
	}
	return out
}

// known lists the tools in the order in which they are shown.
func (p *parts) known() []kernel.Tool {
	var out []kernel.Tool
	for _, t := range p.tools {
		out = append(out, kernel.Tool{Info: t.Info(), Request: t.Request})
	}
	return out
}

func (p *parts) options(owner string, progress func(effect.Effect, string)) runner.Options {
	o := runner.Options{Owner: owner, Drivers: p.drivers, Tools: map[string]runner.Driver{}, Record: p.shots.Snapshot, Progress: progress, Log: keepLogs}
	for _, t := range p.tools {
		o.Tools[t.Info().Name] = t
	}
	return o
}

// keepLogs keeps what the drivers of an effect write in the workspace that it works for.
func keepLogs(ctx context.Context, e effect.Effect) (context.Context, func()) {
	return logs.Of(e.Place.Workspace).Record(ctx, e.ID)
}

func (p *parts) diff(ctx context.Context, place effect.Place, from, to string) (string, error) {
	patch, cut, err := p.shots.Patch(ctx, place, from, to)
	if err == nil && cut {
		err = pawl.Fail(pawl.CodeInvalid, "see.diff_long", from, to)
	}
	return patch, err
}

// gitStatus returns what tells the context driver what git says of a place, and refuses one that work cannot start from.
func gitStatus(m *git.Memory) verify.Status {
	return func(ctx context.Context, place effect.Place) (head, branch string, dirty []string, err error) {
		if !place.Git {
			return "", "", nil, nil
		}
		repo, err := m.Open(ctx, git.Place{Workspace: place.Workspace, Tree: place.Tree, Git: true})
		if err != nil {
			return "", "", nil, err
		}
		s, err := repo.Status(ctx)
		if err == nil {
			err = s.Ready()
		}
		if err != nil {
			return "", "", nil, err
		}
		return s.Head, s.Branch, s.Dirty, nil
	}
}

var _ cli.Host = host{}

// packer builds context packs.
type packer interface {
	Build(ctx context.Context, a contextpack.Ask) (effect.ContextPack, error)
}

// informed adds the tree of its commit to the facts about a place, and a context pack where one is asked for.
type informed struct {
	*verify.Context
	packs packer
	elsewhere
}

// treeOf is the tree of the commit that work starts from, "" where it cannot be told: nothing is known of it then.
func treeOf(ctx context.Context, m *git.Memory, place effect.Place, head string) string {
	if head == "" {
		return ""
	}
	repo, err := m.Open(ctx, git.Place{Workspace: place.Workspace, Tree: place.Tree, Git: true})
	if err != nil {
		return ""
	}
	tree, err := repo.ResolveTree(ctx, head)
	if err != nil {
		return ""
	}
	return tree
}

// Do finds the facts and builds the pack. A pack that cannot be built is left out and said so in it: planning without it is
// worse, and possible.
func (d informed) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.ContextSpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	tip, err := d.enter(ctx, &e, spec.Branch)
	if tip != "" {
		defer d.leave(ctx, e.Place)
	}
	if err != nil {
		return effect.Failed(err)
	}
	r := d.Context.Do(ctx, e, progress)
	if r.OK && tip != "" {
		r = standsAt(r, tip, spec.Branch)
	}
	if !r.OK {
		return r
	}
	facts, err := effect.Decode[effect.ContextResult](r.Result)
	if err != nil {
		return r
	}
	facts.Tree = treeOf(ctx, d.memory, e.Place, facts.Head)
	if spec.Tokens > 0 {
		pack, err := d.packs.Build(ctx, contextpack.Ask{Place: e.Place, Requirement: spec.Requirement, Said: saidOf(spec), Tokens: spec.Tokens})
		if err != nil {
			pack.Degraded = append(pack.Degraded, "context.no_pack")
		}
		facts.Pack = &pack
	}
	done := effect.Succeeded(facts)
	done.Start, done.End, done.Attempts = r.Start, r.End, r.Attempts
	return done
}

// cleanup removes a task's worktree, the caches that were kept for it, and checkpoints past their time.
type cleanup struct {
	checkpoint.Cleanup
	shots  checkpoint.Snapshotter
	memory *git.Memory
}

// Do forgets the caches and cleans up. Old checkpoints that cannot be removed now are removed by a later cleanup.
func (c cleanup) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	if err := verify.Forget(e.Place); err != nil {
		return effect.Failed(err)
	}
	if p := branchTree(e); !e.Place.InPlace && e.Session != "" {
		if _, err := os.Lstat(p.Tree); err == nil {
			clearBeside(ctx, c.memory, p)
		}
	}
	if leftBeside(e.Place) {
		clearBeside(ctx, c.memory, beside(e.Place))
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

// restore returns what brings a tree back from one recorded state to another, as far as nobody else changed it since.
func restore(m *git.Memory) func(ctx context.Context, place effect.Place, before, after string) error {
	return func(ctx context.Context, place effect.Place, before, after string) error {
		spec := effect.RestoreSpec{Name: "undo", Target: before, Expect: after}
		r := checkpoint.NewRestore(m).Do(ctx, effect.Effect{ID: "undo-" + after, Kind: effect.KindRestore, Place: place, Spec: effect.Encode(spec)}, nil)
		return r.Err()
	}
}
