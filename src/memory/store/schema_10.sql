-- Schema version 10: sounds that mean something.

INSERT INTO schema_version VALUES (10);

CREATE TABLE "sound_event" (
    version INTEGER PRIMARY KEY,
    session INTEGER NOT NULL, clip INTEGER NOT NULL, source TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, what TEXT NOT NULL, confidence REAL, continued INTEGER NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;
