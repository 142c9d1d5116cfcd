-- Where an event's turns begin, and what ended it.
ALTER TABLE events ADD COLUMN first INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN extractor TEXT NOT NULL DEFAULT '';
CREATE INDEX events_by_thread ON events (scope, thread, up_to);
CREATE INDEX events_by_created ON events (tenant, created_at DESC, id DESC);
UPDATE events SET first = coalesce(
    (SELECT max(e.up_to) FROM events e WHERE e.scope = events.scope AND e.thread = events.thread AND e.up_to < events.up_to), 0);

-- Operations that an extractor proposed and that were not stored.
CREATE TABLE quarantine (
    tenant    TEXT NOT NULL,
    id        TEXT NOT NULL,
    scope     INTEGER NOT NULL REFERENCES scopes (n),
    event     TEXT NOT NULL,
    thread    TEXT NOT NULL,
    turn      TEXT NOT NULL, -- an entry goes when its turn is deleted
    extractor TEXT NOT NULL,
    reason    TEXT NOT NULL,
    operation BLOB NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX quarantine_by_time ON quarantine (tenant, at DESC, id DESC);
CREATE INDEX quarantine_by_turn ON quarantine (scope, turn);

-- What tenants took of hosted models, by day (UTC).
CREATE TABLE usage (
    tenant            TEXT NOT NULL,
    day               TEXT NOT NULL,
    calls             INTEGER NOT NULL,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    PRIMARY KEY (tenant, day)
) STRICT, WITHOUT ROWID;

-- When a tenant's job was claimed last, in the order of generations: tenants take turns.
CREATE TABLE served (
    tenant TEXT PRIMARY KEY,
    last   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
