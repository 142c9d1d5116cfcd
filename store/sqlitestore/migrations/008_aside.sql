-- Until when an item is kept, what summary stands in its place, and what is softly forgotten until it goes for good.
ALTER TABLE items ADD COLUMN expires_at INTEGER NOT NULL DEFAULT -62135596800000000;
ALTER TABLE items ADD COLUMN summary TEXT NOT NULL DEFAULT '';
ALTER TABLE items ADD COLUMN summarized_at INTEGER NOT NULL DEFAULT -62135596800000000;
ALTER TABLE items ADD COLUMN forgotten_at INTEGER NOT NULL DEFAULT -62135596800000000;
ALTER TABLE items ADD COLUMN purge_at INTEGER NOT NULL DEFAULT -62135596800000000;
ALTER TABLE items ADD COLUMN forgotten_by TEXT NOT NULL DEFAULT '';
CREATE INDEX items_forgotten ON items (scope, id) WHERE forgotten_at <> -62135596800000000;
CREATE INDEX items_expiring ON items (scope, expires_at) WHERE expires_at <> -62135596800000000;
