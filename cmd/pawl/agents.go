package main

import (
	"context"
	"io"
	"net"
	"os"
	"time"

	"pawl/agent"
	"pawl/agent/acp"
	"pawl/agent/gateway"
	"pawl/agent/headless"
	"pawl/agent/llm"
	"pawl/agent/login"
	"pawl/agent/script"
	"pawl/cli"
	"pawl/driver/checkpoint"
	"pawl/driver/verify"
	"pawl/effect"
	"pawl/kernel"
	"pawl/message"
	"pawl/plan"
	"pawl/sandbox"
	"pawl/sandbox/deps"
	"pawl/sandbox/egress"
	"pawl/sandbox/keyring"
)

// embedded is the deterministic agent, which needs nothing of pawl while it works.
type embedded struct{ *script.Agent }

func (e embedded) Do(ctx context.Context, f effect.Effect, _ effect.Host, p effect.Progress) effect.Receipt {
	return e.Agent.Do(ctx, f, p)
}

// staff makes the agents of one process.
type staff struct {
	config cli.Config
	place  effect.Place
	tools  []effect.ToolInfo
	// flaw is why tools that the user trusts cannot be offered, nil where all can.
	flaw  error
	box   *sandbox.Box
	shots checkpoint.Snapshotter
	// state is the folder of the user's own state.
	state string
	// deps finds what the project needs.
	deps *deps.Finder
	// keep takes the exchanges with models, nil for none.
	keep *recordings
}

// agents are those that runs may name, the embedded one first. External ones are there when they are installed.
func (s staff) agents() agent.Set {
	set := agent.Set{embedded{script.New(script.Config{LookPath: sandbox.LookPath, Open: verify.OpenDir})}, s.model()}
	for _, f := range agent.Detect(sandbox.LookPath) {
		set = append(set, witnessed{s.external(f), s.shots})
	}
	return set
}

// settings are the model's.
func (s staff) settings() llm.Settings {
	m := s.config.Model
	home, _ := os.UserHomeDir()
	var record func(llm.Exchange)
	if s.keep != nil {
		record = llm.NewRecorder(s.keep).Record
	}
	return llm.Settings{
		Record: record,
		Kind:   llm.Kind(m.Kind), API: m.API, BaseURL: m.BaseURL, KeyEnv: m.KeyEnv, KeyRing: m.KeyRing, Ring: keyring.Read, KeyFile: m.KeyFile, CAFile: m.CAFile, Prices: m.Prices,
		Name: m.Name, Intent: m.Intent, Planning: m.Planning, Implementation: m.Implementation, Fallbacks: m.Fallbacks, Window: int64(m.Window),
		Tools: s.tools, Flaw: s.flaw, Limits: plan.Limits{MaxSteps: s.config.MaxPlanSteps}, Chinese: s.chinese(), Workspace: s.place.Workspace, Env: os.Getenv, Home: home,
	}
}

func (s staff) chinese() bool { return message.ParseLang(s.config.Lang) == message.Chinese }

// model is the model of the user's choice as an agent.
func (s staff) model() *llm.Agent { return llm.Open(s.settings()) }

// external is an installed coding agent, behind walls and with the models for its only way out.
func (s staff) external(f agent.Found) agent.Agent {
	e := agent.External{
		Program: f.Program, Path: f.Path, Version: f.Version, Model: s.config.Model.Name, Window: s.window(), Start: starter(s.box, s.deps, s.place), Environ: plainEnv(),
		Timeout: s.config.TaskTimeout, Chinese: s.chinese(), Trust: s.config.Agents[f.Program.Name].Trust,
	}
	keeper, agreed := s.keeper(f.Program)
	if agreed {
		e.Login = keeper
	}
	e.Gateway = s.gateway(keeper)
	if f.Program.Kind == agent.KindACP {
		return acp.New(e)
	}
	return headless.New(e)
}

// window is the size of the model's context, 0 where nobody knows.
func (s staff) window() int64 {
	if s.config.Model.Window > 0 {
		return int64(s.config.Model.Window)
	}
	n, _ := llm.KnownWindow(s.config.Model.Name)
	return n
}

// gateway serves the models to external agents. The settings name one endpoint; the others are the providers' own, with the
// keys in their usual variables.
func (s staff) gateway(k *login.Keeper) agent.Gateway {
	c := gateway.Config{Providers: map[string]gateway.Provider{}, Price: s.model().Cost}
	if s.keep != nil {
		c.Record = gateway.NewRecorder(s.keep).Keep
	}
	for _, kind := range []llm.Kind{llm.OpenAI, llm.Anthropic, llm.Gemini} {
		p := gateway.Provider{Kind: gateway.Kind(kind), URL: kind.DefaultURL(), Key: func() (string, error) { return os.Getenv(kind.DefaultKeyEnv()), nil }}
		if m := s.config.Model; m.BaseURL != "" && (m.Kind == string(kind) || m.Kind == "" && kind == llm.OpenAI) {
			p.URL, p.CAFile, p.Key = m.BaseURL, m.CAFile, s.model().Key
		}
		c.Providers[string(kind)] = p
	}
	if k != nil {
		c.Providers[ownProvider] = loginProvider(k)
	}
	return gateway.New(c)
}

