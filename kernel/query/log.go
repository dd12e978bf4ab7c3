package query

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// Log answers questions about the audit log of a workspace. It is safe for concurrent use.
type Log struct{ store kernel.Store }

// At is the audit log as it is at one moment, with the identity of the store, for as long as read takes
// (kernel.Store.Log).
func (l Log) At(ctx context.Context, read func(audit.Log) error) error {
	return l.store.Log(ctx, read)
}

// Head is the head of the audit log. Its size grows with every commit, which makes it the cursor to wait on.
func (l Log) Head(ctx context.Context) (audit.Head, error) { return l.store.Head(ctx) }

// Records streams the audit log from an index on, as it was sealed: all of it, or what is about one subject.
func (l Log) Records(ctx context.Context, about audit.Subject, from int64) iter.Seq2[audit.Stored, error] {
	subject := ""
	if about != (audit.Subject{}) {
		subject = about.String()
	}
	return l.store.Records(ctx, subject, from)
}

// Last is the newest record of the audit log, nil where there is none.
func (l Log) Last(ctx context.Context) (*audit.Parsed, error) {
	head, err := l.store.Head(ctx)
	if err != nil || head.Size == 0 {
		return nil, err
	}
	for rec, err := range l.store.Records(ctx, "", head.Size-1) {
		if err != nil {
			return nil, err
		}
		p, err := audit.Parse(rec.Bytes)
		return &p, err
	}
	return nil, nil
}

// actor is on whose word there is something: who the first record about it is by. It is "" where that was retired, or
// there is no such thing.
func (l Log) actor(ctx context.Context, about audit.Subject) (pawl.Actor, error) {
	if about.ID == "" {
		return "", nil
	}
	for rec, err := range l.Records(ctx, about, 0) {
		if err != nil {
			return "", err
		}
		p, err := audit.Parse(rec.Bytes)
		return p.Actor, err
	}
	return "", nil
}

// Proof makes the file of the proof that all records about a task stand in the log of a store.
func Proof(store kernel.Store) func(ctx context.Context, task string) ([]byte, error) {
	return func(ctx context.Context, task string) ([]byte, error) {
		about := audit.Subject{Kind: string(kernel.KindTask), ID: task}
		var p audit.Proof
		err := store.Log(ctx, func(log audit.Log) error {
			var records []audit.Stored
			leaves, err := log.Leaves(func(r audit.Stored) {
				if r.Subject == about {
					records = append(records, r)
				}
			})
			if err == nil {
				p, err = leaves.Prove(records...)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		return json.Marshal(p)
	}
}

// FirstOf is the index of the first of the last n records about a subject.
func (l Log) FirstOf(ctx context.Context, about audit.Subject, n int) (int64, error) {
	if about == (audit.Subject{}) {
		head, err := l.store.Head(ctx)
		return max(0, head.Size-int64(n)), err
	}
	var last []int64
	for rec, err := range l.Records(ctx, about, 0) {
		if err != nil {
			return 0, err
		}
		if last = append(last, rec.Index); len(last) > n {
			last = last[1:]
		}
	}
	if len(last) == 0 {
		return 0, nil
	}
	return last[0], nil
}

// NameOf is the label of a record's subject, "" where it has none.
func (l Log) NameOf(ctx context.Context, s audit.Subject) string {
	rows, err := l.store.Load(ctx, kernel.Select{Kind: kernel.Kind(s.Kind), ID: s.ID, HotOnly: true})
	if err != nil || len(rows[0]) == 0 {
		return ""
	}
	return rows[0][0].Label
}

// Run returns what tells whether a record is about a run: about its session, its task, or an effect of either. From is
// the index of the first record about the run itself.
func (l Log) Run(ctx context.Context, id string) (about func(context.Context, audit.Subject) (bool, error), from int64, err error) {
	run := new(kernel.Run)
	if ok, err := first(ctx, l.store, kernel.Select{Kind: kernel.KindRun, ID: id}, run); err != nil || !ok {
		return nil, 0, cmp.Or(err, notFound("see.run_unknown", id))
	}
	for rec, err := range l.Records(ctx, audit.Subject{Kind: string(kernel.KindRun), ID: id}, 0) {
		if err != nil {
			return nil, 0, err
		}
		from = rec.Index
		break
	}
	known := map[string]bool{run.ID: true, run.Parent: true}
	return func(ctx context.Context, s audit.Subject) (bool, error) {
		mine, ok := known[s.ID]
		if ok {
			return mine, nil
		}
		switch kernel.Kind(s.Kind) {
		case kernel.KindEffect:
			e := new(kernel.EffectDoc)
			if _, err := first(ctx, l.store, kernel.Select{Kind: kernel.KindEffect, ID: s.ID}, e); err != nil {
				return false, err
			}
			mine = e.Effect.Session == run.Parent
		case kernel.KindTask:
			t := new(kernel.Task)
			if _, err := first(ctx, l.store, kernel.Select{Kind: kernel.KindTask, ID: s.ID}, t); err != nil {
				return false, err
			}
			mine = LineOf(t).Run == run.ID
		}
		known[s.ID] = mine
		return mine, nil
	}, from, nil
}
