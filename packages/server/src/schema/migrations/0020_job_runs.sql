-- The last run of each periodic job that only one process does at a time.

create table job_run (
  name text primary key,
  started_at timestamptz not null,
  finished_at timestamptz,
  error text,
  constraint job_run_error_check check (error is null or finished_at is not null)
);

comment on column job_run.finished_at is
  'Null while it runs, and after a process that died while it ran.';
comment on column job_run.error is 'Why the last run failed; null when it did not.';
