-- The keys that browsers hold: on which device of its person a browser ran when it was last proven.

create table browser_key (
  id uuid primary key,
  person_id bigint not null references person (id) on delete cascade,
  device_id bigint not null references device (id) on delete cascade,
  -- The public key of now: each sign-in puts another one in its place.
  public_jwk jsonb not null,
  user_agent text,
  bound_at timestamptz not null,
  last_used_at timestamptz not null,
  -- When a browser with this key was last proven live on the device.
  last_proven_at timestamptz not null,
  ended_at timestamptz,
  -- copied: a key came that another one has taken the place of. other_device: its browser was proven on another device.
  end_reason text check (end_reason in ('copied', 'other_device', 'person', 'admin', 'replaced')),
  check ((ended_at is null) = (end_reason is null))
);
create index browser_key_person on browser_key (person_id);
create index browser_key_device on browser_key (device_id);
create index browser_key_last_used on browser_key (last_used_at, id);

-- The former public keys of a browser: whoever comes with one holds a copy.
create table browser_key_former (
  -- RFC 7638.
  thumbprint text primary key,
  browser_key_id uuid not null references browser_key (id) on delete cascade
);
create index browser_key_former_key on browser_key_former (browser_key_id);

-- What the browser of a sign-in has shown: once.
alter table sign_in_attempt
  add column browser_key_shown_at timestamptz,
  add column browser_key_id uuid references browser_key (id) on delete set null;
create index sign_in_attempt_browser_key on sign_in_attempt (browser_key_id) where browser_key_id is not null;

alter table sign_in_granted_session
  drop constraint sign_in_granted_session_end_reason_check,
  add constraint sign_in_granted_session_end_reason_check check (end_reason in (
    'device_blocked', 'device_gone', 'person_gone', 'owner_changed', 'registration_ended', 'admin', 'logout', 'application',
    'browser_key'));
