package main

import (
	"context"
	"os"
	"time"

	"pawl/agent"
	"pawl/agent/gateway"
	"pawl/agent/login"
	"pawl/kernel"
	"pawl/sandbox"
	"pawl/sandbox/outside"
)

// ownProvider is the gateway's name for who serves an agent that works with its user's own login.
const ownProvider = "own"

// logins says where logins are looked for.
func (s staff) logins() login.Source {
	home, _ := os.UserHomeDir()
	return login.Source{Home: home, Env: os.Getenv, Workspace: s.place.Workspace}
}

// keeper keeps the login of a program, where there can be one. agreed says that the user agreed to its use.
func (s staff) keeper(p agent.Program) (k *login.Keeper, agreed bool) {
	set := s.config.Agents[p.Name]
	if set.Login == "" {
		return nil, false
	}
	money := false
	for _, limit := range s.config.Budgets {
		money = money || limit != (kernel.Limit{}) && limit.MicroUSD > 0
	}
	k, err := login.NewKeeper(login.Config{
		Source: s.logins(), Agent: p.Name, Path: renewer(p.Name), Account: set.Login, Tunnel: set.Way == "tunnel", Provider: ownProvider, Upstream: set.BaseURL, Model: set.Model,
		Money: money, Need: s.config.TaskTimeout, State: s.state, Run: renew, Now: time.Now,
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

// loginProvider serves a program that shows the token of its user's own login, or a key of that login, which it does not see.
func loginProvider(k *login.Keeper) gateway.Provider {
	p := gateway.Provider{Kind: gateway.Kind(k.Kind()), URL: k.Upstream(), Pass: k, Unpriced: true}
	if l, err := k.Look(); err == nil && l.Kind == login.Key {
		p.URL, p.Pass, p.Key, p.Unpriced = k.KeyUpstream(), nil, k.Key, false
	}
	return p
}
