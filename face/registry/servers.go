package registry

import (
	"context"
	"net/http"
	"os"

	"pawl"
	"pawl/agent/llm"
	"pawl/agent/mcptools"
	"pawl/driver/launch"
	"pawl/face/host"
	"pawl/kernel/effect"
)

// hub speaks to the user's MCP servers. Their programs run behind the walls.
func (r Registry) hub() *mcptools.Hub {
	return mcptools.New(mcptools.Config{
		Start: r.Launch.Server, Transport: func() (http.RoundTripper, error) { return llm.Transport("") },
		Environ: launch.Environ(), Getenv: os.Getenv, Version: r.Version,
	})
}

// known are the servers of the user's settings.
func (r Registry) known() []mcptools.Server {
	home, _ := os.UserHomeDir()
	var out []mcptools.Server
	for _, s := range r.Config.MCP {
		keys := llm.Keys{Env: s.KeyEnv, File: s.KeyFile, Getenv: os.Getenv, Workspace: r.Launch.Place.Workspace,
			Home: home}
		out = append(out, mcptools.Server{
			Name: s.Name, Command: s.Command, Env: s.Env, Network: s.Network, URL: s.URL, Key: keys.Read,
			Digest: s.Digest, Kept: r.Config.Kept(s.Digest),
		})
	}
	return out
}

// Served are the tools of the servers that the user trusts, none of which may have one of the names taken. The error
// tells of those that cannot be offered. Nothing is started before a tool is used; hang ends what was.
func (r Registry) Served(taken []string) (tools []*mcptools.Tool, hang func(), flaw error) {
	if len(r.Config.MCP) == 0 {
		return nil, func() {}, nil
	}
	h := r.hub()
	tools, flaw = h.Tools(r.known(), append(reserved(), taken...))
	return tools, h.Close, flaw
}

// reserved are the names of what a model says of a step, which no server's tool may have.
func reserved() []string {
	return []string{string(effect.StepDone), string(effect.Replan), string(effect.GiveUp),
		string(effect.DisputeTest)}
}

// untrusted is why tools that the user trusts cannot be offered.
func (r Registry) untrusted() error {
	_, hang, flaw := r.Served(nil)
	hang()
	return flaw
}

// servers describes the MCP servers of the settings.
func (r Registry) servers() []host.ServerInfo {
	h := r.hub()
	defer h.Close()
	all := r.known()
	out := []host.ServerInfo{}
	for _, m := range all {
		info := host.ServerInfo{Name: m.Name, Kind: "stdio", Where: m.Where(), State: "untrusted", Digest: m.Digest,
			Tools: []string{}}
		if m.URL != "" {
			info.Kind = "http"
		}
		info.Err = m.Valid()
		if m.Digest != "" && info.Err == nil {
			info.State = "trusted"
			doc, err := m.Known()
			if err == nil {
				err = h.Fits(m, doc, all, reserved())
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
func (r Registry) ask(ctx context.Context, name string) (host.Offer, error) {
	h := r.hub()
	defer h.Close()
	all := r.known()
	for _, m := range all {
		if m.Name != name {
			continue
		}
		o, err := h.Ask(ctx, m)
		if err == nil {
			err = h.Fits(m, o.Document, all, reserved())
		}
		if err != nil {
			return host.Offer{}, err
		}
		out := host.Offer{Document: o.Raw, Digest: o.Digest, Changed: o.Changed, Tools: []host.OfferedTool{}}
		for _, d := range o.Document.Tools {
			out.Tools = append(out.Tools, host.OfferedTool{
				Name: mcptools.Full(name, d.Name), Title: d.Title, Description: d.Description, Input: d.Input,
				Output: d.Output, Annotations: d.Annotations,
			})
		}
		return out, nil
	}
	return host.Offer{}, pawl.Fail(pawl.CodeNotFound, "mcptools.unknown", name)
}
