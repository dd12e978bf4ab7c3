package project

import (
	"context"
	"slices"
	"strings"

	"pawl/driver/prepare"
	"pawl/driver/shell"
	"pawl/driver/verify"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/egress"
	"pawl/text/plan"
)

// Setting returns the toolchain that the shell tool works with, in a box.
func Setting(machine verify.Host, box verify.Runner) func(context.Context, effect.Effect, bool) (shell.Setting, error) {
	cache := machine.GoCache(box)
	return func(ctx context.Context, e effect.Effect, network bool) (shell.Setting, error) {
		t, err := verify.Toolchain{}, error(nil)
		if network {
			t, err = machine.Fetching(e.Place, egress.OfUser().Variables(plan.Ecosystems()))
		} else {
			t, err = machine.Toolchain(e.Place, verify.UseWork)
		}
		if err != nil {
			return shell.Setting{}, err
		}
		own, err := cache(ctx, e.Place, e.Task, "commands")
		if len(own.Env) > 0 { // its own, in place of the one of all tasks
			t.Env = slices.DeleteFunc(t.Env, func(kv string) bool { return strings.HasPrefix(kv, "GOCACHE=") })
		}
		return shell.Setting{Env: append(t.Env, own.Env...), Writable: append(t.Writable, own.Writable...),
			Readable: t.Readable, Hidden: t.Dependencies.Hidden(),
			Shown: append(t.Dependencies.Shown(), own.Shown...)}, err
	}
}

// Fetcher is the driver that fetches dependencies.
func Fetcher(box *sandbox.Box, machine verify.Host) *prepare.Driver {
	return prepare.New(prepare.Config{Box: box, LookPath: machine.LookPath,
		Setting: func(place effect.Place, ecosystem string) ([]string, []string, error) {
			t, err := machine.Fetching(place, egress.OfUser().Variables([]string{ecosystem}))
			return t.Env, t.Readable, err
		}})
}
