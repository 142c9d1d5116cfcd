-- Times are microseconds since 1970-01-01 UTC; -62135596800000000 (the year 1) stands for "not set".

CREATE TABLE scopes (
    n      INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    user   TEXT NOT NULL,
    agent  TEXT NOT NULL,
    UNIQUE (tenant, user, agent)
) STRICT;

CREATE TABLE items (
    n             INTEGER PRIMARY KEY,
    scope         INTEGER NOT NULL REFERENCES scopes (n),
    id            TEXT NOT NULL,
    kind          TEXT NOT NULL,
    category      TEXT NOT NULL,
    content       TEXT NOT NULL,
    metadata      TEXT NOT NULL, -- JSON object, or empty
    importance    REAL NOT NULL,
    confidence    REAL NOT NULL,
    uses          INTEGER NOT NULL,
    last_used     INTEGER NOT NULL,
    valid_from    INTEGER NOT NULL,
    valid_to      INTEGER NOT NULL,
    recorded_at   INTEGER NOT NULL,
    closed_at     INTEGER NOT NULL,
    retracted_at  INTEGER NOT NULL,
    thread        TEXT NOT NULL,
    session       TEXT NOT NULL,
    position      INTEGER NOT NULL,
    speaker       TEXT NOT NULL,
    role          TEXT NOT NULL,
    provenance    TEXT NOT NULL, -- JSON object, or empty
    content_key   TEXT NOT NULL,
    supersedes    TEXT NOT NULL,
    superseded_by TEXT NOT NULL,
    text_key      TEXT NOT NULL, -- what vectors and doc were made from
    doc           BLOB NOT NULL, -- the analysed text, with the version of its format and analyzer
    UNIQUE (scope, id)
) STRICT;
CREATE INDEX items_by_recorded ON items (scope, recorded_at DESC, id);
CREATE INDEX items_by_event ON items (scope, valid_from DESC, id);
CREATE INDEX items_by_importance ON items (scope, importance DESC, id);
CREATE INDEX items_by_key ON items (scope, content_key);
CREATE INDEX items_by_turn ON items (scope, session, position);

-- The rows that a dense search compares with the query, one or more an item: int8 numbers, each times scale.
CREATE TABLE vectors (
    item  INTEGER NOT NULL REFERENCES items (n) ON DELETE CASCADE,
    seq   INTEGER NOT NULL,
    scale REAL NOT NULL,
    row   BLOB NOT NULL,
    PRIMARY KEY (item, seq)
) STRICT, WITHOUT ROWID;

-- The one vector space that all vectors of this file are in; no row before the first is claimed.
CREATE TABLE space (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    model TEXT NOT NULL,
    dim   INTEGER NOT NULL
) STRICT;

-- Ids of writes that were made, so that none is made twice.
CREATE TABLE writes (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- Changes that were recorded for another item store and have not been applied there.
CREATE TABLE intents (
    n      INTEGER PRIMARY KEY AUTOINCREMENT,
    id     TEXT NOT NULL UNIQUE,
    scope  INTEGER NOT NULL REFERENCES scopes (n),
    change TEXT NOT NULL -- JSON
) STRICT;

CREATE TABLE replies (
    scope     INTEGER NOT NULL REFERENCES scopes (n),
    key       TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    body      BLOB NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE threads (
    scope  INTEGER NOT NULL REFERENCES scopes (n),
    thread TEXT NOT NULL,
    next   INTEGER NOT NULL,
    cursor INTEGER NOT NULL,
    PRIMARY KEY (scope, thread)
) STRICT, WITHOUT ROWID;

-- Threads that wait for extraction, at most one row each.
CREATE TABLE jobs (
    scope        INTEGER NOT NULL REFERENCES scopes (n),
    thread       TEXT NOT NULL,
    generation   INTEGER NOT NULL, -- grows with every arming
    first_at     INTEGER NOT NULL, -- start of the window that max_wait counts from
    due_at       INTEGER NOT NULL,
    not_before   INTEGER NOT NULL, -- set by a retry: an arming does not come sooner
    attempts     INTEGER NOT NULL, -- failed so far
    note         TEXT NOT NULL,    -- why the last attempt failed
    lease        TEXT NOT NULL,    -- empty: free
    leased       INTEGER NOT NULL, -- the generation that the lease took
    lease_until  INTEGER NOT NULL,
    PRIMARY KEY (scope, thread)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_by_due ON jobs (due_at);
-- Generations outlive the rows of jobs.
CREATE TABLE generations (last INTEGER NOT NULL) STRICT;
INSERT INTO generations VALUES (0);

-- Items that wait for their vectors, oldest first.
CREATE TABLE embeds (
    n          INTEGER PRIMARY KEY AUTOINCREMENT,
    scope      INTEGER NOT NULL REFERENCES scopes (n),
    id         TEXT NOT NULL,
    generation INTEGER NOT NULL, -- grows when an item that waits is entered again
    not_before INTEGER NOT NULL,
    UNIQUE (scope, id)
) STRICT;

CREATE TABLE events (
    tenant     TEXT NOT NULL,
    id         TEXT NOT NULL,
    scope      INTEGER NOT NULL REFERENCES scopes (n),
    thread     TEXT NOT NULL,
    up_to      INTEGER NOT NULL,
    state      TEXT NOT NULL,
    facts      INTEGER NOT NULL,
    note       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    done_at    INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_pending ON events (scope, thread, up_to) WHERE state = 'pending';
CREATE INDEX events_by_state ON events (tenant, state);
