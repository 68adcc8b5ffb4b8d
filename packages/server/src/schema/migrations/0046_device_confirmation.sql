-- What somebody else must confirm before a sign-in goes on: a new device of a person, or who sits at a device that could
-- not be proven.
create table device_confirmation (
  id uuid primary key,
  attempt_id uuid not null unique references sign_in_attempt (id) on delete cascade,
  kind text not null check (kind in ('registration', 'sign_in')),
  -- Who may confirm it, in no order.
  ways text[] not null,
  person_id bigint not null references person (id) on delete cascade,
  -- The device that is confirmed.
  device_id bigint not null references device (id) on delete cascade,
  -- Shown where the sign-in waits, typed where it is confirmed.
  code text not null,
  wrong_codes smallint not null default 0,
  status text not null default 'pending' check (status in ('pending', 'approved', 'denied')),
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  -- The name of the admin, or of the device.
  decided_by text
);
create index device_confirmation_person on device_confirmation (person_id);
create index device_confirmation_device on device_confirmation (device_id);
create index device_confirmation_pending on device_confirmation (requested_at, id) where status = 'pending';
