-- Long work.
CREATE TABLE operations (
    tenant     TEXT NOT NULL,
    id         TEXT NOT NULL,
    kind       TEXT NOT NULL,
    state      TEXT NOT NULL,
    by         TEXT NOT NULL,
    args       BLOB NOT NULL,
    checkpoint BLOB NOT NULL,
    result     BLOB NOT NULL,
    done       INTEGER NOT NULL,
    total      INTEGER NOT NULL,
    note       TEXT NOT NULL,
    cancel     INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    done_at    INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX operations_by_time ON operations (tenant, created_at DESC, id DESC);
CREATE INDEX operations_unfinished ON operations (created_at) WHERE state IN ('queued', 'running');

-- Who did what.
CREATE TABLE audit (
    n       INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    tenant  TEXT NOT NULL,
    user    TEXT NOT NULL,
    verb    TEXT NOT NULL,
    entry   BLOB NOT NULL
) STRICT;
CREATE INDEX audit_by_time ON audit (tenant, at DESC, n DESC);

-- Keyed hashes of what was erased.
CREATE TABLE tombstones (
    tenant TEXT NOT NULL,
    hash   TEXT NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (tenant, hash)
) STRICT, WITHOUT ROWID;

-- Configuration that is changed while running.
CREATE TABLE settings (
    kind    TEXT NOT NULL,
    tenant  TEXT NOT NULL,
    name    TEXT NOT NULL,
    value   BLOB NOT NULL,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (kind, tenant, name)
) STRICT, WITHOUT ROWID;
