-- Directories that step 008 made before the index of what expires was part of it lack that index.
CREATE INDEX IF NOT EXISTS items_expiring ON items (scope, expires_at) WHERE expires_at <> -62135596800000000;
