-- Notes that every entry up to a number is in the chain and that none is still to come, where nothing new is
-- chained with it. The role of the service may not write to `audit_chain` itself.
create function settle_audit_entries(through bigint) returns void
  language sql security definer set search_path = public, pg_temp as $$
  update audit_chain set settled_sequence = greatest(settled_sequence, through)
  where through <= (select max(sequence) from audit_entry)
$$;
revoke execute on function settle_audit_entries(bigint) from public;

-- As before, and never past the end of a checkpoint that was signed in the last 30 days: what somebody keeps
-- elsewhere proves something for that long at least. A chain that begins behind a younger checkpoint is forged.
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
  return deleted;
end
$$;
