-- Sessions of admins in the console, and the one-time links that begin them. Both are known by the SHA-256 of a
-- token of 256 bits. Their times are those of the database.

create table admin_session (
  id bigint generated always as identity primary key,
  admin_id bigint not null references admin_user (id) on delete cascade,
  token_hash bytea not null unique,
  -- The token before the last step-up: requests that were under way then are still answered, for some seconds.
  previous_token_hash bytea unique,
  rotated_at timestamptz,
  -- How the admin signed in.
  method text not null check (method in ('link', 'demo', 'passkey', 'password', 'oidc')),
  -- Opens nothing until the admin has a way to sign in.
  is_setup_pending boolean not null default false,
  stepped_up_at timestamptz,
  user_agent text,
  ip_address text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index admin_session_admin on admin_session (admin_id);
create index admin_session_expiry on admin_session (expires_at);

create table admin_sign_in_link (
  id bigint generated always as identity primary key,
  -- Null for the link of the first admin, who does not exist yet.
  admin_id bigint references admin_user (id) on delete cascade,
  kind text not null check (kind in ('first_admin', 'invitation', 'recovery', 'demo')),
  token_hash bytea not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index admin_sign_in_link_admin on admin_sign_in_link (admin_id);
create index admin_sign_in_link_expiry on admin_sign_in_link (expires_at);
