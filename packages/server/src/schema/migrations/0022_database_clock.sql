-- The latest time that the clock of the database has shown, so that a clock that is set back is noticed.

create table database_clock (
  is_single boolean primary key default true,
  seen_at timestamptz not null,
  constraint database_clock_is_single_check check (is_single)
);

comment on table database_clock is
  'One row: the latest time that a worker has read from the clock of the database.';
