package verify

import (
	"context"
	"time"

	"pawl/driver/ground"
	"pawl/driver/verify/fingerprint"
	"pawl/kernel/effect"
)

// decided verifies a place by run, on what decides. The user's own tree may hold files that no commit holds and that
// its checks need: where what the work started from fails the same checks on a ground, too, they run in that tree, and
// each outcome says so.
func (v *Verify) decided(ctx context.Context, place effect.Place, spec effect.VerifySpec, say effect.Progress,
	run func(context.Context, *session) (effect.VerifyResult, error)) effect.Receipt {
	s, err := v.stand(ctx, place, spec, say)
	if err != nil {
		return effect.Failed(err)
	}
	defer leave(ctx, s)
	s.ask, s.base = spec.Ask, spec.Base
	result, err := run(ctx, s)
	if err == nil && place.InPlace && s.ground != nil && v.unfit(ctx, s, spec, result) {
		s.say("verify.own_tree")
		tree, err := v.config.Snapshot(ctx, place)
		if err != nil {
			return effect.Failed(err)
		}
		own, err := v.prepare(ctx, place, nil, spec.PerCheck, say)
		if err != nil {
			return effect.Failed(err)
		}
		defer leave(ctx, own)
		own.ask, own.base, own.tree = spec.Ask, spec.Base, tree
		result, err = run(ctx, own)
		for i := range result.Outcomes {
			if o := &result.Outcomes[i]; o.Status != effect.CheckSkipped {
				o.Weaker = append(o.Weaker, effect.WeakIgnored)
			}
		}
		once(spec, &result)
		return v.finish(ctx, own, spec, result, err)
	}
	switch {
	case s.ground == nil:
		once(spec, &result)
	case err == nil && spec.Twice && result.Passed:
		err = v.again(ctx, s, spec, &result)
	}
	return v.finish(ctx, s, spec, result, err)
}

// once says of commands that passed that they ran once where two runs were asked for.
func once(spec effect.VerifySpec, result *effect.VerifyResult) {
	for i := range result.Outcomes {
		if o := &result.Outcomes[i]; spec.Twice && o.Status == effect.CheckPassed && o.Command != "" {
			o.Weaker = append(o.Weaker, effect.WeakOnce)
		}
	}
}

// again runs what passed a second time on another ground, under other names and with nothing from a cache of results. A
// check that does not pass there depends on who looks, and has failed.
func (v *Verify) again(ctx context.Context, s *session, spec effect.VerifySpec, result *effect.VerifyResult) error {
	g, err := s.ground.Elsewhere(ctx, v.config.Grounds)
	if err != nil {
		return err
	}
	other, err := v.lay(ctx, g, s.tree, spec.PerCheck, s.say)
	if err != nil {
		return err
	}
	defer leave(ctx, other)
	other.anew, other.also = true, map[string]string{"USER": "builder", "LOGNAME": "builder"}
	s.say("verify.again")
	other.shelf.warm(ctx, spec.Checks)
	for i := range result.Outcomes {
		first := &result.Outcomes[i]
		if first.Status != effect.CheckPassed || first.Command == "" {
			continue
		}
		second := other.command(ctx, first.Check)
		if ctx.Err() != nil {
			return stopError(ctx.Err())
		}
		first.DurationMS, first.Twice = first.DurationMS+second.DurationMS, true
		if second.Status == effect.CheckPassed {
			continue
		}
		result.Passed = false
		first.Status, first.ExitCode, first.Environment = second.Status, second.ExitCode, second.Environment
		first.Output = tail([]byte(second.Output+"\n"+depends), outcomeOutput)
		first.Digest, first.OutputBytes = second.Digest, second.OutputBytes
		first.Fingerprint = fingerprint.Of(s.place, result.Outcomes[i:i+1])
	}
	result.Fingerprint = fingerprint.Of(s.place, result.Outcomes)
	return nil
}

// depends is said of a check that passed under the user's names alone.
const depends = "it passed where its folder, home and user have the names that they have when the user runs it, and not under " +
	"other names: it depends on who looks"

// unfit reports whether what the work started from fails the checks on a ground that failed there with the work:
// nothing can be said by them then without what no commit holds.
func (v *Verify) unfit(ctx context.Context, s *session, spec effect.VerifySpec, result effect.VerifyResult) bool {
	var failing []effect.Check
	for _, o := range result.Outcomes {
		if o.Status != effect.CheckFailed && o.Status != effect.CheckError {
			continue
		}
		if o.Command == "" { // nothing that a tree could lack
			return false
		}
		failing = append(failing, o.Check)
	}
	base, err := spec.Base, s.unheld
	if base == "" && err == nil {
		base, _, err = s.ground.Repo.Workspace().Refs.Head(ctx)
	}
	if base == "" || err != nil || len(failing) == 0 {
		return false
	}
	if tree, err := s.ground.Repo.Objects.ResolveTree(ctx, base); err != nil || tree == s.tree {
		return err == nil
	}
	if _, err = s.ground.Lay(ctx, base); err != nil {
		return false
	}
	before, err := v.prepare(ctx, s.place, s.ground, spec.PerCheck, nil)
	for _, c := range failing {
		if err != nil || before.command(ctx, c).Status == effect.CheckPassed {
			return false
		}
	}
	return ctx.Err() == nil
}

// stand records what is to be verified at a place and prepares to: on a ground of it where there are grounds. The
// user's own tree has none where it is in no repository. With a commit that is what is verified. The caller leaves.
func (v *Verify) stand(ctx context.Context, place effect.Place, spec effect.VerifySpec, say effect.Progress) (*session,
	error) {
	tree := spec.At
	if tree == "" {
		var err error
		if tree, err = v.config.Snapshot(ctx, place); err != nil {
			return nil, err
		}
	}
	if v.config.Grounds == nil || place.InPlace && !place.Git {
		s, err := v.prepare(ctx, place, nil, spec.PerCheck, say)
		if err == nil {
			s.tree = tree
		}
		return s, err
	}
	g, err := v.config.Grounds.Of(ctx, place)
	if err != nil {
		return nil, err
	}
	s, err := v.lay(ctx, g, tree, spec.PerCheck, say)
	if err == nil {
		s.of = place
	}
	return s, err
}

// lay lays a ground and prepares to verify on it. Nothing of it stays where that fails.
func (v *Verify) lay(ctx context.Context, g *ground.Ground, of string, perCheck time.Duration,
	say effect.Progress) (s *session, err error) {
	tree, err := g.Lay(ctx, of)
	if err == nil {
		s, err = v.prepare(ctx, g.Place, g, perCheck, say)
	}
	if err != nil {
		_ = g.Clear(context.WithoutCancel(ctx))
		return nil, err
	}
	s.tree = tree
	return s, nil
}

// prepare opens a verification whose caches are its own and empty.
func (v *Verify) prepare(ctx context.Context, place effect.Place, g *ground.Ground, perCheck time.Duration,
	say effect.Progress) (*session, error) {
	if err := renew(place); err != nil {
		return nil, err
	}
	return v.open(ctx, place, g, perCheck, say)
}

// leave removes the caches of a verification, and the ground where the checks ran on one. What cannot be removed now
// goes with the task's own tree, or keeps the next one from beginning.
func leave(ctx context.Context, s *session) {
	_ = renew(s.place)
	if s.ground != nil {
		_ = Forget(s.place)
		_ = s.ground.Clear(context.WithoutCancel(ctx))
	}
}
