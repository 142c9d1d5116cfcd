-- What statistics ask of all items, so that counting them reads neither texts nor vectors: 100,000 items in a tenth of a second. The
-- kind and the category are one value so that no listing takes this index for its own.
CREATE INDEX items_census ON items (scope, kind || ' ' || category, recorded_at, content_key, valid_to, closed_at, retracted_at, expires_at,
    summary, forgotten_at, octet_length(content), instr(provenance, '"durability":"task"'));
CREATE INDEX vectors_by_item ON vectors (item, seq);
