-- People and their groups as an identity provider keeps them.

alter table person
  -- Null until an identity provider manages the person; the email address stands in for it.
  add column user_name text,
  -- What the identity provider calls the person.
  add column external_id text,
  add column display_name text,
  add column formatted_name text,
  add column given_name text,
  add column family_name text,
  -- Array of {value, type, display, primary}; null when `email` is the only one.
  add column emails jsonb,
  -- The identity provider has deleted the person; the record stays.
  add column provisioning_ended_at timestamptz,
  add check (provisioning_ended_at is null or deprovisioned_at is not null);
create unique index person_user_name_key on person (lower(user_name))
  where provisioning_ended_at is null;
create index person_effective_user_name on person (lower(coalesce(user_name, email)));
create index person_external_id on person (external_id) where external_id is not null;
create index person_deprovisioned on person (id) where deprovisioned_at is not null;

-- Ids come from the sequence of `person`: no group has the id of a person (RFC 7643 section 3.1).
create table person_group (
  id bigint primary key default nextval('person_id_seq'),
  name text not null,
  external_id text,
  -- Raised with every change of the group or its members.
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index person_group_name_key on person_group (lower(name));
create index person_group_name_trgm on person_group using gin (name gin_trgm_ops);
create index person_group_external_id on person_group (external_id) where external_id is not null;
create index person_group_updated_at on person_group (updated_at);

create table person_group_member (
  person_group_id bigint not null references person_group (id) on delete cascade,
  person_id bigint not null references person (id) on delete cascade,
  added_at timestamptz not null,
  primary key (person_group_id, person_id)
);
create index person_group_member_person on person_group_member (person_id, person_group_id);
