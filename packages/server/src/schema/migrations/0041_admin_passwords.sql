-- Passwords of admins, each with the authenticator app whose codes it needs.

create table admin_password (
  admin_id bigint primary key references admin_user (id) on delete cascade,
  -- Argon2id with its parameters and salt (PHC string format).
  password_hash text not null,
  totp_secret_sealed bytea not null,
  -- The time step (RFC 6238) of the last code that was taken: none of it or before it is taken again.
  last_used_step bigint not null,
  -- Refused codes in a row, of whoever knew the password or had a session.
  wrong_code_count integer not null default 0,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  last_used_at timestamptz
);
