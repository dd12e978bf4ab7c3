package checkpoint

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// Restore is the driver of effect.KindRestore: it brings a tree back to a recorded state, after taking a safety
// reference, so that the restoration can itself be undone. It is safe for concurrent use.
type Restore struct {
	memory  *git.Memory
	ignored Ignored
}

// NewRestore returns the driver of effect.KindRestore. It shares what m remembers; m may be nil.
func NewRestore(m *git.Memory) Restore { return Restore{memory: m} }

// Keeping returns the driver that brings back, where a restoration asks for it, what git does not record, too.
func (d Restore) Keeping(i Ignored) Restore {
	d.ignored = i
	return d
}

// Do takes the safety reference and restores. On a conflict nothing but the reference has changed. After a crash it may
// be repeated and completes what is left; the safety reference then still holds the tree before the first attempt.
func (d Restore) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.RestoreSpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	repo, err := open(ctx, d.memory, e.Place)
	if err != nil {
		return effect.Failed(err)
	}
	safety, err := mark(ctx, repo, e, safetyName(e, spec))
	if err != nil {
		return effect.Failed(err)
	}
	plan, err := planned(ctx, repo, spec, safety.Tree)
	if err != nil {
		return effect.Failed(err)
	}
	var done git.Restored
	var back *effect.IgnoredBack
	restore := func() (err error) {
		done, err = repo.Restore(ctx, plan.Restoration)
		return err
	}
	if spec.Kept == "" {
		if err = restore(); err == nil {
			err = note(ctx, e.Place)
		}
	} else if back, err = d.ignored.Around(ctx, e.Place, spec.Kept, safety.Name, restore); err == nil {
		done.After, err = repo.Snapshot(ctx)
	}
	if err != nil {
		return effect.Failed(err)
	}
	result, err := plan.summary(ctx, repo, done)
	if err != nil {
		return effect.Failed(err)
	}
	result.Ignored = back
	return effect.Succeeded(result)
}

// Between brings the tree of a place back from one recorded state, after, to another, before, as far as nobody else
// changed it since. It may be repeated after a crash.
func (d Restore) Between(ctx context.Context, place effect.Place, before, after string) error {
	spec := effect.RestoreSpec{Name: "undo", Target: before, Expect: after}
	return d.Do(ctx, effect.Effect{ID: "undo-" + after, Kind: effect.KindRestore, Place: place,
		Spec: effect.Encode(spec)}, nil).Err()
}

// safetyName is the name of the safety reference: the spec's, or one made from the effect's id.
func safetyName(e effect.Effect, spec effect.RestoreSpec) string {
	if spec.Safety != "" {
		return spec.Safety
	}
	return "safety-" + e.ID
}

// restoring is a restoration as its spec means it.
type restoring struct {
	git.Restoration
	step string // the step that is taken back, "" for all of them
	// cut are the files that work changed that was cut off.
	cut map[string]bool
}

// planned finds out what a spec asks for. It looks at recorded trees alone, so that a repetition after a crash finds
// the same.
func planned(ctx context.Context, repo *git.Repo, spec effect.RestoreSpec, origin string) (restoring, error) {
	r := restoring{
		Restoration: git.Restoration{Target: spec.Target, Expect: spec.Expect, Origin: origin, Force: spec.Force},
		step:        spec.Step, cut: map[string]bool{},
	}
	if len(spec.Spans) == 0 {
		return r, nil
	}
	h := history{repo: repo, known: map[[2]string][]string{}}
	if last := &spec.Spans[len(spec.Spans)-1]; last.After == "" {
		last.After = origin // the first record of what that work left
	}
	first := slices.IndexFunc(spec.Spans, r.undoes)
	if first < 0 && r.step != "" {
		return r, pawl.Fail(pawl.CodeInvalid, "point.nothing_to_undo", spec.Step)
	}
	r.Expect = spec.Spans[len(spec.Spans)-1].After
	if r.step != "" {
		r.Target = spec.Spans[first].Before
	}
	later, last := map[string]bool{}, map[string]string{}
	for i, s := range spec.Spans {
		ours, err := h.changed(ctx, s)
		if err != nil {
			return r, err
		}
		switch {
		case r.undoes(s):
			if err := r.follow(ctx, &h, s, ours, last); err != nil {
				return r, err
			}
		case !s.Undone && i > first:
			for _, p := range ours {
				later[p] = true
			}
		}
	}
	for p, after := range last {
		if err := h.others(ctx, p, after, r.Expect); err != nil {
			return r, err
		}
	}
	r.Paths = append([]string{}, slices.Sorted(maps.Keys(last))...)
	if touched := both(r.Paths, later); len(touched) > 0 {
		return r, pawl.Fail(pawl.CodeConflict, "point.later_step", spec.Step, git.Listing(touched))
	}
	if len(h.foreign) > 0 && !spec.Force {
		slices.Sort(h.foreign)
		return r, pawl.Fail(pawl.CodeConflict, "git.conflict", git.Listing(slices.Compact(h.foreign)))
	}
	return r, nil
}

