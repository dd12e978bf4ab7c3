package app

import (
	"context"
	"io"

	"pawl/driver/archive"
	"pawl/driver/checkpoint"
	"pawl/driver/commit"
	"pawl/driver/compound"
	"pawl/driver/contextpack"
	"pawl/driver/ground"
	"pawl/driver/knowledge"
	"pawl/driver/land"
	"pawl/driver/launch"
	"pawl/driver/packages"
	"pawl/driver/prove"
	"pawl/driver/search"
	"pawl/driver/shell"
	"pawl/driver/toolbox"
	"pawl/driver/verify"
	"pawl/face/cli/settings"
	"pawl/face/project"
	"pawl/face/walls"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/runner"
	"pawl/sandbox"
	"pawl/sandbox/git"
	"pawl/sandbox/planted"
	"pawl/sandbox/withheld"
	"pawl/store/recording"
	"pawl/text/policy"
)

// parts are the drivers, the agents and the tools, wired for one process.
type parts struct {
	drivers map[effect.Kind]runner.Driver
	tools   []checkpoint.Tool
	shots   checkpoint.Snapshotter
	secrets compound.Secrets
	warm    func() // makes ready for commands behind walls, without waiting
	// pool keeps worktrees of the workspace ready.
	pool  func(size int) checkpoint.Ready
	close func()
}

func newParts(h Host, place effect.Place, c settings.Config, keep *recording.Recordings,
	store kernel.Store) *parts {
	secrets := (&withheld.Values{}).Of
	held := walls.Of(c, place.Workspace)
	held.Ready = true
	held.Filter = func(emit func([]byte)) io.WriteCloser { return secrets(place.Workspace).Writer(emit) }
	box, _ := sandbox.New(held) // these options are always valid
	memory, machine := &git.Memory{}, verify.ThisMachine()
	shots, ignored := checkpoint.NewSnapshotter(memory), checkpoint.NewIgnored(memory, int64(c.IgnoredMB)<<20)
	machine.Dependencies = project.Dependencies(memory, c.Dependencies)
	if walls.Fenced(c) { // else a check could write what belongs to all workspaces
		machine.Std = h.std()
	}
	grounds := &ground.Maker{Memory: memory, Home: machine.Home, Puts: box.Puts}
	looked := &planted.Box{Runner: box}
	checks := verify.Config{Box: looked, Host: machine, Open: verify.OpenDir, Grounds: grounds,
		Snapshot: shots.Snapshot, Changed: shots.Diff, Was: shots.Was, Policy: c.Profile, Commands: map[string]string{}}
	checks.Change = func(ctx context.Context, place effect.Place, from, to string) ([]policy.Entry, error) {
		return shots.Change(ctx, place, from, to, secrets(place.Workspace))
	}
	if c.SmokeCommand != "" {
		checks.Commands[verify.GateSmoke] = c.SmokeCommand
	}
	check := verify.New(checks)
	packs := compound.Hiding(contextpack.Builder{Walk: search.Shown(place.Workspace)}, secrets)
	p := &parts{shots: shots, secrets: secrets, warm: box.Warm, drivers: map[effect.Kind]runner.Driver{
		effect.KindContext: compound.NewContext(machine, packs, memory), effect.KindVerify: check,
		effect.KindGates:      verify.NewGates(check, compound.Status(memory)),
		effect.KindProve:      prove.New(check, grounds),
		effect.KindWorktree:   checkpoint.NewWorktree(memory),
		effect.KindCheckpoint: checkpoint.NewPoint(memory).Keeping(ignored),
		effect.KindRestore:    checkpoint.NewRestore(memory).Keeping(ignored),
		effect.KindCleanup:    compound.NewCleanup(memory, land.Settle), effect.KindLand: land.New(memory),
		effect.KindRevert:    compound.NewRevert(land.NewRevert(memory), ignored),
		effect.KindRebase:    land.NewRebase(memory),
		effect.KindArchive:   archive.New(),
		effect.KindKnowledge: knowledge.New(), effect.KindPackage: packages.NewMake(),
		effect.KindRetire: packages.NewRetire(),
		effect.KindCommit: commit.New(memory), effect.KindRewind: commit.NewRewind(memory), effect.KindTest: check,
		effect.KindPrepare: project.Fetcher(box, machine),
	}}
	forges := project.Forge(memory, c, query.Proof(store))
	for _, k := range forges.Kinds() {
		p.drivers[k] = forges
	}
	p.pool = func(size int) checkpoint.Ready { return checkpoint.NewPool(memory, place, size) }
	for _, t := range toolbox.All(shell.Config{Box: looked, Snapshot: shots.Snapshot, Changed: shots.Changed,
		Restore: checkpoint.NewRestore(memory).Between, Setting: project.Setting(machine, looked)}) {
		p.tools = append(p.tools, checkpoint.Recorded{Tool: t, Snapshotter: shots, Secrets: secrets})
	}
	agents := h.registry(c, launch.Launcher{Box: box, Place: place, Deps: machine.Dependencies,
		Go: machine.GoCache(box)})
	agents.Snapshot = shots.Snapshot
	if keep != nil {
		agents.Exchanges = keep
	}
	var names []string
	for _, t := range p.tools {
		agents.Tools = append(agents.Tools, t.Info())
		names = append(names, t.Info().Name)
	}
	served, hang, flaw := agents.Served(names)
	for _, t := range served {
		agents.Tools = append(agents.Tools, t.Offered())
		p.tools = append(p.tools, checkpoint.Recorded{Tool: t, Snapshotter: shots, Secrets: secrets})
	}
	agents.Flaw = flaw
	p.close = func() { hang(); box.Close() }
	workers := compound.NewBriefed(agents.Agents(), packs, memory)
	workers.Secrets = secrets
	for _, k := range []effect.Kind{effect.KindIntake, effect.KindPlan, effect.KindRepair, effect.KindWork,
		effect.KindReview, effect.KindRewrite} {
		p.drivers[k] = workers
	}
	return p
}

// kernelTools are the tools as the kernel knows them, by name.
func (p *parts) kernelTools() map[string]kernel.Tool {
	out := make(map[string]kernel.Tool, len(p.tools))
	for _, t := range p.known() {
		out[t.Info.Name] = t
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
	o := runner.Options{Owner: owner, Drivers: p.drivers, Tools: map[string]runner.Driver{}, Record: p.shots.Snapshot,
		Progress: progress, Log: p.keepLogs, Taking: planted.Taking}
	for _, t := range p.tools {
		o.Tools[t.Info().Name] = t
	}
	return o
}
