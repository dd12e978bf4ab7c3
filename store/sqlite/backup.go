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

// Check examines the store as a whole, for pawl doctor: SQLite's own check of every page, the audit log from its first
// record (anchors are what trusted checkpoints said, audit.Verify) with the ways along it, and that every row stands
// where its records left it. It reads everything and takes accordingly long; progress, which may be nil, is told now
// and then how many rows and records of how many were read. The report is that of the audit log.
func (s *Store) Check(ctx context.Context, progress func(done, all int64),
	anchors ...audit.Tree) (audit.Report, error) {
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
		rows, err := c.number("SELECT count(*) FROM entity")
		if err != nil {
			return err
		}
		count := counted(log.Head.Size+rows, progress)
		records := log.Records
		log.Records = func(yield func(audit.Stored, error) bool) {
			records(func(r audit.Stored, err error) bool { count(); return yield(r, err) })
		}
		if report, err = log.Verify(anchors...); err != nil {
			return err
		}
		front, err := c.number("SELECT size FROM front")
		if err == nil && front != report.Front {
			err = pawl.Fail(pawl.CodeStoreDamaged, "store.front_lost").In("store.check")
		}
		if err != nil {
			return err
		}
		if err := c.ways(); err != nil {
			return err
		}
		return c.compare(ctx, report.Tails, count)
	})
	return report, s.fault("check", err)
}

// counted returns a function that counts to all and tells of it now and then.
func counted(all int64, progress func(done, all int64)) func() {
	done := int64(0)
	return func() {
		if done++; progress != nil && done%1024 == 0 {
			progress(done, all)
		}
	}
}

// ways makes sure that each record of the log leads back to its subject's previous one, and each row to its last. Only
// where all of these were retired does a way lead to before the front.
func (c *conn) ways() error {
	for _, text := range [...]string{
		`WITH begin AS MATERIALIZED (SELECT ref, min(seq) AS seq FROM audit GROUP BY ref)
			SELECT a.idx FROM front f, audit a JOIN begin ON begin.ref=a.ref LEFT JOIN audit b ON b.idx=a.back
			WHERE (a.back IS NULL)<>(a.seq=1) OR a.back<f.size AND a.seq<>begin.seq OR
			a.back>=f.size AND (b.ref IS NOT a.ref OR b.seq IS NOT a.seq-1) LIMIT 1`,
		`SELECT ifnull(e.audit_at, -1) FROM front f, entity e LEFT JOIN audit a ON a.idx=e.audit_at
			WHERE (e.audit_at IS NULL)<>(e.audit_seq=0) OR
			e.audit_at<f.size AND e.pos IN (SELECT ref FROM audit) OR
			e.audit_at>=f.size AND (a.ref IS NOT e.pos OR a.seq IS NOT e.audit_seq) LIMIT 1`,
	} {
		q, err := c.prepare(text)
		if err != nil {
			return err
		}
		wrong, err := q.one()
		if err == nil && wrong {
			err = pawl.Fail(pawl.CodeStoreDamaged, "store.record", q.int(0)).In("store.check")
		}
		if err != nil {
			return err
		}
	}
	return nil
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

// compare reads every row with its document and holds it against the log, and all of them against the counts. Rows
// without records, such as settings, have nothing in the log to be held against.
func (c *conn) compare(ctx context.Context, tails map[audit.Subject]audit.Tail, count func()) error {
	found := 0
	var wrong error
	made := map[group]counts{}
	add := func(g group, state string) {
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
		count()
		add(group{"", string(r.Kind)}, r.State)
		if g := (group{r.Parent, string(r.Kind)}); r.Parent != "" && g.kept() {
			add(g, r.State)
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
