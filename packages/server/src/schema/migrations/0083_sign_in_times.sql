create index auth_log_session_times on auth_log_session
  using brin (started_at, updated_at, ((id + 0))) with (pages_per_range = 32, autosummarize = on);
-- Addresses share most of their trigrams, so that one of them is found by itself.
create index auth_log_session_address on auth_log_session using hash (ip_address);
