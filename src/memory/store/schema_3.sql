-- Schema version 3: upkeep.

INSERT INTO schema_version VALUES (3);

-- How far each job of upkeep has come: event time of its last pass, and the commit it had seen. Outside the hash.
CREATE TABLE upkeep (job TEXT PRIMARY KEY, at INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- From which commit and record time on the past is exact: what was retired before that is gone. At most one row.
CREATE TABLE history (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, recorded INTEGER NOT NULL) STRICT;
