-- Whose registration of a device ended last, and when: the person is told so at the next sign-in with it.
alter table device
  add column former_owner_person_id bigint references person (id) on delete set null,
  add column registration_ended_at timestamptz;
create index device_former_owner on device (former_owner_person_id) where former_owner_person_id is not null;

-- Sessions end with the registration of their device as well.
alter table sign_in_granted_session
  drop constraint sign_in_granted_session_end_reason_check,
  add constraint sign_in_granted_session_end_reason_check check (end_reason in ('device_blocked', 'device_gone',
    'person_gone', 'owner_changed', 'registration_ended', 'admin', 'logout', 'application'));
