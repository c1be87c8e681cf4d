-- Schema version 7: standing questions, and when each was answered.

INSERT INTO schema_version VALUES (7);

CREATE TABLE "watch" (
    version INTEGER PRIMARY KEY,
    id INTEGER NOT NULL, entity TEXT, rule TEXT NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "firing" (
    version INTEGER PRIMARY KEY,
    id INTEGER NOT NULL, watch INTEGER NOT NULL, at INTEGER NOT NULL, entity TEXT, source TEXT,
    session INTEGER, clip INTEGER, state TEXT NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;
