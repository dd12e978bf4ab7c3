// Package app puts the program together: it opens a workspace with its store, and wires the kernel, the drivers, the
// agents and the runner over it for the command line. What they do is decided elsewhere.
package app

import (
	"context"
	"path/filepath"
	"runtime/debug"

	"pawl"
	"pawl/driver/launch"
	"pawl/driver/verify"
	"pawl/driver/workspace"
	"pawl/driver/workspace/relocate"
	"pawl/face/cli"
	"pawl/face/cli/commands"
	"pawl/face/cli/settings"
	"pawl/face/demo"
	"pawl/face/doctor"
	"pawl/face/host"
	"pawl/face/registry"
	"pawl/face/serve"
	"pawl/face/walls"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/git/layout"
	"pawl/store/known"
	"pawl/text/policy"
)

// Host implements host.Host. The zero value is the program as its user starts it.
type Host struct {
	// State replaces the folder of the user's own state, where it is set.
	State string
	// Cache replaces the folder of what is kept for all workspaces, where it is set. A host with a State of its own
	// keeps it there, unless it is given another place.
	Cache string
	// Env are further variables that pawl gives itself where it starts itself.
	Env []string
}

var _ host.Host = Host{}

// Find returns the workspace that dir belongs to. It is CodeDenied if its .pawl is not pawl's (workspace.Check).
func (h Host) Find(dir string) (effect.Place, error) {
	if !filepath.IsAbs(h.stateDir()) {
		return effect.Place{}, pawl.Fail(pawl.CodeEnvironment, "cli.no_home")
	}
	return workspace.Enter(context.Background(), h.known(), dir)
}

// known is the workspaces of the user.
func (h Host) known() known.List { return known.In(h.stateDir()) }

// Edit opens a file in the user's editor.
func (Host) Edit(ctx context.Context, path string) error { return sandbox.Edit(ctx, path) }

// Tools are the tools that are wired in.
func (h Host) Tools() []kernel.Tool {
	return newParts(h, effect.Place{}, settings.Default(), nil, nil).known()
}

// Footing says what stands in the way of making a place a workspace.
func (h Host) Footing(place effect.Place) host.Footing {
	s := workspace.Look(h.known(), place)
	return host.Footing{Exists: s.Exists, Doubt: string(s.Doubt), Other: s.Other, Projects: s.Projects}
}

// Adopt gives a workspace the state of another path (relocate.Adopt).
func (h Host) Adopt(ctx context.Context, place effect.Place, from string, sure bool) error {
	return relocate.Adopt(ctx, h.known(), place, from, sure)
}

// Grounds says where plans would be carried out.
func (Host) Grounds(place effect.Place, c settings.Config) (policy.Repo, bool) {
	return layout.Inspect(place.Workspace), walls.Fenced(c)
}

// Doctor asks the machine.
func (Host) Doctor(ctx context.Context, place effect.Place, c settings.Config) []host.Finding {
	box, err := sandbox.New(walls.Of(c, place.Workspace))
	if err != nil {
		return nil
	}
	var out []host.Finding
	findings := doctor.Examine(ctx, box, place)
	if found, err := verify.Checks(ctx, verify.ThisMachine(), place); err == nil {
		findings = append(findings, doctor.Project(found, verify.Programs(found.Checks), sandbox.LookPath)...)
	}
	for _, f := range findings {
		out = append(out, host.Finding{Name: f.Name, State: string(f.State), Key: f.Key, Args: f.Args, Value: f.Value})
	}
	return out
}

// Demo shows what pawl does, in a folder of its own. What it makes is removed where ctx ends.
func (h Host) Demo(ctx context.Context, d host.Demo) (host.Sample, error) {
	made, err := demo.Present(ctx, demo.Presentation{
		Dir: d.Dir, Walls: walls.Of(d.Config, ""), Lang: d.Lang, Color: d.Color, Env: h.Env, Text: d.Text,
		Std: verify.Compiled(h.std()), Tell: func(s demo.Scene) {
			d.Scene(host.Scene{Type: string(s.Kind), Act: s.Act, Text: s.Text, Args: s.Args, Status: s.Status})
		},
	})
	return host.Sample(made), err
}

// Agents are the agents that runs may name.
func (h Host) Agents(place effect.Place, c settings.Config) host.Agents {
	box, _ := sandbox.New(walls.Of(c, place.Workspace)) // these options are always valid
	return h.registry(c, launch.Launcher{Box: box, Place: place}).Described()
}

// registry are the agents with these settings.
func (h Host) registry(c settings.Config, l launch.Launcher) registry.Registry {
	return registry.Registry{Config: c, Launch: l, State: h.stateDir(), Version: version(),
		Pawl: func(ctx context.Context, state string, std host.Streams, args []string) int {
			return cli.Main(ctx, Host{State: state, Cache: Host{}.cacheDir()}, std, args, commands.Entries()...)
		}}
}

// version is the program's version as clients and servers are told it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

// Workspaces are those of the user.
func (h Host) Workspaces() host.Workspaces { return serve.All(h.stateDir()) }
