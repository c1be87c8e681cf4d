-- Schema version 7: words in view; standing questions, and when each was answered.

INSERT INTO schema_version VALUES (7);

CREATE TABLE "text_track" (
    version INTEGER PRIMARY KEY,
    session INTEGER NOT NULL, clip INTEGER NOT NULL, track INTEGER NOT NULL, source TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, text TEXT NOT NULL, confidence REAL, x REAL, y REAL, w REAL, h REAL,
    width INTEGER NOT NULL, height INTEGER NOT NULL, readings INTEGER NOT NULL, best_at INTEGER NOT NULL,
    continued INTEGER NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

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
