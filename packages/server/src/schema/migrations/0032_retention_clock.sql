-- The time up to which retention has gone. It follows the clock of the database in steps, so that a clock which is
-- far ahead for a while does not have everything deleted.

create table retention_clock (
  is_single boolean primary key default true,
  reached_at timestamptz not null,
  constraint retention_clock_is_single_check check (is_single)
);

comment on table retention_clock is
  'One row: the time from which sweeps of retention count the age of rows; never later than the clock.';
