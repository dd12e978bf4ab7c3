-- Schema 5. The oldest records of the log may be retired, and with them the rows that no other record is about. What is known of
-- those records stands in one row: how many there were, and the front in the form in which the log speaks of it (audit.Front).
CREATE TABLE front (
	size INTEGER NOT NULL,
	data BLOB                        -- NULL while the log is whole
) STRICT;
INSERT INTO front VALUES (0, NULL);

DROP TRIGGER audit_no_delete;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit WHEN old.idx >= (SELECT size FROM front)
	BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
DROP TRIGGER entity_no_delete;
CREATE TRIGGER entity_no_delete BEFORE DELETE ON entity WHEN old.audit_at >= (SELECT size FROM front)
	BEGIN SELECT raise(ABORT, 'entities are kept'); END;
