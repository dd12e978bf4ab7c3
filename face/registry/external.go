package registry

import (
	"cmp"
	"context"
	"os"
	"slices"
	"sync"

	"pawl"
	"pawl/agent"
	"pawl/agent/login"
	"pawl/agent/wire"
	"pawl/driver/launch"
	"pawl/face/host"
	"pawl/kernel/effect"
	"pawl/sandbox"
)

// externals describes the external agents of the catalog. Those that are installed are asked for their versions, all at
// once, because some need seconds to answer; with a name only that one is asked, and only where its package does not
// tell. With still none is started.
func (r Registry) externals(ctx context.Context, only string, still bool) []host.AgentInfo {
	var out []host.AgentInfo
	var asking sync.WaitGroup
	programs := agent.Catalog()
	out = make([]host.AgentInfo, len(programs))
	for i, p := range programs {
		info := &out[i]
		*info = host.AgentInfo{Name: p.Name, Kind: string(p.Kind), State: "missing", Key: "agent.not_installed",
			Args: []string{p.Title, p.Install}}
		path, ok := p.Installed(sandbox.LookPath)
		if !ok {
			continue
		}
		*info = host.AgentInfo{Name: p.Name, Kind: string(p.Kind), State: "ready", Path: path}
		if only != "" && only != p.Name {
			continue
		}
		if f := p.At(path); still || only != "" && f.Version != "" {
			told(f, info)
			continue
		}
		asking.Go(func() { r.askVersion(ctx, agent.Found{Program: p, Path: path}, info) })
	}
	asking.Wait()
	for i, p := range programs {
		if out[i].Path == "" || only != "" && only != p.Name {
			continue
		}
		for _, set := range p.Settings(r.Launch.Place.Workspace) {
			out[i].Settings = append(out[i].Settings, host.ProjectSetting{Name: set.Name, Digest: set.Digest,
				Trusted: set.Digest != "" && slices.Contains(r.Config.Agents[p.Name].Trust, set.Digest)})
		}
		if err := r.credential(p, &out[i]); err != nil {
			kept := effect.Failed(err)
			out[i].State, out[i].Key, out[i].Args = "unset", kept.Key, kept.Args
		}
	}
	return out
}

// credential notes what an agent would work with: its user's own login where that was agreed to, and else pawl's key
// for the model. The error says what is missing, with the one command that mends it.
func (r Registry) credential(p agent.Program, info *host.AgentInfo) error {
	if k, agreed := r.keeper(p); agreed {
		l, err := k.Ready()
		r.own(p, l, info)
		if info.Agreed = err == nil; pawl.CodeOf(err) == pawl.CodeLogin || pawl.CodeOf(err) == pawl.CodeNotFound {
			info.Next = login.SignIn(p.Name)
		}
		return err
	}
	key, err := r.keyOf(p)
	if err == nil {
		info.Account, info.Model = key, r.Config.Model.Name
		info.Agreed = r.Config.Agents[p.Name].Key == cmp.Or(key, endpoint(r, p))
		if info.Model == "" && p.Chooses && r.Config.Model.BaseURL == "" {
			return nil
		}
		return agent.CheckModel(p.Name, r.Config.Model.Name)
	}
	l, none := login.Look(p.Name, r.logins())
	switch {
	case none == nil:
		r.own(p, l, info)
		info.Offer, info.Next = true, "pawl agent add "+p.Name
		return pawl.Fail(pawl.CodeEnvironment, "login.not_agreed", p.Title, l.Who(), p.Name).In("agent.List")
	case pawl.CodeOf(none) == pawl.CodeNotFound:
		info.Next = login.SignIn(p.Name) + " && pawl agent add " + p.Name
		return pawl.Fail(pawl.CodeLogin, "login.none_at_all", p.Title, login.SignIn(p.Name), p.Name,
			keyName(p)).In("agent.List")
	case pawl.CodeOf(none) == pawl.CodeInvalid:
		return err
	}
	return none
}

// own notes a login.
func (r Registry) own(p agent.Program, l login.Login, info *host.AgentInfo) {
	if l.Where == "" {
		return
	}
	info.Account, info.Plan, info.Where, info.Login = l.Who(), l.Plan, l.Where, string(l.Kind)
	if info.Model = r.Config.Agents[p.Name].Model; info.Model == "" {
		info.Model = l.Model
	}
	if !l.Expires.IsZero() {
		info.Expires = &l.Expires
	}
}

// keyOf says where the key is that pawl would show to an agent's model, "" for an endpoint that wants none. The error
// says that there is none.
func (r Registry) keyOf(p agent.Program) (string, error) {
	kind, m := p.Wire.Provider(), r.Config.Model
	if m.BaseURL != "" && (m.Kind == string(kind) || m.Kind == "" && kind == wire.OpenAI) {
		if _, err := r.Model().Key(); err != nil {
			return "", err
		}
		switch {
		case m.KeyFile != "":
			return m.KeyFile, nil
		case m.KeyRing != "":
			return m.KeyRing, nil
		case m.KeyEnv != "":
			return "$" + m.KeyEnv, nil
		}
		return "", nil
	}
	if os.Getenv(kind.KeyEnv()) == "" {
		return "", pawl.Fail(pawl.CodeLogin, "llm.no_key", kind.KeyEnv()).In("agent.List")
	}
	return "$" + kind.KeyEnv(), nil
}

// endpoint is where requests of an agent go that are made with pawl's key: what is set for the agent, what is set for
// the models of its kind, or else the usual address.
func endpoint(r Registry, p agent.Program) string {
	kind, m := p.Wire.Provider(), r.Config.Model
	if m.Kind != string(kind) && (m.Kind != "" || kind != wire.OpenAI) {
		m.BaseURL = ""
	}
	return cmp.Or(r.Config.Agents[p.Name].BaseURL, m.BaseURL, kind.URL())
}

// keyName is the variable that holds the key of an agent's usual model.
func keyName(p agent.Program) string { return p.Wire.Provider().KeyEnv() }

// askVersion asks an agent for its version. It needs no workspace for that.
func (r Registry) askVersion(ctx context.Context, f agent.Found, info *host.AgentInfo) {
	dir, err := os.MkdirTemp("", "pawl-agent-")
	if err == nil {
		defer os.RemoveAll(dir)
		f, err = agent.AskVersion(ctx, launch.Launcher{Box: r.Launch.Box}.Agent, f, dir, launch.Environ())
	}
	if err != nil {
		kept := effect.Failed(err)
		info.State, info.Key, info.Args = "untested", kept.Key, kept.Args
		return
	}
	told(f, info)
}

// told notes an agent's version.
func told(f agent.Found, info *host.AgentInfo) {
	info.Version = f.Version
	if !f.Tested {
		info.State, info.Key, info.Args = "untested", "agent.untested", []string{f.Program.Title, f.Version}
	}
}
