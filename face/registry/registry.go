// Package registry says which agents there are on this machine with the settings of a user: pawl's own, the model of
// their choice, and those of other makers that are installed (agent.Catalog). It gives them what they work with:
// models, the user's own logins, and the tools of MCP servers.
package registry

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"

	"pawl/agent"
	"pawl/agent/acp"
	"pawl/agent/gateway"
	"pawl/agent/headless"
	"pawl/agent/llm"
	"pawl/agent/login"
	"pawl/agent/script"
	"pawl/agent/wire"
	"pawl/driver/launch"
	"pawl/driver/verify"
	"pawl/face/cli/settings"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/keyring"
	"pawl/text/message"
	"pawl/text/plan"
)

// Registry are the agents of one process. It is safe for concurrent use.
type Registry struct {
	Config settings.Config
	// Launch starts agents and servers, in the workspace whose settings these are.
	Launch launch.Launcher
	// Tools are offered to models. Flaw is why tools that the user trusts cannot be, nil where all can.
	Tools []effect.ToolInfo
	Flaw  error
	// Snapshot records the tree of a place. Only agents that work need it.
	Snapshot func(ctx context.Context, place effect.Place) (string, error)
	// State is the folder of the user's own state, in which logins that are lent are remembered.
	State string
	// Exchanges takes the exchanges with models, nil for none.
	Exchanges io.Writer
	// Version is that of pawl, as servers are told it.
	Version string
	// Pawl carries out a command line of pawl with a folder of its own for the user's state. Only checks need it.
	Pawl func(ctx context.Context, state string, std host.Streams, args []string) int
}

// Agents are those that runs may name, the embedded one first. External ones are there when they are installed.
func (r Registry) Agents() agent.Set {
	own := script.Config{LookPath: sandbox.LookPath, Open: verify.OpenDir,
		Other: func(ctx context.Context) string { _, command := other(ctx, r); return command }}
	set := agent.Set{script.New(own), r.Model()}
	for _, f := range agent.Detect(sandbox.LookPath) {
		set = append(set, witnessed{r.external(f), r.Snapshot})
	}
	return set
}

// settings are the model's.
func (r Registry) settings() llm.Settings {
	m := r.Config.Model
	plans, works, reviews := roles(r.Config, llm.Name)
	home, _ := os.UserHomeDir()
	var record func(llm.Exchange)
	if r.Exchanges != nil {
		record = agent.NewRecorder[llm.Exchange](r.Exchanges).Record
	}
	return llm.Settings{
		Record: record,
		Kind:   wire.Provider(m.Kind), API: m.API, BaseURL: m.BaseURL, KeyEnv: m.KeyEnv, KeyRing: m.KeyRing,
		Ring: keyring.Read, KeyFile: m.KeyFile, CAFile: m.CAFile, Prices: m.Prices,
		Name: m.Name, Intent: cmp.Or(plans, m.Intent), Planning: cmp.Or(plans, m.Planning),
		Implementation: cmp.Or(works, m.Implementation), Review: reviews, Fallbacks: m.Fallbacks,
		Window: int64(m.Window),
		Tools:  r.Tools, Flaw: r.Flaw, Limits: plan.Limits{MaxSteps: r.Config.MaxPlanSteps}, Chinese: r.chinese(),
		Workspace: r.Launch.Place.Workspace, Env: os.Getenv, Home: home,
	}
}

// roles are the models that an agent is to plan, to work and to review with, "" where none is named for that. Who works
// reviews with the same one, unless another is named.
func roles(c settings.Config, name string) (plans, works, reviews string) {
	if of, model := c.Role(c.Planner); of == name {
		plans = model
	}
	if of, model := c.Role(c.Worker); of == name {
		works, reviews = model, model
	}
	if of, model := c.Role(c.Reviewer); c.Reviewer != "" {
		if reviews = ""; of == name {
			reviews = model
		}
	}
	return plans, works, reviews
}

func (r Registry) chinese() bool { return message.ParseLang(r.Config.Lang) == message.Chinese }

// Model is the model of the user's choice as an agent.
func (r Registry) Model() *llm.Agent { return llm.Open(r.settings()) }

// external is an installed coding agent, behind walls and with the models for its only way out.
func (r Registry) external(f agent.Found) agent.Agent {
	e := agent.External{
		Program: f.Program, Path: f.Path, Version: f.Version, Model: r.Config.Model.Name, Window: r.window(),
		Start: r.Launch.Agent, Environ: launch.Environ(),
		Timeout: r.Config.TaskTimeout, Chinese: r.chinese(), Trust: r.Config.Agents[f.Program.Name].Trust,
		Limits: plan.Limits{MaxSteps: r.Config.MaxPlanSteps}, Text: message.ParseLang(r.Config.Lang).Text,
	}
	if r.Config.Isolation == settings.Outer { // elsewhere the walls see to it that who is asked changes nothing
		e.Snapshot = r.Snapshot
	}
	e.Planning, e.Working, e.Reviewing = roles(r.Config, f.Program.Name)
	keeper, agreed := r.keeper(f.Program)
	if agreed {
		e.Login = keeper
	}
	e.Gateway = r.gateway(f.Program, keeper)
	if f.Program.Kind == agent.KindACP {
		return acp.New(e)
	}
	return headless.New(e)
}

