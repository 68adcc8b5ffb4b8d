-- A text whose words very many sign-ins share, but hardly any as a whole, is found without reading all of these: a
-- summary of a range of pages tells whether the whole text may be in it. Trigrams tell words apart, not how they end. In the
-- collation "C", so that PostgreSQL takes it for whole texts only where they are compared so. An entry of such an index serves
-- a range of pages, not a row.
create index auth_log_session_whole_texts on auth_log_session
  using brin (
    (person_name collate "C") text_bloom_ops (n_distinct_per_range = 400),
    (city collate "C") text_bloom_ops (n_distinct_per_range = 128),
    (country collate "C") text_bloom_ops (n_distinct_per_range = 64),
    (agent_version collate "C") text_bloom_ops (n_distinct_per_range = 64),
    (browser_name collate "C") text_bloom_ops (n_distinct_per_range = 32),
    (id + 0)
  ) with (pages_per_range = 32, autosummarize = on);
