-- Schema version 5: things that a detector found.

INSERT INTO schema_version VALUES (5);

CREATE TABLE "object_track" (
    version INTEGER PRIMARY KEY,
    session INTEGER NOT NULL, clip INTEGER NOT NULL, track INTEGER NOT NULL, source TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, label TEXT NOT NULL, width INTEGER NOT NULL,
    height INTEGER NOT NULL, object TEXT, confidence REAL, sightings BLOB NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;
