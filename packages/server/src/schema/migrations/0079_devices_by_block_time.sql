-- When a device will be blocked stands beside its status, to find devices by: among a million devices a scan of all takes
-- seconds. Only devices that have such a time have an entry in the index. Writers are waited for: a change that had begun
-- would leave its time out.
lock table device in share row exclusive mode;
alter table device_auth_state add column will_block_at timestamptz;
update device_auth_state state set will_block_at = device.will_block_at
  from device where device.id = state.device_id and device.will_block_at is not null;
create index device_auth_state_will_block_at on device_auth_state (will_block_at, device_id)
  where will_block_at is not null;

create or replace function device_auth_state_follows() returns trigger language plpgsql as $$
begin
  update device_auth_state set auth_state = new.auth_state, will_block_at = new.will_block_at
    where device_id = new.id;
  if not found then
    insert into device_auth_state (device_id, auth_state, will_block_at)
    values (new.id, new.auth_state, new.will_block_at)
    on conflict (device_id) do update
      set auth_state = excluded.auth_state, will_block_at = excluded.will_block_at;
  end if;
  return null;
end $$;
create or replace trigger device_auth_state_updated after update of auth_state, will_block_at on device
  for each row
  when (old.auth_state <> new.auth_state or old.will_block_at is distinct from new.will_block_at)
  execute function device_auth_state_follows();
