-- What is found by a time is in the order of its key within a page: summaries of pages hold both, so that the pages
-- between the first matches and the start are not read. An entry of such an index serves a range of pages, not a row.
-- One table in each of these migrations: nobody writes to a table while its index is made.
create index issue_times on issue
  using brin (detected_at, resolved_at, blocks_device_at, last_rechecked_at, updated_at, ((id + 0)))
  with (pages_per_range = 32, autosummarize = on);
