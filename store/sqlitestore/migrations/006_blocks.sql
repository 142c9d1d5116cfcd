-- Which items the blocks held that were made for prompts; never what they said.
CREATE TABLE blocks (
    tenant  TEXT NOT NULL,
    user    TEXT NOT NULL,
    agent   TEXT NOT NULL,
    hash    TEXT NOT NULL,
    thread  TEXT NOT NULL,
    first   INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    times   INTEGER NOT NULL,
    shape   TEXT NOT NULL,
    tokens  INTEGER NOT NULL,
    items   BLOB NOT NULL,
    PRIMARY KEY (tenant, user, agent, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX blocks_by_time ON blocks (last);
