-- Sign-ins as they are opened, extended and closed.

alter table auth_log_session
  add column timeout_seconds integer not null default 900,
  add column expires_at timestamptz,
  add constraint auth_log_session_expires_at_check
    check (expires_at is null or result is null);

comment on column auth_log_session.expires_at is
  'When a sign-in under way counts as abandoned; null once it has ended.';

create index auth_log_session_expires_at on auth_log_session (expires_at)
  where expires_at is not null;
