-- What is found by a time is in the order of its key within a page: summaries of pages hold both, so that the pages
-- between the first matches and the start are not read. An entry of such an index serves a range of pages, not a row.
create index issue_times on issue
  using brin (detected_at, resolved_at, blocks_device_at, last_rechecked_at, updated_at, ((id + 0)))
  with (pages_per_range = 32, autosummarize = on);
create index auth_log_session_times on auth_log_session
  using brin (started_at, updated_at, ((id + 0))) with (pages_per_range = 32, autosummarize = on);
create index audit_entry_times on audit_entry
  using brin (recorded_at, ((sequence - 0))) with (pages_per_range = 32, autosummarize = on);

-- Addresses share most of their trigrams, so that one of them is found by itself.
create index auth_log_session_address on auth_log_session using hash (ip_address);

-- Last, since nobody can read the tables from here to the commit.
drop index issue_rechecked;
drop index auth_log_session_updated_at;
