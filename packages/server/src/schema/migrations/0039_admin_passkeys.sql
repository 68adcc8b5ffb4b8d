-- Passkeys of admins, and the challenges that were used with them: none is taken twice.

create table admin_passkey (
  id bigint generated always as identity primary key,
  admin_id bigint not null references admin_user (id) on delete cascade,
  credential_id bytea not null unique,
  -- COSE.
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  is_backed_up boolean not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index admin_passkey_admin on admin_passkey (admin_id);

create table admin_used_challenge (
  challenge_hash bytea primary key,
  expires_at timestamptz not null
);
create index admin_used_challenge_expiry on admin_used_challenge (expires_at);
