-- Descriptions of the audit log are found by the words of 32 entries together: most of the trigrams of a description are
-- those of the ones beside it, and an index of each by itself was the largest part of what an entry writes. The rows are
-- written when their entries are settled; what is not in one yet is read.
create table audit_text_block (
  block bigint primary key,
  words text not null
);

-- Each word once, between spaces.
create index audit_text_block_words on audit_text_block using gin (words gin_trgm_ops);
create index audit_entry_block on audit_entry ((sequence >> 5));
drop index audit_entry_texts;

-- Writes the rows of up to so many blocks, and answers whether there are more. The role of the service may not write to
-- the table itself.
create function summarise_audit_texts(blocks_max integer) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  first_block bigint := (select coalesce(max(block) + 1, 0) from audit_text_block);
  end_block bigint := (select (settled_sequence + 1) >> 5 from audit_chain);
  next_block bigint;
begin
  select sequence >> 5 into next_block from audit_entry
    where sequence >= first_block << 5 and sequence < end_block << 5
    order by sequence offset blocks_max * 32 limit 1;
  insert into audit_text_block (block, words)
    select sequence >> 5, ' ' || coalesce(string_agg(distinct word, ' '), '') || ' '
    from audit_entry left join lateral string_to_table(description, ' ') word on true
    where sequence >= first_block << 5 and sequence < coalesce(next_block, end_block) << 5
    group by 1;
  return next_block is not null;
end
$$;
revoke execute on function summarise_audit_texts(integer) from public;

-- As before, with the words of entries that are gone.
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
  return deleted;
end
$$;
