package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// Backup writes a complete, compact copy of the store to path, which must not exist, while others go on reading and
// writing. The copy is one consistent state and a store of its own; it is on disk when Backup returns, and nothing is
// left at path when it fails.
func (s *Store) Backup(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return pawl.Fail(pawl.CodeInvalid, "store.occupied", path).In("store.backup")
	}
	c, err := s.stream(ctx, "backup")
	if err != nil {
		return err
	}
	defer s.finish(c)
	// The copy is made under another name, so that a crash leaves nothing that looks like a backup.
	draft := path + ".part"
	f, err := os.OpenFile(draft, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fileFault(err, draft)
	}
	defer os.Remove(draft)
	if err := f.Close(); err != nil {
		return fileFault(err, draft)
	}
	into, err := c.prepare("VACUUM INTO ?")
	if err != nil {
		return s.fault("backup", err)
	}
	if _, err := into.exec(draft); err != nil {
		return s.fault("backup", err)
	}
	// A store is in WAL mode from the start; changing to it later would need the store for itself.
	copied, err := connect(draft, readWrite, "&_journal_mode=WAL", 0)
	if err == nil {
		err = copied.close()
	}
	if err != nil {
		return s.fault("backup", err)
	}
	if err := finishCopy(draft, path); err != nil {
		return s.fault("backup", err)
	}
	return nil
}

// Check examines the store as a whole, for pawl doctor: SQLite's own check of the file, the audit log from its first
// record (anchors are what trusted checkpoints said, audit.Verify), and that every row stands where its records left
// it. It reads everything and takes accordingly long. The report is that of the audit log.
func (s *Store) Check(ctx context.Context, anchors ...audit.Tree) (audit.Report, error) {
	c, err := s.stream(ctx, "check")
	if err != nil {
		return audit.Report{}, err
	}
	defer s.finish(c)
	var report audit.Report
	err = c.snapshot(func() error {
		if err := c.integrity(s.path); err != nil {
			return err
		}
		log, err := c.log(ctx, s.fault)
		if err != nil {
			return err
		}
		if report, err = log.Verify(anchors...); err != nil {
			return err
		}
		if err = c.ways(); err != nil {
			return err
		}
		return c.compare(ctx, report.Tails)
	})
	return report, s.fault("check", err)
}

// integrity is the engine's own check of the file at path.
func (c *conn) integrity(path string) error {
	q, err := c.prepare("PRAGMA integrity_check(1)")
	if err != nil {
		return err
	}
	ok, err := q.one()
	if err != nil {
		return err
	}
	if !ok || q.text(0) != "ok" {
		return pawl.Fail(pawl.CodeStoreDamaged, "store.damaged", path).In("store.check").Because(errors.New(q.text(0)))
	}
	return nil
}

// ways checks the places that lead from a row to its newest record, and from each record to the one before it about the
// same row: by these a task's records are found.
func (c *conn) ways() error {
	q, err := c.prepare(`SELECT idx FROM (SELECT idx, back, lag(idx) OVER (PARTITION BY ref ORDER BY idx) AS was FROM audit)
		WHERE back IS NOT was UNION ALL
		SELECT coalesce(audit_at, -1) FROM entity e LEFT JOIN (SELECT ref, max(idx) AS newest FROM audit GROUP BY ref) a
		ON a.ref=e.pos WHERE audit_at IS NOT newest LIMIT 1`)
	if err != nil {
		return err
	}
	if wrong, err := q.one(); err != nil || !wrong {
		return err
	}
	return pawl.Fail(pawl.CodeStoreDamaged, "store.record", q.int(0)).In("store.check")
}

// compare reads every row with its document and holds it against the log, and all of them against the counts. Rows
// without records, such as settings, have nothing in the log to be held against.
func (c *conn) compare(ctx context.Context, tails map[audit.Subject]audit.Tail) error {
	found := 0
	var wrong error
	made := map[group]counts{}
	count := func(g group, state string) {
		if made[g] == nil {
			made[g] = counts{}
		}
		made[g].add(state, 1)
	}
	err := each(ctx, c, &kernel.Select{}, func(r kernel.Row) bool {
		subject := audit.Subject{Kind: string(r.Kind), ID: r.ID}
		t, ok := tails[subject]
		if ok {
			found++
		}
		switch {
		case r.AuditSeq != t.Seq || ok && r.AuditHash != t.Hash:
			wrong = pawl.Fail(pawl.CodeAuditBroken, "audit.tail", subject.String(), r.AuditSeq, t.Seq).In("store.check")
		case t.Moved && r.State != t.State:
			wrong = pawl.Fail(pawl.CodeAuditBroken, "audit.state", subject.String(), r.State, t.State).In("store.check")
		}
		count(group{"", string(r.Kind)}, r.State)
		if g := (group{r.Parent, string(r.Kind)}); r.Parent != "" && g.kept() {
			count(g, r.State)
		}
		return wrong == nil
	})
	if err := errors.Join(wrong, err); err != nil {
		return err
	}
	if found != len(tails) {
		return pawl.Fail(pawl.CodeStoreDamaged, "store.rows", len(tails)-found).In("store.check")
	}
	return c.compareCounts(ctx, made)
}

// finishCopy makes a finished draft durable and gives it its name, unless somebody else took that in the meantime.
func finishCopy(draft, path string) error {
	f, err := os.OpenFile(draft, os.O_RDWR, 0)
	if err != nil {
		return fileFault(err, draft)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fileFault(err, draft)
	}
	if err := os.Link(draft, path); errors.Is(err, fs.ErrExist) {
		return pawl.Fail(pawl.CodeInvalid, "store.occupied", path).In("store.backup")
	} else if err != nil {
		if err := os.Rename(draft, path); err != nil {
			return fileFault(err, path)
		}
	}
	return syncDir(filepath.Dir(path))
}
