-- Which account of Entra a person signs in by: user names are changed there and given to somebody else, the pair of
-- tenant and object is not.
create table entra_account (
  id uuid primary key,
  tenant_id text not null,
  object_id text not null,
  person_id bigint not null references person (id) on delete cascade,
  -- What Entra called the account when it was first seen.
  username text not null,
  first_seen_at timestamptz not null,
  constraint entra_account_account_key unique (tenant_id, object_id),
  constraint entra_account_person_key unique (person_id, tenant_id)
);
