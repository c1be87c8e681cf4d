-- Schema version 11: what colour a thing is called, and the clothes of a body; NULL: not settled, and all rows of before.

INSERT INTO schema_version VALUES (11);

ALTER TABLE "object_track" ADD COLUMN colour TEXT;
ALTER TABLE "track" ADD COLUMN colour TEXT;
