-- Reporting: what devices collected, and the runs of saved queries over it.

-- Unchanged snapshots are recognised by their hash and not written again.
alter table reporting_snapshot add column content_hash bytea not null;
alter table reporting_snapshot add column collected_at timestamptz not null;

-- One execution of a saved query. Its rows stay for a while, so that a reader who pages through them
-- sees one result.
create table reporting_query_run (
  id bigint generated always as identity primary key,
  query_id bigint not null references reporting_query (id) on delete cascade,
  ran_at timestamptz not null,
  row_count integer not null
);
create index reporting_query_run_query on reporting_query_run (query_id, id);

create table reporting_query_row (
  run_id bigint not null references reporting_query_run (id) on delete cascade,
  ordinal integer not null,
  columns jsonb not null,
  primary key (run_id, ordinal)
);
