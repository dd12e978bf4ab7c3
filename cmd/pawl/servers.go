package main

import (
	"context"
	"net/http"
	"os"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/llm"
	"pawl/agent/mcptools"
	"pawl/cli"
	"pawl/driver/checkpoint"
	"pawl/effect"
	"pawl/sandbox"
	"pawl/sandbox/deps"
	"pawl/sandbox/egress"
)

// hub speaks to the user's MCP servers. Their programs run behind the walls.
func hub(box *sandbox.Box, place effect.Place, found *deps.Finder) *mcptools.Hub {
	return mcptools.New(mcptools.Config{
		Start: walled(box, place, found), Transport: func() (http.RoundTripper, error) { return llm.Transport("") },
		Environ: plainEnv(), Getenv: os.Getenv, Version: version(),
	})
}

// walled starts MCP servers behind walls, with the places that the user named for their only network, and with the dependencies of
// the project.
func walled(box *sandbox.Box, place effect.Place, found *deps.Finder) func(context.Context, mcptools.Spec) (agent.Process, error) {
	return func(ctx context.Context, s mcptools.Spec) (agent.Process, error) {
		spec := sandbox.Spec{Argv: s.Argv, Dir: s.Dir, Env: s.Env, Writable: s.Writable, Readable: s.Readable, Hidden: s.Hidden, Timeout: 24 * time.Hour}
		if len(s.Network) > 0 {
			rules, err := egress.Rules(s.Network)
			if err != nil {
				return nil, err
			}
			for i := range rules {
				rules[i].Private = !rules[i].Local() // the user's own settings name the host
			}
			spec.Egress = egress.New(rules, egress.Options{})
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

// servers are those of the user's settings.
func servers(c cli.Config, place effect.Place) []mcptools.Server {
	home, _ := os.UserHomeDir()
	var out []mcptools.Server
	for _, s := range c.MCP {
		keys := llm.Keys{Env: s.KeyEnv, File: s.KeyFile, Getenv: os.Getenv, Workspace: place.Workspace, Home: home}
		out = append(out, mcptools.Server{
			Name: s.Name, Command: s.Command, Env: s.Env, Network: s.Network, URL: s.URL, Key: keys.Read, Digest: s.Digest, Kept: c.Kept(s.Digest),
		})
	}
	return out
}

// connect adds the tools of the servers that the user trusts. The error tells of those that cannot be offered. Nothing is
// started for that.
func (p *parts) connect(box *sandbox.Box, place effect.Place, c cli.Config, found *deps.Finder) error {
	if len(c.MCP) == 0 {
		return nil
	}
	h := hub(box, place, found)
	tools, err := h.Tools(servers(c, place), ownNames(p.tools))
	for _, t := range tools {
		p.tools = append(p.tools, checkpoint.Recorded{Tool: t, Snapshotter: p.shots})
	}
	closeBox := p.close
	p.foreign, p.close = tools, func() { h.Close(); closeBox() }
	return err
}

// ownNames are the names that no server's tool may have.
func ownNames(tools []checkpoint.Tool) []string {
	out := []string{string(effect.StepDone), string(effect.Replan), string(effect.GiveUp)}
	for _, t := range tools {
		out = append(out, t.Info().Name)
	}
	return out
}

// trusted are the tools of the servers that the user trusts, and why others are missing.
func (s staff) trusted() ([]*mcptools.Tool, error) {
	if len(s.config.MCP) == 0 {
		return nil, nil
	}
	h := hub(s.box, s.place, s.deps)
	defer h.Close()
	return h.Tools(servers(s.config, s.place), ownNames(nil))
}

// servers describes the MCP servers of the settings.
func (s staff) servers() []cli.ServerInfo {
	h := hub(s.box, s.place, s.deps)
	defer h.Close()
	all := servers(s.config, s.place)
	out := []cli.ServerInfo{}
	for _, m := range all {
		info := cli.ServerInfo{Name: m.Name, Kind: "stdio", Where: m.Where(), State: "untrusted", Digest: m.Digest, Tools: []string{}}
		if m.URL != "" {
			info.Kind = "http"
		}
		info.Err = m.Valid()
		if m.Digest != "" && info.Err == nil {
			info.State = "trusted"
			doc, err := m.Known()
			if err == nil {
				err = h.Fits(m, doc, all, ownNames(nil))
			}
			for _, d := range doc.Tools {
				info.Tools = append(info.Tools, mcptools.Full(m.Name, d.Name))
			}
			info.Err = err
		}
		if info.Err != nil {
			info.State = "broken"
		}
		out = append(out, info)
	}
	return out
}

// ask returns what an MCP server of the settings offers now.
func (s staff) ask(ctx context.Context, name string) (cli.Offer, error) {
	h := hub(s.box, s.place, s.deps)
	defer h.Close()
	all := servers(s.config, s.place)
	for _, m := range all {
		if m.Name != name {
			continue
		}
		o, err := h.Ask(ctx, m)
		if err == nil {
			err = h.Fits(m, o.Document, all, ownNames(nil))
		}
		if err != nil {
			return cli.Offer{}, err
		}
		out := cli.Offer{Document: o.Raw, Digest: o.Digest, Changed: o.Changed, Tools: []cli.OfferedTool{}}
		for _, d := range o.Document.Tools {
			out.Tools = append(out.Tools, cli.OfferedTool{
				Name: mcptools.Full(name, d.Name), Title: d.Title, Description: d.Description, Input: d.Input, Output: d.Output, Annotations: d.Annotations,
			})
		}
		return out, nil
	}
	return cli.Offer{}, pawl.Fail(pawl.CodeNotFound, "mcptools.unknown", name)
}
