-- The log is paged by time. Directories of before that have the index that step 005 made first.
DROP INDEX IF EXISTS audit_by_tenant;
CREATE INDEX IF NOT EXISTS audit_by_time ON audit (tenant, at DESC, n DESC);
