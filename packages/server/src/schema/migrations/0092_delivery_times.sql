-- The log of deliveries is in the order of their ids and of their times: summaries of pages hold both, so that the pages
-- between the start and the first matches are not read, and states and attempts, which nearly all deliveries have the
-- same of. An entry of such an index serves a range of pages, not a row. It takes the place of that of the times alone.
create index delivery_times on delivery
  using brin (created_at, attempt_count, state text_bloom_ops (n_distinct_per_range = 8), ((id + 0)))
  with (pages_per_range = 32, autosummarize = on);
