-- Admins who are kept out for a while; the identity provider of the organisation, by which invited admins sign in,
-- and whom it knows them as.

alter table admin_user add column deactivated_at timestamptz;
alter table admin_user add column last_sign_in_at timestamptz;

create table admin_identity_provider (
  id bigint generated always as identity primary key,
  is_single boolean not null default true unique check (is_single),
  name text not null,
  issuer text not null,
  client_id text not null,
  client_secret_sealed bytea not null,
  enabled boolean not null,
  -- Null: the groups of an admin decide nothing.
  group_claim text,
  full_access_groups text[] not null default '{}',
  limited_access_groups text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table admin_identity (
  id bigint generated always as identity primary key,
  admin_id bigint not null references admin_user (id) on delete cascade,
  issuer text not null,
  subject text not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  unique (issuer, subject),
  unique (admin_id, issuer)
);
