-- The operation that erased what a hash is of.
ALTER TABLE tombstones ADD COLUMN operation TEXT NOT NULL DEFAULT '';
CREATE INDEX tombstones_by_operation ON tombstones (tenant, operation);
