package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/machine/task"
)

// perBatch is how many tasks are written in one commit.
const perBatch = 500

// seeder writes many tasks straight into a store, each with the rows and the audit records that the kernel would have
// made in that many commands.
type seeder struct {
	store   kernel.Store
	kernel  *kernel.Kernel
	ids     *pawl.IDSource
	now     time.Time
	session kernel.Row
	doc     kernel.Session
	batch   kernel.Batch
	// ranks is how many ranks the tasks have, one after the other.
	ranks int
}

// seed makes the session of a workspace and n tasks whose states follow the cycle, each on the straight way, and
// returns the tasks' ids.
func seed(ctx context.Context, k *kernel.Kernel, place effect.Place, n int, cycle ...task.State) ([]string, error) {
	return seedRanks(ctx, k, place, n, 1, cycle...)
}

// seedRanks is seed with tasks of several ranks, evenly mixed.
func seedRanks(ctx context.Context, k *kernel.Kernel, place effect.Place, n, ranks int,
	cycle ...task.State) ([]string, error) {
	if _, err := k.Do(ctx, kernel.Envelope{Actor: "user:bench", Command: &planning.Init{Place: place}}); err != nil {
		return nil, err
	}
	s := &seeder{ranks: ranks, store: k.Store(), kernel: k, now: k.Now(), ids: pawl.NewIDSource(k.Now(), rand.Reader)}
	rows, err := s.store.Load(ctx, kernel.Select{Kind: kernel.KindSession, Label: kernel.SessionLabel})
	if err != nil {
		return nil, err
	}
	if len(rows[0]) != 1 {
		return nil, fmt.Errorf("%d sessions after init", len(rows[0]))
	}
	s.session = rows[0][0]
	if err := kernel.Decode(s.session, &s.doc); err != nil {
		return nil, err
	}
	ids := make([]string, 0, n)
	for i := range n {
		id, err := s.add(cycle[i%len(cycle)])
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		if (i+1)%perBatch == 0 || i == n-1 {
			if err := s.commit(ctx); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// add puts one task with its records into the batch.
func (s *seeder) add(state task.State) (string, error) {
	id, err := s.ids.Next()
	if err != nil {
		return "", err
	}
	s.doc.Tasks++
	t := kernel.Task{Title: fmt.Sprintf("Rename the handler of route %d and say so in its documentation", s.doc.Tasks),
		By: "user:bench", Number: s.doc.Tasks, Gates: s.kernel.Config().Gates}
	doc, err := json.Marshal(&t)
	if err != nil {
		return "", err
	}
	row := kernel.Row{Kind: kernel.KindTask, ID: string(id), Label: fmt.Sprintf("T-%03d", t.Number),
		State: string(state), Version: 1,
		Rank: t.Number % int64(s.ranks), Doc: doc, CreatedAt: s.now, UpdatedAt: s.now}
	subject := audit.Subject{Kind: string(kernel.KindTask), ID: row.ID}
	row.AuditHash = audit.Genesis(subject)
	for _, e := range history(state, t.Title) {
		e.Subject, e.Level, e.At, e.Trace = subject, audit.Info, s.now, row.ID
		sealed := audit.Seal(e, row.AuditSeq+1, row.AuditHash)
		row.AuditSeq, row.AuditHash = sealed.Seq, sealed.Hash
		s.batch.Records = append(s.batch.Records, sealed)
	}
	s.batch.Writes = append(s.batch.Writes, kernel.Write{Row: row})
	return row.ID, nil
}

// history are the entries of a task's straight way from its creation to a state.
func history(to task.State, title string) []audit.Entry {
	data, _ := json.Marshal(map[string]string{"title": title, "mode": kernel.DefaultMode}) // text always encodes
	out := []audit.Entry{{Event: "TASK_CREATED", Actor: "user:bench", Data: data}}
	for i := 1; i < len(straight) && straight[i-1] != to; i++ {
		r, _ := task.Table.Between(straight[i-1], straight[i])
		out = append(out, audit.Entry{Event: "STATE_TRANSITION_" + strings.ToUpper(string(r.To)),
			Move: &audit.Transition{
				From: string(r.From), To: string(r.To), Rule: r.ID, Event: string(r.On),
				Actor: pawl.By(r.Actors[0], "bench"), Reason: "seeded"}})
	}
	return out
}

// commit writes the batch, with the session's count of tasks.
func (s *seeder) commit(ctx context.Context) error {
	doc, err := json.Marshal(&s.doc)
	if err != nil {
		return err
	}
	w := kernel.Write{Row: s.session, From: s.session.Version}
	w.Version++
	w.Doc = doc
	s.batch.At = s.now
	s.batch.Writes = append(s.batch.Writes, w)
	if _, err := s.store.Commit(ctx, s.batch); err != nil {
		return err
	}
	s.session = w.Row
	s.batch = kernel.Batch{}
	return nil
}
