-- How far the sweep of each policy of retention is.

create table retention_state (
  policy text primary key,
  keeps_ms bigint check (keeps_ms >= 0),
  place text[],
  pass_started_at timestamptz,
  pass_finished_at timestamptz,
  pass_count bigint not null default 0 check (pass_count >= 0),
  total_count bigint not null default 0 check (total_count >= 0),
  error text,
  constraint retention_state_finished_check
    check (pass_finished_at is null or pass_started_at is not null)
);

comment on column retention_state.keeps_ms is 'How old a row may become; null keeps for ever.';
comment on column retention_state.place is
  'Where the next batch begins; null at the beginning of the table.';
comment on column retention_state.pass_count is 'Rows that the present or last pass has ended.';
comment on column retention_state.total_count is 'Rows that all passes have ended.';
comment on column retention_state.error is 'Why the last batch failed; null when it did not.';
