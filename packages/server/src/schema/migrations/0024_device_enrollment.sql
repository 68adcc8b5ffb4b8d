-- Enrolling again as a known host, secrets with a maximum of uses, and hardware that two devices claim.
--
-- The version before goes on beside this one: it leaves the new columns as they are.

alter table enrollment_secret
  -- Enrollments that the secret is good for; null for any number.
  add column uses_max bigint check (uses_max > 0),
  -- Uses within an hour from which on admins are told; null for never.
  add column alarm_uses_per_hour bigint default 100 check (alarm_uses_per_hour > 0),
  -- The hour in which uses are counted at present.
  add column hour_began_at timestamptz,
  add column hour_uses bigint not null default 0,
  -- When admins were last told of an unusual number of uses.
  add column unusual_use_at timestamptz;

alter table device
  -- The address that the present node key was given to; null before this version.
  add column enrolled_from text,
  -- Since when another device has the same serial or hardware UUID.
  add column duplicate_hardware_since timestamptz;

-- As for serials: machines are found by hardware that is written in either case.
create index device_hardware_uuid_lower on device (lower(hardware_uuid));

update device set duplicate_hardware_since = now()
where exists (
  select from device other where other.id <> device.id and lower(other.serial) = lower(device.serial))
or exists (
  select from device other where other.id <> device.id
    and lower(other.hardware_uuid) = lower(device.hardware_uuid));

create table reenrollment_request (
  id bigint generated always as identity primary key,
  -- The device that the machine claims to be, or whose hardware it claims to have.
  device_id bigint not null references device (id) on delete cascade,
  reason text not null check (reason in ('live_node_key', 'known_hardware', 'other_owner')),
  status text not null default 'pending'
    check (status in ('pending', 'approved', 'denied', 'completed')),
  -- What the machine says of itself.
  host_identifier text not null,
  host_name text not null,
  serial text,
  hardware_uuid text,
  -- Where it asks from, and where the device was last heard of before.
  ip_address text,
  known_ip_address text,
  enrollment_secret_id bigint not null references enrollment_secret (id) on delete cascade,
  attempts_count bigint not null default 1,
  requested_at timestamptz not null,
  last_requested_at timestamptz not null,
  decided_at timestamptz,
  decided_by text,
  -- Until when an approval lets the machine in.
  approved_until timestamptz,
  updated_at timestamptz not null,
  check ((status = 'approved') = (approved_until is not null))
);
-- One for each machine that asks, until it was let in.
create unique index reenrollment_request_open on reenrollment_request
  (host_identifier, coalesce(ip_address, ''), enrollment_secret_id) where status <> 'completed';
create index reenrollment_request_device on reenrollment_request (device_id, id);
create index reenrollment_request_secret on reenrollment_request (enrollment_secret_id);
