package registry

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/check"
	"pawl/agent/llm"
	"pawl/agent/script"
	"pawl/agent/wire"
	"pawl/face/host"
	"pawl/sandbox"
)

// check goes through the stages of `pawl agent check` in a folder that is gone afterwards. pawl is called in it as a
// user would call it, but for a home and a state of its own. It returns the folder where that is kept.
func (r Registry) check(ctx context.Context, c host.Check) (kept string, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	began := time.Now()
	o, saw, err := r.find(ctx, c.Agent)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case pawl.CodeOf(err) == pawl.CodeEnvironment:
		c.Stage(host.Stage{Name: check.Found, Took: time.Since(began), Err: err})
		return "", nil
	case err != nil:
		return "", err
	}
	c.Stage(host.Stage{Name: check.Found, Took: time.Since(began), Saw: saw})
	dir, err := os.MkdirTemp("", "pawl-check-")
	if err == nil && !c.Keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if c.Keep {
		kept = dir
	}
	if err == nil {
		o.Dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", pawl.Fail(pawl.CodeIO, "check.no_folder", os.TempDir()).Because(err).In("check.Run")
	}
	o.State = filepath.Join(o.Dir, "state")
	_, o.Go = sandbox.LookPath("go")
	o.Box = r.Launch.Box
	o.Pawl = func(ctx context.Context, call check.Call) int {
		args := append([]string{"--lang", c.Lang}, call.Args...)
		std := host.Streams{In: strings.NewReader(""), Out: call.Out, Err: call.Err, Dir: call.Dir,
			Env: func(name string) string { return call.Env[name] }}
		return r.Pawl(ctx, o.State, std, args)
	}
	o.Report = func(s check.Stage) {
		out := host.Stage{Name: s.Name, Took: s.Took, Err: s.Err, Said: s.Said}
		for _, p := range s.Saw {
			out.Saw = append(out.Saw, host.Phrase(p))
		}
		c.Stage(out)
	}
	_, err = check.Run(ctx, o)
	return kept, err
}

// find says what is to be checked, and what was found of it. Code environment says that the agent is not there, code
// invalid that nobody knows of it.
func (r Registry) find(ctx context.Context, name string) (check.Options, []host.Phrase, error) {
	switch name {
	case script.Name:
		return check.Options{Agent: name, Kind: agent.KindScript, Provider: string(wire.OpenAI)},
			[]host.Phrase{{Key: "check.saw_embedded"}}, nil
	case llm.Name:
		kind := r.Config.Model.Kind
		if kind == "" {
			kind = string(wire.OpenAI)
		}
		form, api := kind, ""
		if kind == string(wire.OpenAI) && r.Config.Model.API != "" {
			api = r.Config.Model.API
			form += ", " + api
		}
		return check.Options{Agent: name, Kind: agent.KindModel, Provider: kind,
			API: api}, []host.Phrase{{Key: "check.saw_wire", Args: []string{form}}}, nil
	}
	p, ok := agent.Known(name)
	if !ok {
		names := []string{script.Name, llm.Name}
		for _, p := range agent.Catalog() {
			names = append(names, p.Name)
		}
		return check.Options{}, nil, pawl.Fail(pawl.CodeInvalid, "agent.unknown", name,
			strings.Join(names, ", ")).In("check.Run")
	}
	path, ok := p.Installed(sandbox.LookPath)
	if !ok {
		return check.Options{}, nil, pawl.Fail(pawl.CodeEnvironment, "agent.not_installed", p.Title,
			p.Install).In("check.Run")
	}
	info := host.AgentInfo{Path: path}
	r.askVersion(ctx, agent.Found{Program: p, Path: path}, &info)
	saw := []host.Phrase{{Key: "check.saw_version", Args: []string{p.Title, info.Version, p.Tested[0], p.Tested[1]}}}
	if info.Key != "" {
		saw = []host.Phrase{{Key: info.Key, Args: info.Args}, {Key: "check.saw_tested", Args: p.Tested[:]}}
	}
	return check.Options{Agent: name, Kind: p.Kind, Provider: string(p.Wire.Provider())}, saw, nil
}
