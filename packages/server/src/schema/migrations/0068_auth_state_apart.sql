-- The status of devices to find them by, apart from the device: with an index on the device each change of a status
-- writes an entry into every one of its indexes, its texts among them.
drop index device_auth_state;
create table device_auth_state (
  device_id bigint primary key references device (id) on delete cascade,
  auth_state text not null
) with (fillfactor = 70);
insert into device_auth_state (device_id, auth_state) select id, auth_state from device;
create index device_auth_state_devices on device_auth_state (auth_state, device_id);

create function device_auth_state_follows() returns trigger language plpgsql as $$
begin
  insert into device_auth_state (device_id, auth_state) values (new.id, new.auth_state)
  on conflict (device_id) do update set auth_state = excluded.auth_state;
  return null;
end $$;
create trigger device_auth_state_inserted after insert on device
  for each row execute function device_auth_state_follows();
create trigger device_auth_state_updated after update of auth_state on device
  for each row when (old.auth_state <> new.auth_state) execute function device_auth_state_follows();
