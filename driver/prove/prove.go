// Package prove shows that work did what was wanted, by trying the same with and without it (docs/verification.md):
// tests and commands have to fail on what the work started from and to pass with it, and tests have to notice when a
// part of it is taken away. Everything runs on a copy beside the task's tree, behind the same walls as the checks
// (driver/verify).
package prove

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"pawl"
	"pawl/driver/verify"
	"pawl/driver/verify/testlist"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// Prove is the driver for effect.KindProve. It is safe for concurrent use on different trees.
type Prove struct {
	verify *verify.Verify
	memory *git.Memory
}

// New returns the driver that runs checks with v. It shares what m remembers.
func New(v *verify.Verify, m *git.Memory) Prove { return Prove{v, m} }

// Beside is where the copy of a place's tree stands while it is worked on.
func Beside(p effect.Place) effect.Place {
	if p.Tree += "-proof"; p.InPlace {
		p.Tree = filepath.Join(p.Workspace, ".pawl", "worktrees", "in-place-proof")
	}
	p.InPlace = false
	return p
}

// Do tries everything and answers with a ProveResult. That nothing shows the work is a result, too; the receipt fails
// only where it could not be found out. The task's own tree is neither read nor written.
func (d Prove) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	start := time.Now()
	spec, err := effect.Decode[effect.ProveSpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	result, err := d.prove(ctx, e.Place, spec, progress)
	result.DurationMS = time.Since(start).Milliseconds()
	r := effect.Outcome(result, err)
	r.Start, r.End, r.Attempts = start, time.Now(), 1
	return r
}

// Done says no: trying again is harmless.
func (Prove) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

func (d Prove) prove(ctx context.Context, place effect.Place, spec effect.ProveSpec,
	progress effect.Progress) (effect.ProveResult, error) {
	if progress == nil {
		progress = func(string) {}
	}
	at := Beside(place)
	repo, err := d.memory.Open(ctx, layout.Place{Workspace: at.Workspace, Tree: at.Tree, Git: at.Git})
	if err != nil {
		return effect.ProveResult{}, err
	}
	b := &bench{ProveSpec: spec, verify: d.verify, repo: repo, place: at, inPlace: place.InPlace, say: progress}
	p := &proving{bench: b, ProveSpec: spec, beside: map[beside]string{}, result: effect.ProveResult{Tree: spec.Tree}}
	if p.result.Changed, err = git.Stats(ctx, repo, spec.Base, spec.Tree); err != nil {
		return p.result, err
	}
	b.changed = p.result.Changed
	if len(spec.Objections) > 0 {
		p.result.Witnesses, err = b.objections(ctx)
	} else {
		err = p.run(ctx)
	}
	_ = b.clear(context.WithoutCancel(ctx)) // what cannot be removed now goes with the task's own tree
	if stopped := ctx.Err(); stopped != nil {
		err = pawl.Fail(pawl.CodeCanceled, "verify.canceled").Because(stopped).In("prove.Do")
	}
	return p.result, err
}

// proving is one effect at work.
type proving struct {
	effect.ProveSpec
	bench  *bench
	result effect.ProveResult

	before, now map[string]string // the texts of the changed files, of those that are texts
	beside      map[beside]string // what the work wrote in a file of tests besides them: tables of cases, helpers
	reasons     reasons
	subjects    []*subject
	claims      []claim
	// builds says that the checks need what a build leaves in ignored files, which a fresh copy has not.
	builds bool
	// broken says that the last of them failed, and unbuilt that they did so without the work.
	broken, unbuilt bool
}

// run goes through the phases: what was there before, the same with the work's own tests, and all of the work.
func (p *proving) run(ctx context.Context) error {
	p.claim()
	if !slices.ContainsFunc(p.claims, claim.tried) && !slices.ContainsFunc(p.result.Changed,
		func(f effect.FileStat) bool { return f.Status != "D" && isTest(f.Path) }) {
		p.filesOf(false)
		p.filesOf(true)
		p.report()
		return p.bench.kept(ctx, &p.result)
	}
	for {
		if err := p.without(ctx); err != nil {
			return err
		}
		again, err := p.with(ctx)
		if err != nil {
			return err
		}
		if !again {
			break
		}
		p.builds, p.subjects = true, nil
		p.claim()
	}
	p.judge()
	if err := p.takeAway(ctx); err != nil {
		return err
	}
	if err := doubt(ctx, p); err != nil {
		return err
	}
	p.report()
	if p.Budget <= 0 || p.result.Unreached > 0 || !couldShow(p.result.Changed) {
		return nil
	}
	return p.bench.measure(ctx, p.before, p.now, p.Budget/maxShare, &p.result)
}

// claim begins the claims, of which nothing is known yet.
func (p *proving) claim() {
	p.claims = nil
	for _, c := range p.Criteria {
		p.claims = append(p.claims, claim{Criterion: c})
	}
}

// without tries everything on what the work started from.
func (p *proving) without(ctx context.Context) error {
	if err := p.bench.fresh(ctx); err != nil {
		return err
	}
	p.bench.say("verify.prove_without")
	p.before = p.bench.texts()
	declared := p.bench.declared()
	p.filesOf(false)
	p.wants(declared)
	if err := p.build(ctx); err != nil {
		return err
	}
	if err := p.tryAll(ctx, (*subject).asItWas); err != nil {
		return err
	}
	if err := p.bench.repo.Overlay(ctx, p.Base, p.Tree, isTest); err != nil {
		return err
	}
	if err := p.bench.putInline(ctx, p.before); err != nil {
		return err
	}
	if err := p.bench.put(p.Criteria); err != nil {
		return err
	}
	p.wantsTests(declared, p.bench.declared())
	if err := p.build(ctx); err != nil {
		return err
	}
	p.unbuilt = p.builds && p.broken
	if err := p.tryAll(ctx, (*subject).withTests); err != nil {
		return err
	}
	if !slices.ContainsFunc(p.subjects, (*subject).red) {
		for _, c := range p.Checks {
			if p.known(c) != "" && isTests(c) { // a test that was there before may be what the work has mended
				p.subject(c, testlist.Test{}, false)
			}
		}
	}
	return nil
}

// with tries everything again with the work. It is true where everything has to be tried once more, with builds.
func (p *proving) with(ctx context.Context) (again bool, err error) {
	if err := p.bench.fresh(ctx); err != nil {
		return false, err
	}
	if err := p.bench.repo.Overlay(ctx, p.Base, p.Tree, func(string) bool { return true }); err != nil {
		return false, err
	}
	if err := p.bench.put(p.Criteria); err != nil {
		return false, err
	}
	p.bench.say("verify.prove_with")
	p.now = p.bench.texts()
	p.filesOf(true)
	p.reasons = newReasons(p.result.Changed, p.before, p.now)
	if err := p.build(ctx); err != nil {
		return false, err
	}
	if err := p.tryWith(ctx); err != nil {
		return false, err
	}
	failed := slices.ContainsFunc(p.subjects, func(s *subject) bool { return s.tried && !s.holds })
	return failed && !p.builds && slices.ContainsFunc(p.Checks, isBuild), nil
}
