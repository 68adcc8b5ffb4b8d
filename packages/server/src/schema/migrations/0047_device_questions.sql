-- Questions to single devices that somebody waits for: an answer may come to another process than the one that asked.

create table device_question (
  id uuid primary key,
  device_id bigint not null references device (id) on delete cascade,
  -- Why it is asked: a word of the service.
  purpose text not null,
  sql text not null,
  status text not null check (status in ('waiting', 'answered', 'failed', 'expired')),
  asked_at timestamptz not null,
  -- Nobody waits for the answer any more.
  expires_at timestamptz not null,
  answered_at timestamptz,
  -- The rows that the device answered; null before it did.
  rows jsonb,
  -- What the device said of a query that failed.
  error_message text,
  check ((status in ('answered', 'failed')) = (answered_at is not null))
);
create index device_question_by_device on device_question (device_id);
create index device_question_age on device_question (asked_at, id);
