package main

import (
	"context"
	"os"
	"sync"

	"pawl/agent"
	"pawl/cli"
	"pawl/effect"
	"pawl/sandbox"
)

// externals describes the external agents of the catalog. Those that are installed are asked for their versions, all at
// once, because some need seconds to answer; with a name only that one is asked, and only where its package does not tell.
func externals(ctx context.Context, box *sandbox.Box, only, model string) []cli.AgentInfo {
	var out []cli.AgentInfo
	var asking sync.WaitGroup
	programs := agent.Catalog()
	out = make([]cli.AgentInfo, len(programs))
	for i, p := range programs {
		info := &out[i]
		*info = cli.AgentInfo{Name: p.Name, Kind: string(p.Kind), State: "missing", Key: "agent.not_installed", Args: []string{p.Title, p.Install}}
		path, ok := p.Installed(sandbox.LookPath)
		if !ok {
			continue
		}
		*info = cli.AgentInfo{Name: p.Name, Kind: string(p.Kind), State: "ready", Path: path}
		if only != "" && only != p.Name {
			continue
		}
		if f := p.At(path); only != "" && f.Version != "" {
			told(f, info)
			continue
		}
		asking.Go(func() { askVersion(ctx, box, agent.Found{Program: p, Path: path}, info) })
	}
	asking.Wait()
	for i, p := range programs {
		if err := agent.CheckModel(p.Name, model); err != nil && out[i].Path != "" {
			kept := effect.Failed(err)
			out[i].State, out[i].Key, out[i].Args = "unset", kept.Key, kept.Args
		}
	}
	return out
}

// askVersion asks an agent for its version.
func askVersion(ctx context.Context, box *sandbox.Box, f agent.Found, info *cli.AgentInfo) {
	dir, err := os.MkdirTemp("", "pawl-agent-")
	if err == nil {
		defer os.RemoveAll(dir)
		f, err = agent.AskVersion(ctx, starter(box), f, dir, plainEnv())
	}
	if err != nil {
		kept := effect.Failed(err)
		info.State, info.Key, info.Args = "untested", kept.Key, kept.Args
		return
	}
	told(f, info)
}

// told notes an agent's version.
func told(f agent.Found, info *cli.AgentInfo) {
	info.Version = f.Version
	if !f.Tested {
		info.State, info.Key, info.Args = "untested", "agent.untested", []string{f.Program.Title, f.Version}
	}
}
