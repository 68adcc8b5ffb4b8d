create index audit_entry_times on audit_entry
  using brin (recorded_at, ((sequence - 0))) with (pages_per_range = 32, autosummarize = on);
