-- Schema version 2: what was decided about a fact that was stated, and why.

INSERT INTO schema_version VALUES (2);

CREATE TABLE "decision" (
    version INTEGER PRIMARY KEY,
    memory INTEGER NOT NULL, at INTEGER NOT NULL, action TEXT NOT NULL, other INTEGER, reason TEXT NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;
