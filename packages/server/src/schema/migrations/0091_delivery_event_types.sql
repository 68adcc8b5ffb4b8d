-- Deliveries of an event that few or none are of are found without reading the log: a summary of a range of pages tells
-- whether one may be in it. An entry of such an index serves a range of pages, not a row, and no delivery changes its event.
create index delivery_event_type on delivery
  using brin (event_type text_bloom_ops (n_distinct_per_range = 64)) with (pages_per_range = 32, autosummarize = on);
