-- The audit chain beside the entries. A change inserts its entries and waits for nobody; one process after
-- the other gives them their places in the chain soon after the commit. Checkpoints of the chain are signed
-- and leave the database, and what is older than its retention is cut where a checkpoint covers it.

-- Programs of the version before append and number at once under this lock; they wait until this is done.
select pg_advisory_xact_lock(7201, 1);

-- Entries ------------------------------------------------------------------------------------------

-- Entries that are appended from now on have their hashes in `audit_link`.
alter table audit_entry alter column previous_hash drop not null;
alter table audit_entry alter column hash drop not null;

-- Numbers for entries, drawn in their change: in ascending order, not without gaps. They begin behind what
-- a transaction that waits for the lock may append yet by the rule of before.
create sequence audit_entry_number;
select setval('audit_entry_number', coalesce(max(sequence) + 1000, 1), max(sequence) is not null)
  from audit_entry;

-- Inserts entries, which are chained later. `entries` is a JSON array; each element carries the columns.
-- The transaction has its id before it draws a number: so whoever has a later id, and finds every earlier
-- one ended, knows that no lower number is still to come.
create or replace function append_audit_entries(entries jsonb) returns bigint
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  last_sequence bigint;
begin
  perform pg_current_xact_id();
  with appended as (
    insert into audit_entry (sequence, recorded_at, actor_type, actor_id, actor_name, actor_email,
      action, target_type, target_id, description, before, after, txn, request_id, ip_address)
    select nextval('audit_entry_number'), (entry->>'recorded_at')::timestamptz, entry->>'actor_type',
      entry->>'actor_id', entry->>'actor_name', entry->>'actor_email', entry->>'action',
      entry->>'target_type', entry->>'target_id', entry->>'description',
      nullif(entry->'before', 'null'::jsonb), nullif(entry->'after', 'null'::jsonb),
      entry->>'txn', entry->>'request_id', entry->>'ip_address'
    from jsonb_array_elements(entries) entry
    returning sequence)
  select max(sequence) into last_sequence from appended;
  return last_sequence;
end
$$;
revoke execute on function append_audit_entries(jsonb) from public;
revoke execute on function append_pending_audit_entries() from public;

-- The chain ----------------------------------------------------------------------------------------

-- The place of an entry, from 1 without gaps, and its hash: SHA-256 over the hash before, the place and the
-- canonical text of the entry. Without a foreign key: checking it would write to the entry again.
create table audit_link (
  position bigint primary key,
  entry_sequence bigint not null unique,
  hash bytea not null check (octet_length(hash) = 32)
);

-- Nodes of the Merkle tree (RFC 6962 section 2.1) whose leaves are the hashes of the chain: at level 1 the
-- roots of 256 leaves each, at level 2 those of 65,536, and so on. From them every root and proof is made,
-- also of leaves that were cut.
create table audit_subtree (
  level smallint not null check (level > 0),
  index bigint not null,
  hash bytea not null check (octet_length(hash) = 32),
  primary key (level, index)
);

-- How far the chain is.
create table audit_chain (
  id smallint primary key default 1 check (id = 1),
  -- The entries in the chain, and the hash of the last one.
  size bigint not null default 0,
  head bytea not null default decode(repeat('00', 32), 'hex') check (octet_length(head) = 32),
  -- The roots of the complete subtrees that make up the tree, the largest first, 32 bytes each.
  frontier bytea not null default '' check (octet_length(frontier) % 32 = 0),
  -- No entry up to this number is unchained, or will be.
  settled_sequence bigint not null default 0,
  -- The entries up to this place are gone; a multiple of 256. The hash of the last of them.
  cut_position bigint not null default 0 check (cut_position % 256 = 0),
  cut_head bytea not null default decode(repeat('00', 32), 'hex') check (octet_length(cut_head) = 32),
  cut_at timestamptz
);
insert into audit_chain default values;

-- Puts entries into the chain, as they were numbered and hashed under the advisory lock of the chain.
create function link_audit_entries(
  first_position bigint, entry_sequences bigint[], hashes bytea[],
  subtree_levels smallint[], subtree_indexes bigint[], subtree_hashes bytea[],
  new_frontier bytea, new_settled bigint
) returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare
  linked bigint;
