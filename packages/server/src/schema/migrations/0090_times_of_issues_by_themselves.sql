-- Open issues follow the rounds of their device: their own times are long past, and lie before nearly every time that is
-- looked for. A summary of the times of all others leads to those that changed before one. No update of an issue costs
-- more by it: an entry serves a range of pages, and leaves rows in their place.
create index issue_own_times on issue
  using brin (last_rechecked_at, updated_at, ((id + 0))) with (pages_per_range = 32, autosummarize = on)
  where not (follows_round and resolved_at is null);
