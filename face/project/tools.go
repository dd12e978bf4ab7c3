package project

import (
	"pawl/driver/prepare"
	"pawl/driver/shell"
	"pawl/driver/verify"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/egress"
	"pawl/text/plan"
)

// Setting returns the toolchain that the shell tool works with in a place.
func Setting(machine verify.Host) func(place effect.Place, network bool) (shell.Setting, error) {
	return func(place effect.Place, network bool) (shell.Setting, error) {
		t, err := verify.Toolchain{}, error(nil)
		if network {
			t, err = machine.Fetching(place, egress.OfUser().Variables(plan.Ecosystems()))
		} else {
			t, err = machine.Toolchain(place, verify.UseWork)
		}
		return shell.Setting{Env: t.Env, Writable: t.Writable, Readable: t.Readable, Hidden: t.Dependencies.Hidden(),
			Shown: t.Dependencies.Shown()}, err
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
