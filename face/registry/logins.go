package registry

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/gateway"
	"pawl/agent/login"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/sandbox"
	"pawl/sandbox/outside"
)

// ownProvider is the gateway's name for who serves an agent that works with its user's own login.
const ownProvider = "own"

// logins says where logins are looked for.
func (r Registry) logins() login.Source {
	home, _ := os.UserHomeDir()
	return login.Source{Home: home, Env: os.Getenv, Workspace: r.Launch.Place.Workspace}
}

// keeper keeps the login of a program, where there can be one. agreed says that the user agreed to its use.
func (r Registry) keeper(p agent.Program) (k *login.Keeper, agreed bool) {
	set := r.Config.Agents[p.Name]
	if set.Login == "" {
		return nil, false
	}
	var most kernel.Limit
	for _, limit := range r.Config.Budgets {
		most.MicroUSD, most.Tokens, most.Requests = max(most.MicroUSD, limit.MicroUSD), max(most.Tokens,
			limit.Tokens), max(most.Requests, limit.Requests)
	}
	k, err := login.NewKeeper(login.Config{
		Source: r.logins(), Agent: p.Name, Path: renewer(p.Name), Account: set.Login, Tunnel: set.Way == "tunnel",
		Provider: ownProvider, Upstream: set.BaseURL, Model: set.Model,
		Money: most.MicroUSD > 0, Counted: most.Tokens > 0 ||
			most.Requests > 0, Need: r.Config.TaskTimeout, State: r.State, Run: renew, Now: time.Now,
	})
	return k, err == nil
}

// renewer is the program that renews the login of another, "" where it is not installed.
func renewer(program string) string {
	path, _ := sandbox.LookPath(login.Renewer(program))
	return path
}

// renew runs a program of the user's own outside of the walls.
func renew(ctx context.Context, c login.Command, started func(pid int)) error {
	return outside.Run(ctx, outside.Command(c), started)
}

// loginProvider serves a program that shows the token of its user's own login, or a key of that login, which it does
// not see.
func loginProvider(k *login.Keeper) gateway.Provider {
	p := gateway.Provider{Kind: k.Kind(), URL: k.Upstream(), Pass: k, Unpriced: true}
	if l, err := k.Look(); err == nil && l.Kind == login.Key {
		p.URL, p.Pass, p.Key, p.Unpriced = k.KeyUpstream(), nil, k.Key, false
	}
	return p
}

// ownLogin looks at what an agent would work with, whether or not it may be used: the login that the user has for it
// or, without one, pawl's key for its model.
func (r Registry) ownLogin(ctx context.Context, name string) (host.AgentLogin, error) {
	p, ok := agent.Known(name)
	if !ok {
		return host.AgentLogin{}, pawl.Fail(pawl.CodeInvalid, "agent.unknown", name,
			strings.Join(agent.Names(), ", ")).In("agent.Login")
	}
	path, ok := p.Installed(sandbox.LookPath)
	if !ok {
		return host.AgentLogin{}, pawl.Fail(pawl.CodeEnvironment, "agent.not_installed", p.Title,
			p.Install).In("agent.Login")
	}
	l, err := login.Look(name, r.logins())
	key, none := r.keyOf(p)
	byKey := err != nil && none == nil
	if err != nil && !byKey {
		return host.AgentLogin{}, err
	}
	info := host.AgentInfo{}
	if f := p.At(path); f.Version != "" {
		told(f, &info)
	} else {
		r.askVersion(ctx, f, &info)
	}
	set := r.Config.Agents[name]
	if byKey {
		who := cmp.Or(key, endpoint(r, p))
		return host.AgentLogin{Agent: name, Title: p.Title, Version: info.Version, Path: path, Account: who,
			Maker: p.Title, Kind: "key", Model: r.Config.Model.Name, Way: "gateway", Sites: []string{endpoint(r, p)},
			Agreed: set.Key == who}, nil
	}
	terms := login.TermsOf(p, l)
	out := host.AgentLogin{
		Agent: name, Title: p.Title, Maker: terms.Maker, Version: info.Version, Path: path, Account: l.Who(),
		Plan: l.Plan, Kind: string(l.Kind), Where: l.Where,
		Renewer: terms.Renewer, Model: l.Model, Way: "gateway", Sites: terms.Sites, Readable: terms.Readable,
		Agreed: set.Login == login.AnyAccount || set.Login == l.Who(),
	}
	if set.Model != "" {
		out.Model = set.Model
	}
	if terms.Tunnel {
		out.Way = "tunnel"
	} else if set.Way != "" {
		out.Way = set.Way
	}
	if set.BaseURL != "" {
		out.Sites = []string{set.BaseURL}
	}
	if !l.Expires.IsZero() {
		out.Expires = &l.Expires
	}
	return out, nil
}
