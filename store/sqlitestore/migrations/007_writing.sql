-- What the write path asks for, of all that a memory holds: what was distilled from conversations, and the turns of a thread.
CREATE INDEX items_distilled ON items (scope, id) WHERE instr(provenance, '"extractor":"') > 0;
CREATE INDEX items_by_thread ON items (scope, thread, recorded_at DESC, id);
