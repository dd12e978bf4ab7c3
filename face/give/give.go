// Package give gives a person's commands to the kernel, in the one way that all faces have.
package give

import (
	"context"
	"errors"

	"pawl"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/word"
	"pawl/text/plan"
)

// To is whom commands are given to.
type To struct {
	// Kernel is that of the session that they are about.
	Kernel *kernel.Kernel
	// Packages are the solution packages of the workspace; nil where there are none.
	Packages func(ctx context.Context) (host.Packages, error)
	// Sign has a person say a decision for which a program asks, by their key; nil where none is set. Person is in
	// whose name that is.
	Sign   func(ctx context.Context, d word.Decision, program string) (*word.Signed, error)
	Person pawl.Actor
}

// Do gives a command. Where it needs a person's word and a program gives it, the person is asked for it by their
// key.
func (t To) Do(ctx context.Context, env kernel.Envelope) (kernel.Outcome, error) {
	if _, ok := env.Command.(*approval.Approve); ok {
		if err := t.packageStands(ctx); err != nil {
			return kernel.Outcome{}, err
		}
	}
	out, err := t.Kernel.Do(ctx, env)
	var open *word.Decision
	if t.Sign == nil || !errors.As(err, &open) {
		return out, err
	}
	if env.Word, err = t.Sign(ctx, *open, env.Actor.Name()); err != nil {
		return out, err
	}
	env.Actor = t.Person
	return t.Kernel.Do(ctx, env)
}

// Now gives a command after which work is to go on, so that a pause ends.
func (t To) Now(ctx context.Context, env kernel.Envelope) (kernel.Outcome, error) {
	out, err := t.Do(ctx, env)
	if err != nil || out.Replayed {
		return out, err
	}
	s, err := t.Kernel.Snapshot(ctx)
	if err == nil && s.Session != nil && s.Session.Paused() {
		_, err = t.Kernel.Do(ctx, kernel.Envelope{Actor: env.Actor, Command: &control.Resume{}})
	}
	return out, err
}

// packageStands refuses an approval of the plan of a package that a person wrote and has changed since it was read:
// what it says now is another plan, with a hash of its own.
func (t To) packageStands(ctx context.Context) error {
	s, err := t.Kernel.Snapshot(ctx)
	if err != nil || s.Run == nil || s.Run.Written == nil || s.Approval == nil || s.Approval.About != "plan" ||
		t.Packages == nil {
		return err
	}
	found, err := t.Packages(ctx)
	if err == nil && !s.Run.Written.Stands(found.Files[s.Run.Package]) {
		err = pawl.Fail(pawl.CodeConflict, "cli.flow.package_changed", s.Run.Package)
	}
	return err
}

// Plan reads a plan that somebody brings and checks it, so that a mistake costs nothing.
func Plan(config *kernel.Config, text []byte) (plan.Plan, error) {
	p, where, err := plan.Decode("plan", text)
	if err != nil {
		return p, err
	}
	schema := func(name string) ([]byte, bool) {
		t, ok := config.Tools[name]
		return t.Info.ArgsSchema, ok
	}
	return p, where.Locate(plan.Check(p, schema, config.Plan))
}
