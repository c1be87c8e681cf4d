-- Schema version 4: sounds that are no speech.

INSERT INTO schema_version VALUES (4);

CREATE TABLE "sound" (
    version INTEGER PRIMARY KEY,
    session INTEGER NOT NULL, clip INTEGER NOT NULL, source TEXT NOT NULL, start INTEGER NOT NULL,
    "end" INTEGER NOT NULL, kind TEXT NOT NULL, peak_dbfs REAL, background_dbfs REAL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;