// window is the size of the model's context, 0 where nobody knows.
func (r Registry) window() int64 {
	if r.Config.Model.Window > 0 {
		return int64(r.Config.Model.Window)
	}
	n, _ := llm.KnownWindow(r.Config.Model.Name)
	return n
}

// gateway serves the models to an external agent. The settings name one endpoint, and one for the agent; the others are
// the providers' own, with the keys in their usual variables.
func (r Registry) gateway(program agent.Program, k *login.Keeper) agent.Gateway {
	c := gateway.Config{Providers: map[string]gateway.Provider{}, Price: r.Model().Cost}
	if r.Exchanges != nil {
		c.Record = agent.NewRecorder[gateway.Exchange](r.Exchanges).Record
	}
	for _, kind := range []wire.Provider{wire.OpenAI, wire.Anthropic, wire.Google} {
		p := gateway.Provider{Kind: kind, URL: kind.URL(),
			Key: func() (string, error) { return os.Getenv(kind.KeyEnv()), nil }}
		if m := r.Config.Model; m.BaseURL != "" && (m.Kind == string(kind) || m.Kind == "" && kind == wire.OpenAI) {
			p.URL, p.CAFile, p.Key = m.BaseURL, m.CAFile, r.Model().Key
		}
		if kind == program.Wire.Provider() {
			p.URL = endpoint(r, program)
		}
		c.Providers[string(kind)] = p
	}
	if k != nil {
		c.Providers[ownProvider] = loginProvider(k)
	}
	return gateway.New(c)
}

// witnessed records the tree around the work of an agent that changes files itself.
type witnessed struct {
	agent.Agent
	snapshot func(ctx context.Context, place effect.Place) (string, error)
}

// Do does the work between two snapshots. Without the first one nothing is begun; without the second one the work
// counts as failed, because nobody could undo it.
func (w witnessed) Do(ctx context.Context, e effect.Effect, host effect.Host, progress effect.Progress) effect.Receipt {
	if e.Kind != effect.KindWork {
		return w.Agent.Do(ctx, e, host, progress)
	}
	before, err := w.snapshot(ctx, e.Place)
	if err != nil {
		return effect.Failed(err)
	}
	r := w.Agent.Do(ctx, e, host, progress)
	after, err := w.snapshot(context.WithoutCancel(ctx), e.Place)
	if err != nil && r.OK {
		return effect.Failed(err)
	}
	result, _ := effect.Decode[effect.WorkResult](r.Result) // a failed receipt may have none
	result.Before, result.After = before, after
	r.Result = effect.Encode(result)
	return r
}

// Traits are what the kernel knows of the agents. They are told without making one.
func Traits() map[string]kernel.Traits {
	out := map[string]kernel.Traits{llm.Name: {Works: true, Intakes: true, Judges: true, Reads: true},
		script.Name: {Intakes: true}, "": {Intakes: true}}
	for _, p := range agent.Catalog() {
		out[p.Name] = kernel.Traits{Works: true, Intakes: true, Judges: true, Process: true}
	}
	return out
}

// Described are the agents as the commands see them that are about them.
func (r Registry) Described() host.Agents {
	return host.Agents{
		List:      func(ctx context.Context, only string) []host.AgentInfo { return r.list(ctx, only, false) },
		Installed: func(ctx context.Context) []host.AgentInfo { return installed(ctx, r) },
		Other:     func(ctx context.Context) (name, command string) { return other(ctx, r) },
		Embedded:  script.Understands, Check: r.check, Servers: r.servers, Ask: r.ask, Login: r.ownLogin,
		Forget: func(name string) (int, error) { return login.Forget(r.State, name) },
	}
}

// list describes the agents, with what was found of each. With a name only that one is looked into, and with still none
// is started.
func (r Registry) list(ctx context.Context, only string, still bool) []host.AgentInfo {
	r.Flaw = r.untrusted()
	m := host.AgentInfo{Name: llm.Name, Kind: string(agent.KindModel), State: "ready", Version: r.Config.Model.Name}
	if err := r.Model().Ready(); err != nil {
		kept := effect.Failed(err)
		m.State, m.Key, m.Args = "unset", kept.Key, kept.Args
	}
	out := []host.AgentInfo{{Name: script.Name, Kind: string(agent.KindScript), State: "ready"}, m}
	return append(out, r.externals(ctx, only, still)...)
}

// installed describes the agents of others that are installed, and the model if it can be asked, without starting any.
func installed(ctx context.Context, r Registry) []host.AgentInfo {
	return slices.DeleteFunc(r.list(ctx, "", true), func(i host.AgentInfo) bool {
		return i.Kind == string(agent.KindScript) || i.State == "missing" || i.Name == llm.Name && i.State != "ready"
	})
}

// other names an agent that can be used now, preferably one that the user agreed to, and the command that uses it or,
// without any, the command that sets up one that is installed. Both are "" if none is.
func other(ctx context.Context, r Registry) (name, command string) {
	best := 0
	for _, i := range installed(ctx, r) {
		rank := map[string]int{"untested": 1, "ready": 2}[i.State]
		if i.Agreed {
			rank += 2
		}
		if rank > best {
			name, best = i.Name, rank
		}
		command = cmp.Or(command, i.Next)
	}
	if name != "" {
		command = "pawl run --agent " + name + ` "…"`
	}
	return name, command
}
