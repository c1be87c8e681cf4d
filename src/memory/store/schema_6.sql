-- Schema version 6: evidence about who is in view, not about who is away.
--
-- Without these columns (NULL: all rows of before) against_secs holds the absence, too; whoever opens the store for writing
-- takes such a pair over when it is written next.

INSERT INTO schema_version VALUES (6);

ALTER TABLE "evidence" ADD COLUMN visible_secs REAL;
ALTER TABLE "evidence" ADD COLUMN since_secs REAL;
ALTER TABLE "evidence" ADD COLUMN clear_secs REAL;
ALTER TABLE "evidence" ADD COLUMN first_clip TEXT;
ALTER TABLE "evidence" ADD COLUMN last_clip TEXT;
