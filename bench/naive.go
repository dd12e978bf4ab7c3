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
// call. It does the least that a transition needs: read the state, replace it if it is still so, add an audit record.
type naive struct {
	db     *sql.DB
	record []byte
	tasks  int
	serial atomic.Int64
}

// naivePool is the number of its connections.
const naivePool = 8

func openNaive(ctx context.Context, path string, tasks, recordSize int) (_ *naive, err error) {
	u := url.URL{Scheme: "file", OmitHost: true, Path: path}
	db, err := sql.Open("sqlite", u.String()+"?_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(naivePool)
	db.SetMaxIdleConns(naivePool)
	n := &naive{db: db, record: make([]byte, recordSize), tasks: tasks}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if _, err := rand.Read(n.record); err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, `CREATE TABLE task (id INTEGER PRIMARY KEY, state TEXT NOT NULL, version INTEGER NOT NULL);
		CREATE TABLE audit (id INTEGER PRIMARY KEY, task INTEGER NOT NULL, record BLOB NOT NULL);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < `+fmt.Sprint(tasks)+`)
		INSERT INTO task SELECT i, 'queued', 1 FROM n`); err != nil {
		return nil, err
	}
	return n, nil
}

// transition moves one task on.
func (n *naive) transition(ctx context.Context, id int) error {
	tx, err := n.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var state string
	var version int64
	if err := tx.QueryRowContext(ctx, "SELECT state, version FROM task WHERE id=?", id).Scan(&state, &version); err != nil {
		return err
	}
	next := map[string]string{"queued": "running", "running": "failed", "failed": "queued"}[state]
	res, err := tx.ExecContext(ctx, "UPDATE task SET state=?, version=version+1 WHERE id=? AND state=? AND version=?", next, id, state, version)
	if err != nil {
		return err
	}
	if changed, err := res.RowsAffected(); err != nil || changed != 1 {
		return fmt.Errorf("task %d changed %d rows: %w", id, changed, err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO audit (task, record) VALUES (?,?)", id, n.record); err != nil {
		return err
	}
	return tx.Commit()
}

func (n *naive) transitions(ctx context.Context, callers int, span time.Duration) (load, error) {
	background := context.WithoutCancel(ctx)
	return drive(ctx, callers, span, func(int, int) error {
		return n.transition(background, int(n.serial.Add(1)*7919)%n.tasks+1)
	})
}

func (n *naive) close() error { return n.db.Close() }
