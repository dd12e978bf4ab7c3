-- Schema 1. Instants are microseconds since 1970 in UTC; NULL is "none".

-- One row per entity, all but its document: what a transition reads and writes stays small.
CREATE TABLE entity (
	pos        INTEGER PRIMARY KEY,  -- order of insertion
	kind       TEXT    NOT NULL,
	id         TEXT    NOT NULL,
	label      TEXT,
	parent     TEXT,
	state      TEXT    NOT NULL,
	version    INTEGER NOT NULL,
	epoch      INTEGER NOT NULL,
	due        INTEGER,
	rank       INTEGER NOT NULL,
	audit_seq  INTEGER NOT NULL,
	audit_hash BLOB    NOT NULL,
	audit_at   INTEGER,              -- place in the log of the newest record about this row
	created    INTEGER,
	updated    INTEGER,
	doc_sum    INTEGER,              -- CRC-32 (IEEE) of the document
	sum        INTEGER NOT NULL      -- CRC-32 (IEEE) of the row: SQLite itself does not notice a bit that flips inside a value
) STRICT;
CREATE UNIQUE INDEX entity_id ON entity (id);
CREATE UNIQUE INDEX entity_label ON entity (kind, label) WHERE label IS NOT NULL;
-- Lists by parent and by kind run in the order of insertion and never change with a transition.
CREATE INDEX entity_parent ON entity (parent, kind) WHERE parent IS NOT NULL;
CREATE INDEX entity_kind ON entity (kind);
-- Claims and searches by state.
CREATE INDEX entity_state ON entity (kind, state, rank DESC);

CREATE TABLE doc (
	pos  INTEGER PRIMARY KEY REFERENCES entity (pos),
	body BLOB NOT NULL
) STRICT;

-- The audit log: exact bytes, in the order of the Merkle tree's leaves.
CREATE TABLE audit (
	idx   INTEGER PRIMARY KEY,       -- from 0, without gaps
	ref   INTEGER NOT NULL REFERENCES entity (pos),
	seq   INTEGER NOT NULL,
	back  INTEGER,                   -- place of the subject's previous record: the way along one subject needs no index
	hash  BLOB NOT NULL,
	bytes BLOB NOT NULL
) STRICT;

-- What is true of many rows at once, in few places, because every transaction rewrites it: how many rows of a kind are in
-- which state, as JSON, per parent and (parent '') in all; and, where parent and kind are '', the head of the audit log: size
-- (8 bytes, big-endian), root and frontier.
CREATE TABLE summary (
	parent TEXT NOT NULL,
	kind   TEXT NOT NULL,
	data   BLOB NOT NULL,
	PRIMARY KEY (parent, kind)
) STRICT, WITHOUT ROWID;

-- Answers to batches that carried an idempotency key.
CREATE TABLE answer (
	key     TEXT PRIMARY KEY,
	digest  TEXT NOT NULL,
	result  BLOB,
	first   INTEGER NOT NULL,
	size    INTEGER NOT NULL,
	expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_expires ON answer (expires);

CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER entity_no_delete BEFORE DELETE ON entity BEGIN SELECT raise(ABORT, 'entities are kept'); END;

-- The empty log: its root is the SHA-256 of nothing.
INSERT INTO summary VALUES ('', '', x'0000000000000000e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