// undoes reports whether a span is among what is taken back.
func (r *restoring) undoes(s effect.Span) bool {
	return !s.Undone && (r.step == "" || s.Step == r.step)
}

// follow takes the files of a span that is taken back to what is restored. In last stands what span left a file last.
func (r *restoring) follow(ctx context.Context, h *history, s effect.Span, files []string,
	last map[string]string) error {
	for _, p := range files {
		r.cut[p] = r.cut[p] || s.Cut
		if err := h.others(ctx, p, cmp.Or(last[p], r.Target), s.Before); err != nil {
			return err
		}
		last[p] = s.After
	}
	if r.step != "" {
		r.Expect = s.After
	}
	return nil
}

// history is what was changed in a tree while a run went on, by its recorded trees.
type history struct {
	repo    *git.Repo
	known   map[[2]string][]string
	foreign []string // what somebody else changed of what pawl changed
}

// changes names the files that differ between two recorded trees.
func (h *history) changes(ctx context.Context, from, to string) ([]string, error) {
	out, ok := h.known[[2]string{from, to}]
	if ok || from == to {
		return out, nil
	}
	changes, err := h.repo.Objects.Diff(ctx, from, to)
	for _, c := range changes {
		out = append(out, c.Path)
	}
	slices.Sort(out)
	h.known[[2]string{from, to}] = out
	return out, err
}

// changed names the files that pawl changed in a span.
func (h *history) changed(ctx context.Context, s effect.Span) ([]string, error) {
	all, err := h.changes(ctx, s.Before, s.After)
	if s.Files == nil {
		return all, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !slices.Contains(s.Files, p) }), err
}

// others notes a file that is not the same in two trees between which pawl did not change it.
func (h *history) others(ctx context.Context, path, from, to string) error {
	all, err := h.changes(ctx, from, to)
	if _, found := slices.BinarySearch(all, path); found {
		h.foreign = append(h.foreign, path)
	}
	return err
}

// both returns the paths that are in the set as well.
func both(paths []string, set map[string]bool) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !set[p] })
}

// summary tells the whole restoration, across crashes, from the tree before the first attempt to the one that was left.
// What still differs from the target afterwards was left alone, because it is not known to be pawl's change; of a step
// alone, everything else is left alone by intention.
func (r restoring) summary(ctx context.Context, repo *git.Repo, done git.Restored) (effect.RestoreResult, error) {
	result := effect.RestoreResult{Before: r.Origin, After: done.After, Changed: []string{}}
	changes, err := repo.Objects.Diff(ctx, r.Origin, done.After)
	for _, c := range changes {
		result.Changed = append(result.Changed, c.Path)
	}
	result.Cut = both(result.Changed, r.cut)
	if err != nil || r.step != "" {
		return result, err
	}
	result.Kept = done.Kept
	left, err := repo.Objects.Diff(ctx, r.Target, done.After)
	for _, c := range left {
		if !slices.Contains(result.Kept, c.Path) {
			result.Kept = append(result.Kept, c.Path)
		}
	}
	return result, err
}

// Done reports whether nothing is left to restore, once the safety reference shows that the effect began.
func (d Restore) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, err := effect.Decode[effect.RestoreSpec](e.Spec)
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	repo, err := open(ctx, d.memory, e.Place)
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	safety, _, err := find(ctx, repo, e, safetyName(e, spec))
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	if safety.Commit == "" {
		return effect.DoneNo, effect.Receipt{}
	}
	plan, err := planned(ctx, repo, spec, safety.Tree)
	if err != nil {
		return effect.DoneNo, effect.Receipt{} // Do finds the same and says what is in the way
	}
	pending, err := repo.Pending(ctx, plan.Restoration)
	if err != nil || len(pending) > 0 {
		return effect.DoneNo, effect.Receipt{} // Do finds the same and says what is in the way
	}
	back, ok := (*effect.IgnoredBack)(nil), true
	if spec.Kept != "" {
		back, ok = d.ignored.Finished(e.Place, spec.Kept, safety.Name)
	}
	if !ok {
		return effect.DoneNo, effect.Receipt{}
	}
	after, err := repo.Snapshot(ctx)
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	result, err := plan.summary(ctx, repo, git.Restored{After: after})
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	result.Ignored = back
	return effect.DoneYes, effect.Succeeded(result)
}

// Undo brings back the tree that the restoration found, as far as nobody has changed the files since.
func (d Restore) Undo(ctx context.Context, e effect.Effect, r effect.Receipt) effect.Receipt {
	result, err := effect.Decode[effect.RestoreResult](r.Result)
	if err != nil {
		return effect.Failed(err)
	}
	if result.Before == "" || result.After == "" {
		return effect.Failed(pawl.Fail(pawl.CodeInvalid, "point.nothing_to_undo", e.ID))
	}
	back := e
	back.ID += "-undo"
	back.Spec = effect.Encode(effect.RestoreSpec{Name: "undo " + e.ID, Target: result.Before, Expect: result.After})
	return d.Do(ctx, back, nil)
}
