-- What a stream chooses: profile, identifiers, reasons; tokens for polling.

alter table ssf_stream
  add column profile text not null default 'interface'
    check (profile in ('interface', 'strict', 'caep_interop', 'okta', 'sgnl')),
  add column reason_fields text[] not null default '{reason_admin,reason_user}'
    check (reason_fields <@ array['reason_admin', 'reason_user']),
  add column reason_details text[] not null default '{issue_titles,device_name}'
    check (reason_details <@ array['issue_titles', 'device_name']),
  add column has_pairwise_identifiers boolean not null default false,
  -- Kept when the choice is taken back, so that the same identifiers come back with it.
  add column pairwise_secret_sealed bytea,
  add column omits_more_available boolean not null default false,
  add column uses_legacy_status_codes boolean not null default false,
  add check (not has_pairwise_identifiers
    or (pairwise_secret_sealed is not null and subject_form <> 'email'));

create table ssf_poll_token (
  id bigint generated always as identity primary key,
  ssf_stream_id bigint not null references ssf_stream (id) on delete cascade,
  secret_hash bytea not null unique check (length(secret_hash) = 32),
  secret_last_four text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);

create index ssf_poll_token_stream on ssf_poll_token (ssf_stream_id);
