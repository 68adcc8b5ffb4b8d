-- Signing in here: who sends people, whom they are known to elsewhere, what is decided, each sign-in under way, what
-- it granted, and what the provider of ID tokens remembers.

create table sign_in_upstream_provider (
  id bigint generated always as identity primary key,
  name text not null,
  issuer text not null,
  client_id text not null,
  client_secret_sealed bytea not null,
  -- What is asked of it.
  scopes text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (issuer, client_id)
);
create unique index sign_in_upstream_provider_name on sign_in_upstream_provider (lower(name));

create table sign_in_application (
  id bigint generated always as identity primary key,
  name text not null,
  kind text not null check (kind in ('oidc', 'entra', 'forward_auth')),
  -- Where the person comes from: a hint of whoever asks, or an upstream provider.
  mode text not null check (mode in ('step_up', 'broker')),
  client_id text not null unique,
  -- Null for public clients, for those that sign with keys of their own, and for forward authentication.
  client_secret_sealed bytea,
  token_endpoint_auth_method text not null check (
    token_endpoint_auth_method in ('client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none')),
  redirect_uris text[] not null default '{}',
  post_logout_redirect_uris text[] not null default '{}',
  jwks jsonb,
  jwks_uri text,
  backchannel_logout_uri text,
  upstream_provider_id bigint references sign_in_upstream_provider (id),
  minimum_assurance text not null default 'live'
    check (minimum_assurance in ('live', 'hardware', 'approved', 'key')),
  is_serial_claimed boolean not null default false,
  claims_profile text not null default 'standard' check (claims_profile in ('standard', 'okta')),
  entra_tenant_id text,
  entra_app_id text,
  entra_cloud text check (entra_cloud in ('global', 'us_government', 'china')),
  -- Of forward authentication: the hosts that people may be sent back to.
  hosts text[] not null default '{}',
  session_seconds integer not null,
  is_enabled boolean not null default true,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (mode <> 'broker' or upstream_provider_id is not null),
  check (kind <> 'entra' or (entra_tenant_id is not null and entra_app_id is not null and entra_cloud is not null))
);
create unique index sign_in_application_name on sign_in_application (lower(name));
create index sign_in_application_upstream on sign_in_application (upstream_provider_id);

create table sign_in_policy (
  id bigint generated always as identity primary key,
  is_single boolean not null default true unique check (is_single),
  -- In this order; none of them refuses whoever cannot prove a device.
  fallbacks text[] not null,
  browser_key_days integer not null,
  first_registration text not null check (first_registration in ('on_first_use', 'admin_approval', 'refuse')),
  further_registration text not null check (
    further_registration in ('registered_device', 'admin_approval', 'registered_device_or_admin')),
  unreachable_device text not null check (unreachable_device in ('refuse', 'last_known')),
  last_known_minutes integer not null,
  upstream_outage text not null check (upstream_outage in ('refuse', 'remembered_person')),
  break_glass_group_id bigint references person_group (id) on delete set null,
  recheck_age_minutes integer not null,
  -- [{name, path}]: programs that own the sockets of browsers, such as local proxies.
  trusted_local_proxies jsonb not null default '[]',
  -- {name, proxies}: the header in which a proxy in front of the service tells the client certificate; null takes none.
  certificate_header jsonb,
  brand_name text,
  -- {type, data}: a picture, base64.
  brand_logo jsonb,
  brand_colour text,
  updated_at timestamptz not null
);
create index sign_in_policy_break_glass on sign_in_policy (break_glass_group_id);

create table sign_in_attempt (
  id uuid primary key,
  -- SHA-256 of what the cookie of its browser holds.
  secret_hash bytea not null,
  -- Null until it is known who signs in.
  auth_log_session_id bigint references auth_log_session (id) on delete set null,
  -- Null for the pages of the person.
  application_id bigint references sign_in_application (id) on delete cascade,
  -- How the browser gets back to whoever sent it.
  interaction jsonb not null,
  stage text not null check (stage in ('person', 'device', 'registration', 'fallback', 'posture', 'blocked', 'warned',
    'done', 'refused', 'abandoned')),
  login_hint text,
  person_id bigint references person (id) on delete set null,
  device_id bigint references device (id) on delete set null,
  assurance text check (assurance in ('live', 'hardware', 'approved', 'key', 'none')),
  -- How the person was authenticated, as the upstream provider tells it.
  amr text[] not null default '{}',
  evidence jsonb not null default '{}',
  fallback_state jsonb not null default '{}',
  refusal_code text,
  language text not null,
  ip_address text,
  user_agent text,
  started_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  -- When the browser was sent back with what this attempt came to: once.
  returned_at timestamptz,
  revision integer not null default 1,
  txn text
);
create index sign_in_attempt_session on sign_in_attempt (auth_log_session_id);
create index sign_in_attempt_application on sign_in_attempt (application_id);
create index sign_in_attempt_person on sign_in_attempt (person_id);
create index sign_in_attempt_device on sign_in_attempt (device_id);
create index sign_in_attempt_expiry on sign_in_attempt (expires_at) where ended_at is null;
create index sign_in_attempt_address on sign_in_attempt (ip_address) where ended_at is null;
create index sign_in_attempt_started on sign_in_attempt (started_at, id);

create table sign_in_granted_session (
  id uuid primary key,
  -- What relying parties know the session by, in ID tokens and logout tokens.
  sid text not null unique,
  application_id bigint references sign_in_application (id) on delete cascade,
  person_id bigint not null references person (id) on delete cascade,
  -- Null where nothing had to be proven, or the device is gone.
  device_id bigint references device (id) on delete set null,
  assurance text not null check (assurance in ('live', 'hardware', 'approved', 'key', 'none')),
  attempt_id uuid,
  -- SHA-256 of the cookie, where the session is a cookie of ours.
  cookie_hash bytea unique,
  granted_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  end_reason text check (end_reason in ('device_blocked', 'device_gone', 'person_gone', 'admin', 'logout', 'application')),
  -- When the application is to be told of the end; null when there is nothing to tell, or it knows.
  logout_due_at timestamptz,
  logout_attempts integer not null default 0
);
create index sign_in_granted_session_application on sign_in_granted_session (application_id);
create index sign_in_granted_session_person on sign_in_granted_session (person_id);
create index sign_in_granted_session_device on sign_in_granted_session (device_id);
create index sign_in_granted_session_expiry on sign_in_granted_session (expires_at, id);
create index sign_in_granted_session_logout on sign_in_granted_session (logout_due_at)
  where logout_due_at is not null;

-- Sessions, grants, codes and tokens of the provider of ID tokens; each ends by itself.
create table sign_in_provider_state (
  -- SHA-256 of the kind of the record and of what it is known by: whoever reads the table can use none of it.
  key_hash bytea primary key,
  kind text not null,
  payload_sealed bytea not null,
  grant_hash bytea,
  uid_hash bytea,
  consumed_at timestamptz,
  expires_at timestamptz not null
);
create index sign_in_provider_state_grant on sign_in_provider_state (grant_hash) where grant_hash is not null;
create index sign_in_provider_state_uid on sign_in_provider_state (uid_hash) where uid_hash is not null;
create index sign_in_provider_state_expiry on sign_in_provider_state (expires_at, key_hash);
