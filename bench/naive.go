package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver, the same that pawl's store is built on
)

// naive is the design that pawl's store is compared with: a pool of connections, and a transaction of its own for every
// call. It writes what a transition of pawl's writes, in the usual tables: the task's row with its document under a
// text key and an index of the states, the audit records, and the head of the log. What pawl works out besides,
// decisions, chains and the tree's hashes, it is spared.
type naive struct {
	db  *sql.DB
	ids []string
	// doc, record and head are what is written, each time the same bytes.
	doc, record, head []byte
	serial            atomic.Int64
}

// sizes are the mean lengths of what a transition writes.
type sizes struct{ doc, record, head int }

// naivePool is a number of connections that suits it well: between 1 and 16 it makes no difference, more make it
// slower.
const naivePool = 8

const naiveSchema = `
CREATE TABLE task (id TEXT PRIMARY KEY, state TEXT NOT NULL, version INTEGER NOT NULL, updated INTEGER NOT NULL, doc BLOB NOT NULL);
CREATE INDEX task_state ON task (state);
CREATE TABLE audit (id INTEGER PRIMARY KEY, task TEXT NOT NULL, seq INTEGER NOT NULL, hash BLOB NOT NULL, record BLOB NOT NULL);
CREATE TABLE log (id INTEGER PRIMARY KEY, size INTEGER NOT NULL, head BLOB NOT NULL);
INSERT INTO log VALUES (1, 0, x'00');`

func openNaive(ctx context.Context, path string, pool int, ids []string, writing sizes) (_ *naive, err error) {
	u := url.URL{Scheme: "file", OmitHost: true, Path: path}
	db, err := sql.Open("sqlite", u.String()+
		"?_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(pool)
	db.SetMaxIdleConns(pool)
	n := &naive{db: db, ids: ids, doc: make([]byte, writing.doc), record: make([]byte, writing.record),
		head: make([]byte, writing.head)}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	for _, bytes := range [][]byte{n.doc, n.record, n.head} {
		if _, err := rand.Read(bytes); err != nil {
			return nil, err
		}
	}
	if _, err := db.ExecContext(ctx, naiveSchema); err != nil {
		return nil, err
	}
	return n, n.fill(ctx)
}

// fill adds the tasks.
func (n *naive) fill(ctx context.Context) error {
	tx, err := n.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, id := range n.ids {
		if _, err := tx.ExecContext(ctx, "INSERT INTO task VALUES (?, 'queued', 1, 0, ?)", id, n.doc); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// transition moves one task on.
func (n *naive) transition(ctx context.Context, id string) error {
	tx, err := n.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var state string
	var version int64
	if err := tx.QueryRowContext(ctx, "SELECT state, version FROM task WHERE id=?", id).Scan(&state,
		&version); err != nil {
		return err
	}
	next := map[string]string{"queued": "running", "running": "failed", "failed": "queued"}[state]
	res, err := tx.ExecContext(ctx, "UPDATE task SET state=?, version=version+1, updated=?, doc=? WHERE id=? AND state=? AND version=?",
		next, time.Now().UnixMicro(), n.doc, id, state, version)
	if err != nil {
		return err
	}
	if changed, err := res.RowsAffected(); err != nil || changed != 1 {
		return fmt.Errorf("task %s changed %d rows: %w", id, changed, err)
	}
	// Trying again is one record more, as it is in pawl.
	records := map[string]int{"running": 1, "failed": 1, "queued": 2}[next]
	for range records {
		if _, err := tx.ExecContext(ctx, "INSERT INTO audit (task, seq, hash, record) VALUES (?,?,?,?)", id, version,
			n.record[:32], n.record); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, "UPDATE log SET size=size+?, head=? WHERE id=1", records, n.head); err != nil {
		return err
	}
	return tx.Commit()
}

func (n *naive) transitions(ctx context.Context, callers int, span time.Duration) (load, error) {
	background := context.WithoutCancel(ctx)
	return drive(ctx, callers, span, func(int, int) error {
		return n.transition(background, n.ids[int(n.serial.Add(1)*7919)%len(n.ids)])
	})
}

func (n *naive) close() error { return n.db.Close() }
