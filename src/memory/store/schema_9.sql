-- Schema version 9: when cameras themselves moved.

INSERT INTO schema_version VALUES (9);

CREATE TABLE "camera_move" (
    version INTEGER PRIMARY KEY,
    session INTEGER NOT NULL, clip INTEGER NOT NULL, source TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;
