package verify

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"pawl"
	"pawl/driver/verify/judges"
	"pawl/kernel/effect"
	"pawl/sandbox/deps"
)

// Verify is the driver for effect.KindVerify: it runs the checks of a turn and reports the evidence. It is safe for
// concurrent use on different trees.
type Verify struct {
	config Config
	known  versions
}

// New returns the driver.
func New(c Config) *Verify { return &Verify{config: c} }

// Do runs the checks in their order. Static checks whose program is not installed are left out while another check
// remains. The receipt carries a VerifyResult whether they passed or not, as soon as there is any evidence; it is OK
// only when every check passed and the tree is the same as before. Otherwise its code says what went wrong:
// CodeEnvironment when the machine is at fault, CodeChecksFailed when the work is, CodeInvalid when there was nothing
// to run although the verification is required, CodeCanceled and CodeTimeout when the context ended. Changed
// definitions of the checks are listed in Tampered and do not make the receipt fail: who judges them is a gate.
func (v *Verify) Do(ctx context.Context, e effect.Effect, p effect.Progress) effect.Receipt {
	start := time.Now()
	r := v.do(ctx, e, p)
	r.Start, r.End, r.Attempts = start, time.Now(), 1
	return r
}

func (v *Verify) do(ctx context.Context, e effect.Effect, p effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.VerifySpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	if len(spec.Checks) == 0 && spec.Required {
		return effect.Failed(pawl.Fail(pawl.CodeInvalid, "verify.nothing").In("verify.Do"))
	}
	if err := renew(e.Place); err != nil {
		return effect.Failed(err)
	}
	defer func() { _ = renew(e.Place) }() // what cannot be removed now keeps the next one from beginning
	s, err := v.open(ctx, e.Place, spec.PerCheck, p)
	if err != nil {
		return effect.Failed(err)
	}
	s.ask, s.base = spec.Ask, spec.Base
	result, err := s.judge(ctx, spec.Checks, spec.StopOnFail, s.command)
	if len(spec.Checks) == 0 && len(result.Outcomes) == 0 {
		result.Passed = true // nothing was asked for, and nothing is claimed: there is no outcome
	}
	return v.finish(ctx, s, spec, result, err)
}

// finish completes the evidence and puts it into a receipt.
func (v *Verify) finish(ctx context.Context, s *session, spec effect.VerifySpec, result effect.VerifyResult,
	err error) effect.Receipt {
	if err != nil {
		if len(result.Outcomes) == 0 {
			return effect.Failed(err)
		}
		return effect.FailedWith(err, result)
	}
	ran := make([]effect.Check, 0, len(result.Outcomes))
	for _, o := range result.Outcomes {
		if o.Status != effect.CheckSkipped {
			ran = append(ran, o.Check)
		}
	}
	result.Dependencies = s.dependencies()
	result.EnvDigest = s.environmentDigest(ctx, ran)
	if err := s.tampered(ctx, spec, &result); err != nil {
		return effect.FailedWith(err, result)
	}
	if err := judgeChange(ctx, s, spec, &result); err != nil {
		return effect.FailedWith(err, result)
	}
	if result.Passed {
		return effect.Succeeded(result)
	}
	if s.unheld != nil {
		return effect.FailedWith(s.unheld, result) // which says what to do
	}
	return effect.FailedWith(failure(result.Outcomes), result)
}

// dependencies names those that the checks ran with.
func (s *session) dependencies() []effect.Dependency {
	var out []effect.Dependency
	for _, d := range s.tools.Dependencies.Folders {
		if d.Shows() || d.State == deps.Own {
			out = append(out, effect.Dependency{Path: d.Path, From: d.From, State: string(d.State), Locks: d.Locks,
				Digest: d.Digest})
		}
	}
	return out
}

// Done says no: evidence that was not reported is lost, and running the checks again is harmless.
func (v *Verify) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

// tampered finds what decides how the work is judged and differs from what the work started with: definitions of the
// checks by their pinned digests, everything else by the two trees and by what the checks read (package judges).
func (s *session) tampered(ctx context.Context, spec effect.VerifySpec, result *effect.VerifyResult) error {
	if len(spec.Pinned) == 0 && spec.Base == "" {
		return nil
	}
	tree, closer, err := s.Open(s.place.Tree)
	if err != nil {
		return ioError("verify.tree_unreadable", s.place.Tree, err)
	}
	defer closer.Close()
	scan, err := survey(tree)
	if err != nil {
		return err
	}
	now := map[string]string{}
	define(scan, now)
	found := tampered(spec.Pinned, now)
	if len(spec.Pinned) == 0 { // nothing defined the checks, so whatever does is new
		found = slices.Collect(maps.Keys(now))
	}
	if files := s.changed; files != nil {
		if spec.Measure {
			result.Changed = files
		}
		if spec.Moved {
			found = slices.DeleteFunc(found, func(f string) bool {
				return !slices.ContainsFunc(files, func(c effect.FileStat) bool { return c.Path == f })
			})
		}
		work := judges.Work{Tree: tree, Files: files, Read: s.seen.read, Tested: s.seen.tested}
		if s.Was != nil {
			work.Was = func(paths []string) map[string]string { return s.Was(ctx, s.place, spec.Base, paths) }
		}
		for _, c := range spec.Checks {
			work.Commands = append(work.Commands, c.Command)
		}
		found = append(found, work.Changed()...)
	}
	slices.Sort(found)
	result.Tampered = slices.Compact(found)
	for _, p := range result.Tampered {
		if result.Contents == nil {
			result.Contents = map[string]string{}
		}
		if result.Contents[p] = ""; exists(tree, p) {
			result.Contents[p] = hashFile(tree, p)
		}
	}
	return nil
}

// failure is the error of outcomes that did not all pass. The machine's fault comes first, because no repair helps it;
// then checks that changed the tree.
func failure(outcomes []effect.CheckOutcome) error {
	var names []string
	var first, machine, disturbed *effect.CheckOutcome
	for i := range outcomes {
		o := &outcomes[i]
		if o.Status == effect.CheckPassed || o.Status == effect.CheckSkipped {
			continue
		}
		switch {
		case o.Environment && machine == nil:
			machine = o
		case o.Name == treeCheck && o.Kind == kindDoctor:
			disturbed = o
		}
		if first == nil {
			first = o
		}
		names = append(names, o.Name)
	}
	fail := pawl.Fail(pawl.CodeChecksFailed, "verify.failed", oneLine(names, 5))
	shown := first
	switch {
	case machine != nil && machine.Lacks != "":
		fail, shown = pawl.Fail(pawl.CodeEnvironment, "verify.lacks", machine.Name, machine.Lacks), machine
	case machine != nil && machine.Missing != "":
		fail, shown = pawl.Fail(pawl.CodeEnvironment, "verify.missing_program", machine.Missing, machine.Name), machine
	case machine != nil:
		fail, shown = pawl.Fail(pawl.CodeEnvironment, "verify.environment", machine.Name), machine
	case disturbed != nil && disturbed == first:
		fail, shown = pawl.Fail(pawl.CodeChecksFailed, "verify.tree_changed", oneLine(lines(disturbed.Output), 5)),
			disturbed
	}
	if shown.Output == "" {
		return fail.In("verify.Do")
	}
	return fail.Because(errors.New(tail([]byte(shown.Output), 4096))).In("verify.Do")
}
