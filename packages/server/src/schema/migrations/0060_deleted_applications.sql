-- An application that was deleted stays, found by nothing, until it has been told of the ends of its sessions.
alter table sign_in_application add column deleted_at timestamptz;
drop index sign_in_application_name;
create unique index sign_in_application_name on sign_in_application (lower(name)) where deleted_at is null;
