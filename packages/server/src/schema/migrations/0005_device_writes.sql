-- What admins and other systems change about devices, and what other systems report of people.

alter table device
  add column deletion_requested_at timestamptz,
  add column deletion_requested_by text,
  -- Fixed when the deletion is requested: another setting later does not move it.
  add column deletion_due_at timestamptz,
  add check (num_nonnulls(deletion_requested_at, deletion_requested_by, deletion_due_at) in (0, 3));
create index device_deletion_due_at on device (deletion_due_at) where deletion_due_at is not null;

-- Agents of deleted devices keep trying to enroll with the secret that they have: they stay out until
-- they come with a secret that is newer than the deletion, or an admin lets them in again.
create table removed_host (
  host_identifier text primary key,
  device_name text not null,
  removed_at timestamptz not null
);

-- When the first device of a person was trusted without a question; null lets the next one be.
alter table person add column first_device_trusted_at timestamptz;
update person set first_device_trusted_at = (
  select min(device.registered_at) from device where device.owner_person_id = person.id);

-- The groups whose members may sign in with a device besides its owner.
create table device_authentication_group (
  device_id bigint not null references device (id) on delete cascade,
  person_group_id bigint not null references person_group (id) on delete cascade,
  primary key (device_id, person_group_id)
);
create index device_authentication_group_group on device_authentication_group (person_group_id);

create function count_device_group_members() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    update device_group set members_count = members_count + changed.count
      from (select device_group_id, count(*) from moved group by device_group_id) as changed
      where device_group.id = changed.device_group_id;
  else
    update device_group set members_count = members_count - changed.count
      from (select device_group_id, count(*) from moved group by device_group_id) as changed
      where device_group.id = changed.device_group_id;
  end if;
  return null;
end
$$;
create trigger device_group_member_inserted after insert on device_group_member
  referencing new table as moved
  for each statement execute function count_device_group_members();
create trigger device_group_member_deleted after delete on device_group_member
  referencing old table as moved
  for each statement execute function count_device_group_members();
update device_group set members_count = (
  select count(*) from device_group_member where device_group_id = device_group.id);

-- The last result of a check that targets people, as `check_result` is for devices.
create table person_check_result (
  id bigint generated always as identity primary key,
  person_id bigint not null references person (id) on delete cascade,
  check_id bigint not null references posture_check (id) on delete cascade,
  status text not null
    check (status in ('unknown', 'passing', 'failing', 'errored', 'inapplicable')),
  ran_at timestamptz not null,
  status_changed_at timestamptz not null,
  failing_since timestamptz,
  rows jsonb not null default '[]',
  error_message text,
  updated_at timestamptz not null,
  unique (person_id, check_id)
);
create index person_check_result_check on person_check_result (check_id, id);

create function person_check_result_leaves_counter() returns trigger language plpgsql as $$
begin
  update check_counter set device_count = device_count - 1
    where check_id = old.check_id and stripe = old.person_id % 16 and status = old.status;
  return null;
end
$$;
create trigger person_check_result_deleted after delete on person_check_result
  for each row execute function person_check_result_leaves_counter();

create index issue_person on issue (person_id, id) where person_id is not null;
