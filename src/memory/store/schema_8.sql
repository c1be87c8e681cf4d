-- Schema version 8: passages of documents, and where each stands.

INSERT INTO schema_version VALUES (8);

CREATE TABLE "passage" (
    version INTEGER PRIMARY KEY,
    memory INTEGER NOT NULL, document TEXT NOT NULL, number INTEGER NOT NULL, heading TEXT, page INTEGER,
    line INTEGER NOT NULL, last_line INTEGER NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;
