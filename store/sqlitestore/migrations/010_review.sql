-- What would do the same counts as one; words that a person changed.
ALTER TABLE quarantine ADD COLUMN key TEXT NOT NULL DEFAULT '';
ALTER TABLE quarantine ADD COLUMN edited INTEGER NOT NULL DEFAULT 0;
CREATE INDEX quarantine_by_key ON quarantine (scope, key, at, id) WHERE key <> '';
