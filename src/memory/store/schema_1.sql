-- Schema version 1. Times are nanoseconds since 1970 (UTC); ids of entities are text as everywhere.
-- Every temporal table ends with the same three columns: a row holds from commit `seq` until `retired_seq`;
-- `recorded` is the record time of `seq`. Rows are never changed but for `retired_seq`.

CREATE TABLE schema_version (version INTEGER NOT NULL) STRICT;
INSERT INTO schema_version VALUES (1);

-- One row per transaction. `ingested` is wall clock and enters no hash.
CREATE TABLE commits (seq INTEGER PRIMARY KEY, recorded INTEGER NOT NULL, ingested INTEGER NOT NULL) STRICT;

-- The next number of every kind of id: ids are given once, even after erasing.
CREATE TABLE counter (what TEXT PRIMARY KEY, next INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE "session" (
    version INTEGER PRIMARY KEY,
    id INTEGER NOT NULL, start INTEGER NOT NULL, clip_secs REAL, sha256 TEXT, path TEXT,
    selection TEXT, finished INTEGER NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "clip" (
    version INTEGER PRIMARY KEY,
    session INTEGER NOT NULL, clip INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    frames INTEGER NOT NULL, analysed INTEGER NOT NULL, dropped INTEGER NOT NULL,
    key_frames TEXT NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "entity" (
    version INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "track" (
    version INTEGER PRIMARY KEY,
    session INTEGER NOT NULL, clip INTEGER NOT NULL, track INTEGER NOT NULL, source TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, face TEXT, confidence REAL,
    sightings BLOB NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "turn" (
    version INTEGER PRIMARY KEY,
    session INTEGER NOT NULL, clip INTEGER NOT NULL, turn INTEGER NOT NULL, source TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, speech_secs REAL, voice TEXT, confidence REAL,
    words TEXT, language TEXT, engine TEXT, word_times BLOB, sound TEXT,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "pose" (
    version INTEGER PRIMARY KEY,
    session INTEGER NOT NULL, clip INTEGER NOT NULL, stamp INTEGER NOT NULL, x REAL, y REAL,
    yaw REAL, frame TEXT NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "exemplar" (
    version INTEGER PRIMARY KEY,
    entity TEXT NOT NULL, slot INTEGER NOT NULL, at INTEGER NOT NULL, quality REAL, weight REAL,
    media TEXT, model BLOB NOT NULL, vector BLOB NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "evidence" (
    version INTEGER PRIMARY KEY,
    face TEXT NOT NULL, voice TEXT NOT NULL, support_secs REAL, against_secs REAL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "membership" (
    version INTEGER PRIMARY KEY,
    part TEXT NOT NULL, person TEXT NOT NULL, reason TEXT NOT NULL, decreed INTEGER NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "merge" (
    version INTEGER PRIMARY KEY,
    from_id TEXT NOT NULL, into_id TEXT NOT NULL, reason TEXT NOT NULL, decreed INTEGER NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "name" (
    version INTEGER PRIMARY KEY,
    entity TEXT NOT NULL, name TEXT NOT NULL, since INTEGER NOT NULL, source TEXT NOT NULL,
    turn_session INTEGER, turn INTEGER,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "memory" (
    version INTEGER PRIMARY KEY,
    id INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, start INTEGER NOT NULL,
    "end" INTEGER NOT NULL, session INTEGER, clip INTEGER, entities TEXT NOT NULL, subject TEXT,
    attribute TEXT, value TEXT, importance REAL, confidence REAL, pinned INTEGER NOT NULL,
    valid_from INTEGER NOT NULL, valid_to INTEGER, grounds TEXT NOT NULL, origin TEXT NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "vector" (
    version INTEGER PRIMARY KEY,
    memory INTEGER NOT NULL, model BLOB NOT NULL, vector BLOB NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "retirement" (
    version INTEGER PRIMARY KEY,
    memory INTEGER NOT NULL, valid_to INTEGER, reason TEXT NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

CREATE TABLE "media" (
    version INTEGER PRIMARY KEY,
    digest TEXT NOT NULL, kind TEXT NOT NULL, bytes INTEGER NOT NULL, pinned INTEGER NOT NULL,
    seq INTEGER NOT NULL, retired_seq INTEGER, recorded INTEGER NOT NULL
) STRICT;

-- Streaming state at the end of a session's newest clip; outside the hash.
CREATE TABLE checkpoint (
    session INTEGER PRIMARY KEY, clip INTEGER NOT NULL, watermark INTEGER NOT NULL, state BLOB NOT NULL
) STRICT;

-- How often memories were recalled; outside the hash and as-of.
CREATE TABLE access (memory INTEGER PRIMARY KEY, count INTEGER NOT NULL, newest INTEGER NOT NULL) STRICT;

-- Answers that were given; outside the hash and as-of.
CREATE TABLE answer (
    id INTEGER PRIMARY KEY, question TEXT NOT NULL, document TEXT NOT NULL, asked INTEGER NOT NULL
) STRICT;

-- That something was erased, and when; not what.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, action TEXT NOT NULL, rows INTEGER NOT NULL,
    files INTEGER NOT NULL
) STRICT;
