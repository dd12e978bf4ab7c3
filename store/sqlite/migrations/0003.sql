-- Schema 3. A list of the issues of one status runs in the order of registration, wherever on a large board they lie. Only issues
-- are in this index, so that no other row costs more.
CREATE INDEX entity_issue ON entity (state) WHERE kind='issue';
