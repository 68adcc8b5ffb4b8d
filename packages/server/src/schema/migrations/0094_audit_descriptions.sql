-- Descriptions of the audit log are found by what 32 of them together say, in lower case: whole ones, each once, with one
-- zero for every number, so that those of many devices are one; and the words with digits. A phrase of words that all
-- blocks have is looked for as a phrase, and not in the entries. The version before goes on with `audit_text_block`.
create table audit_description_block (
  block bigint primary key,
  texts text not null
);
create index audit_description_block_texts on audit_description_block using gin (texts gin_trgm_ops);

-- Writes the rows of up to so many blocks, and answers whether there are more. The role of the service may not write to
-- the table itself.
create function summarise_audit_descriptions(blocks_max integer) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  first_block bigint := (select coalesce(max(block) + 1, 0) from audit_description_block);
  end_block bigint := (select (settled_sequence + 1) >> 5 from audit_chain);
  next_block bigint;
begin
  select sequence >> 5 into next_block from audit_entry
    where sequence >= first_block << 5 and sequence < end_block << 5
    order by sequence offset blocks_max * 32 limit 1;
  insert into audit_description_block (block, texts)
    select sequence >> 5,
      E'\n' || string_agg(distinct regexp_replace(said, '[0-9]+', '0', 'g') collate "C", E'\n') || E'\n'
        || coalesce(' ' || string_agg(distinct word[1] collate "C", ' ') || ' ', '')
    from audit_entry, lower(description) said
      left join lateral regexp_matches(said, '[^ ]*[0-9][^ ]*', 'g') word on true
    where sequence >= first_block << 5 and sequence < coalesce(next_block, end_block) << 5
    group by 1;
  return next_block is not null;
end
$$;
revoke execute on function summarise_audit_descriptions(integer) from public;

-- As before, with both tables of blocks.
create or replace function cut_audit_chain(through bigint) returns bigint
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
  if exists (select from audit_checkpoint
      where size < through and signed_at > now() - interval '30 days') then
    raise exception 'a checkpoint of the last 30 days ends before %', through;
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
  delete from audit_text_block where block < (select min(sequence) >> 5 from audit_entry);
  delete from audit_description_block where block < (select min(sequence) >> 5 from audit_entry);
  return deleted;
end
$$;