begin
  update audit_chain set size = size + cardinality(hashes), head = hashes[cardinality(hashes)],
      frontier = new_frontier, settled_sequence = greatest(settled_sequence, new_settled)
    where id = 1 and size = first_position - 1;
  if not found then
    raise exception 'the audit chain has moved on' using errcode = 'serialization_failure';
  end if;
  insert into audit_link (position, entry_sequence, hash)
    select first_position + place - 1, audit_entry.sequence, linking.hash
    from unnest(entry_sequences, hashes) with ordinality as linking (entry_sequence, hash, place)
    join audit_entry on audit_entry.sequence = linking.entry_sequence;
  get diagnostics linked = row_count;
  if linked <> cardinality(entry_sequences) or linked <> cardinality(hashes) then
    raise exception 'only entries that are there can be chained';
  end if;
  insert into audit_subtree (level, index, hash)
    select * from unnest(subtree_levels, subtree_indexes, subtree_hashes);
end
$$;
revoke execute on function link_audit_entries(
  bigint, bigint[], bytea[], smallint[], bigint[], bytea[], bytea, bigint) from public;

-- Checkpoints --------------------------------------------------------------------------------------

-- The keys that sign checkpoints; the last one that is not retired signs.
create table audit_checkpoint_key (
  -- The key id of the signed note, in hex.
  id text primary key,
  -- The origin of its checkpoints: which log this is. Another key goes on with it.
  origin text not null,
  public_key bytea not null check (octet_length(public_key) = 32),
  private_key_sealed bytea not null,
  created_at timestamptz not null,
  retired_at timestamptz
);

-- What was signed, as it left the database.
create table audit_checkpoint (
  id bigint generated always as identity primary key,
  origin text not null,
  size bigint not null,
  signed_at timestamptz not null,
  note text not null
);
create index audit_checkpoint_size on audit_checkpoint (origin, size);

-- Append-only --------------------------------------------------------------------------------------

-- Nothing is changed. What is deleted must have been cut: `cut_audit_chain` moves the cut first.
create function audit_rows_are_kept() returns trigger language plpgsql as $$
declare
  cut bigint;
begin
  select cut_position into cut from public.audit_chain;
  if tg_table_name = 'audit_link' then
    if old.position <= cut then return old; end if;
  elsif tg_table_name = 'audit_checkpoint' then
    if old.size < cut then return old; end if;
  elsif tg_table_name = 'audit_entry' then
    if exists (select from public.audit_link
        where entry_sequence = old.sequence and position <= cut) then
      return old;
    end if;
  end if;
  raise exception 'audit entries are append-only';
end
$$;

drop trigger audit_entry_append_only on audit_entry;
create trigger audit_entry_append_only before update or truncate on audit_entry
  for each statement execute function audit_entry_is_append_only();
create trigger audit_entry_kept before delete on audit_entry
  for each row execute function audit_rows_are_kept();
create trigger audit_link_append_only before update or truncate on audit_link
  for each statement execute function audit_entry_is_append_only();
create trigger audit_link_kept before delete on audit_link
  for each row execute function audit_rows_are_kept();
create trigger audit_subtree_append_only before update or delete or truncate on audit_subtree
  for each statement execute function audit_entry_is_append_only();
create trigger audit_checkpoint_append_only before update or truncate on audit_checkpoint
  for each statement execute function audit_entry_is_append_only();
create trigger audit_checkpoint_kept before delete on audit_checkpoint
  for each row execute function audit_rows_are_kept();
create trigger audit_chain_kept before delete or truncate on audit_chain
  for each statement execute function audit_entry_is_append_only();

-- Deletes the entries up to a place, which becomes the beginning of the chain, and answers how many. The
-- hash before it and the nodes of the tree stay, so that the rest goes on proving itself. Whoever may call
-- this can delete nothing that is young or that no checkpoint covers.
create function cut_audit_chain(through bigint) returns bigint
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  chain audit_chain;
  deleted bigint;
begin
  select * into strict chain from audit_chain for update;
  if through <= chain.cut_position or through > chain.size or through % 256 <> 0 then
    raise exception 'the audit chain cannot be cut at %', through;
  end if;
  if not exists (select from audit_checkpoint where size >= through and size <= chain.size) then
    raise exception 'no checkpoint covers the audit chain up to %', through;
  end if;
  if exists (select from audit_link join audit_entry on sequence = entry_sequence
      where position > chain.cut_position and position <= through
        and recorded_at > now() - interval '30 days') then
    raise exception 'entries younger than 30 days cannot be cut';
  end if;
  update audit_chain set cut_position = through, cut_at = now(),
    cut_head = (select hash from audit_link where position = through);
  delete from audit_entry using audit_link
    where sequence = entry_sequence and position > chain.cut_position and position <= through;
  get diagnostics deleted = row_count;
  delete from audit_link where position > chain.cut_position and position <= through;
  delete from audit_checkpoint where size < through;
  return deleted;
end
$$;
revoke execute on function cut_audit_chain(bigint) from public;