// plainEnv is the part of pawl's environment that agents may see.
func plainEnv() []string { return sandbox.Environ(os.Environ(), nil) }

// starter starts agents behind walls, with the dependencies of the project where they work in one of its trees.
func starter(box *sandbox.Box, found *deps.Finder, place effect.Place) agent.Start {
	return func(ctx context.Context, s agent.Spec) (agent.Process, error) {
		spec := sandbox.Spec{Argv: s.Argv, Dir: s.Dir, Env: s.Env, Writable: s.Writable, Readable: s.Readable, Hidden: s.Hidden, MustHide: s.MustHide, Timeout: 24 * time.Hour}
		spec.Secret, spec.SecretFD = s.Secret, s.SecretFD
		sites, err := egress.Rules(s.Sites)
		if err != nil {
			return nil, err
		}
		switch {
		case s.Inside != nil:
			spec.Egress, spec.Unproxied = wayOut{Proxy: egress.New(sites, egress.Options{}), port: s.Port, serve: s.Inside}, s.Unproxied
		case len(sites) > 0:
			spec.Egress = egress.New(sites, egress.Options{})
		}
		if err := outfit(ctx, found, place, &spec); err != nil {
			return nil, err
		}
		p, err := box.Start(ctx, spec)
		if err != nil {
			return nil, err
		}
		return started{p: p}, nil
	}
}

// wayOut is an agent's way out: one port of its loopback, which pawl itself answers. Everything else is refused.
type wayOut struct {
	*egress.Proxy
	port  uint16
	serve func(net.Listener)
}

func (i wayOut) Local() []uint16 { return []uint16{i.port} }

func (i wayOut) ServeLocal(ctx context.Context, l net.Listener, _ uint16) error {
	i.serve(l)
	<-ctx.Done()
	return nil
}

// started is an agent at work.
type started struct{ p *sandbox.Process }

func (s started) Stdin() io.WriteCloser { return s.p.Stdin }
func (s started) Stdout() io.Reader     { return s.p.Stdout }
func (s started) Stderr() io.Reader     { return s.p.Stderr }
func (s started) Kill()                 { s.p.Kill() }

func (s started) Wait() (int, error) {
	r, err := s.p.Wait()
	return r.Exit, err
}

// witnessed records the tree around the work of an agent that changes files itself.
type witnessed struct {
	agent.Agent
	shots checkpoint.Snapshotter
}

// Do does the work between two snapshots. Without the first one nothing is begun; without the second one the work counts as
// failed, because nobody could undo it.
func (w witnessed) Do(ctx context.Context, e effect.Effect, host effect.Host, progress effect.Progress) effect.Receipt {
	if e.Kind != effect.KindWork {
		return w.Agent.Do(ctx, e, host, progress)
	}
	before, err := w.shots.Snapshot(ctx, e.Place)
	if err != nil {
		return effect.Failed(err)
	}
	r := w.Agent.Do(ctx, e, host, progress)
	after, err := w.shots.Snapshot(context.WithoutCancel(ctx), e.Place)
	if err != nil && r.OK {
		return effect.Failed(err)
	}
	result, _ := effect.Decode[effect.WorkResult](r.Result) // a failed receipt may have none
	result.Before, result.After = before, after
	r.Result = effect.Encode(result)
	return r
}

// traits are what the kernel knows of the agents. They are told without making one.
func traits() map[string]kernel.Traits {
	out := map[string]kernel.Traits{llm.Name: {Works: true, Intakes: true, Judges: true, Reads: true}, script.Name: {Intakes: true}, "": {Intakes: true}}
	for _, p := range agent.Catalog() {
		out[p.Name] = kernel.Traits{Works: true, Intakes: true, Process: true}
	}
	return out
}

// Agents are the agents that runs may name.
func (h host) Agents(place effect.Place, c cli.Config) cli.Agents {
	box, _ := sandbox.New(walls(c)) // these options are always valid
	s := staff{config: c, place: place, box: box, state: h.stateDir()}
	return cli.Agents{
		List: func(ctx context.Context, only string) []cli.AgentInfo {
			s := s
			_, s.flaw = s.trusted()
			m := cli.AgentInfo{Name: llm.Name, Kind: string(agent.KindModel), State: "ready", Version: c.Model.Name}
			if err := s.model().Ready(); err != nil {
				kept := effect.Failed(err)
				m.State, m.Key, m.Args = "unset", kept.Key, kept.Args
			}
			out := []cli.AgentInfo{{Name: script.Name, Kind: string(agent.KindScript), State: "ready"}, m}
			return append(out, s.externals(ctx, only)...)
		},
		Check: inspector{s}.check, Servers: s.servers, Ask: s.ask, Login: s.ownLogin,
		Forget: func(name string) (int, error) { return login.Forget(s.state, name) },
	}
}
