-- How often what a procedural item says worked: a JSON object, or empty.
ALTER TABLE items ADD COLUMN outcomes TEXT NOT NULL DEFAULT '';
