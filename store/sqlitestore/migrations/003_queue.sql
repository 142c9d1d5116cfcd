-- Jobs by tenant: tenants take turns, and one whose service is away is passed over.
ALTER TABLE jobs ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN tried INTEGER NOT NULL DEFAULT 0; -- the generation that was given back last
UPDATE jobs SET tenant = (SELECT s.tenant FROM scopes s WHERE s.n = jobs.scope);
CREATE INDEX jobs_by_tenant ON jobs (tenant, due_at, scope, thread);
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE lease <> '';
DROP INDEX jobs_by_due;

-- Position up to which an interim extractor ran.
ALTER TABLE threads ADD COLUMN interim INTEGER NOT NULL DEFAULT 0;

-- What is pruned goes by its time.
ALTER TABLE writes ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX writes_by_time ON writes (at);
CREATE INDEX replies_by_time ON replies (at);
CREATE INDEX events_by_end ON events (done_at) WHERE state <> 'pending' AND state <> 'dead';
CREATE INDEX quarantine_by_event ON quarantine (tenant, event);
