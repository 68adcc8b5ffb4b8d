-- What admins decide about checks and devices: exemptions, registrations, custom checks.

create table exemption_request (
  id bigint generated always as identity primary key,
  device_id bigint not null references device (id) on delete cascade,
  requester_person_id bigint references person (id) on delete set null,
  requester_message text not null,
  status text not null default 'open'
    check (status in ('open', 'withdrawn', 'approved', 'denied')),
  -- An approval then covers all issues of the same checks on the device, later ones too.
  covers_future_issues boolean not null default false,
  -- When the exemption ends; null for never.
  expires_at timestamptz,
  internal_explanation text,
  denial_explanation text,
  requested_at timestamptz not null,
  decided_at timestamptz,
  decided_by text,
  updated_at timestamptz not null,
  check ((status in ('approved', 'denied')) = (decided_at is not null))
);
create index exemption_request_device on exemption_request (device_id, id);
create index exemption_request_approved on exemption_request (device_id) where status = 'approved';
create index exemption_request_requester on exemption_request (requester_person_id, id);
create index exemption_request_status on exemption_request (status, id);
create index exemption_request_requested_at on exemption_request (requested_at);
create index exemption_request_updated_at on exemption_request (updated_at);
create index exemption_request_message_trgm on exemption_request
  using gin (requester_message gin_trgm_ops);

-- The issues that were asked for.
create table exemption_request_issue (
  exemption_request_id bigint not null references exemption_request (id) on delete cascade,
  issue_id bigint not null references issue (id) on delete cascade,
  primary key (exemption_request_id, issue_id)
);
create index exemption_request_issue_issue on exemption_request_issue (issue_id);

-- The checks of these issues; they outlive the issues.
create table exemption_request_check (
  exemption_request_id bigint not null references exemption_request (id) on delete cascade,
  check_id bigint not null references posture_check (id) on delete cascade,
  primary key (exemption_request_id, check_id)
);
create index exemption_request_check_check on exemption_request_check (check_id);

create table registration_request (
  id bigint generated always as identity primary key,
  device_id bigint not null references device (id) on delete cascade,
  requester_person_id bigint references person (id) on delete set null,
  requester_message text not null,
  status text not null default 'pending' check (status in ('pending', 'approved', 'denied')),
  internal_approval_note text,
  internal_denial_note text,
  end_user_denial_note text,
  requested_at timestamptz not null,
  decided_at timestamptz,
  decided_by text,
  updated_at timestamptz not null,
  check ((status = 'pending') = (decided_at is null))
);
create unique index registration_request_pending on registration_request
  (device_id, requester_person_id) where status = 'pending';
create index registration_request_device on registration_request (device_id, id);
create index registration_request_requester on registration_request (requester_person_id, id);
create index registration_request_status on registration_request (status, id);
create index registration_request_requested_at on registration_request (requested_at);
create index registration_request_updated_at on registration_request (updated_at);
create index registration_request_message_trgm on registration_request
  using gin (requester_message gin_trgm_ops);

create table custom_check_draft (
  id bigint generated always as identity primary key,
  name text not null,
  slug text not null unique,
  description text not null default '',
  issue_title text not null default '',
  check_type text not null default 'osquery' check (check_type in ('osquery', 'external')),
  target_type text not null default 'devices' check (target_type in ('devices', 'people')),
  osquery_sql text not null default '',
  platforms text[] not null default '{}'
    check (platforms <@ array['darwin', 'windows', 'linux']),
  requires_primary_key boolean not null default false,
  primary_key_column text not null default '',
  rationale_template text not null default '',
  fix_instructions_template text not null default '',
  privacy_info text not null default '',
  template_data_examples jsonb not null default '{}',
  privacy_center_example_data jsonb not null default '{}',
  -- What is missing or bad: an array of {section, field, state, message}.
  problems jsonb not null default '[]',
  -- The check that this draft was published as.
  custom_check_id bigint unique references posture_check (id) on delete set null,
  published_at timestamptz,
  -- Edited since it was published.
  has_unpublished_changes boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (published_at is not null or not has_unpublished_changes)
);
create index custom_check_draft_created_at on custom_check_draft (created_at);
create index custom_check_draft_updated_at on custom_check_draft (updated_at);
