package kernel

import "context"

// Look reads the session with the run, the task, the turn and the effect that it is at, for runners and faces. Before the
// workspace is initialised the snapshot has no session.
func (k *Kernel) Look(ctx context.Context) (*Snapshot, error) {
	return k.load(ctx, (*Resume)(nil))
}

// LookAt reads one task with its effect, wherever it belongs. The id may be a ULID or a label such as T-001.
func (k *Kernel) LookAt(ctx context.Context, id string) (*Snapshot, error) {
	s := &Snapshot{Config: &k.config}
	sel := Select{Kind: KindTask, ID: id}
	if len(id) != 26 {
		sel = Select{Kind: KindTask, Label: id}
	}
	if err := load(ctx, k.store, &s.Task, sel); err != nil {
		return nil, err
	}
	if s.Task == nil {
		return nil, notFound(id)
	}
	if err := load(ctx, k.store, &s.Effect, optional(KindEffect, s.Task.Effect)); err != nil {
		return nil, err
	}
	return s, load(ctx, k.store, &s.Turn, optional(KindTurn, s.Task.Turn))
}

// LookEffect reads one effect.
func (k *Kernel) LookEffect(ctx context.Context, id string) (*EffectDoc, error) {
	var e *EffectDoc
	err := load(ctx, k.store, &e, Select{Kind: KindEffect, ID: id})
	return e, err
}
