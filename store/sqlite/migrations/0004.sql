-- Schema 4. Whose store this is: a random name that is made with the store and that its copies share, so that what is said of the
-- store elsewhere is not taken for what was said of another one in the same place. One row.
CREATE TABLE meta (
	identity TEXT    NOT NULL,
	unnamed  INTEGER NOT NULL,       -- 1 where the audit log was begun before the store had an identity
	sum      INTEGER NOT NULL        -- CRC-32 (IEEE) of the identity
) STRICT;
