-- Each application is told of the ends of its sessions by one worker at a time; one that does not answer is left alone
-- for a while. Null is free; `failures` counts those in a row.
create table sign_in_logout_turn (
  application_id bigint primary key references sign_in_application (id) on delete cascade,
  free_at timestamptz,
  failures integer not null default 0
);

-- What an application is to be told next.
drop index sign_in_granted_session_logout;
create index sign_in_granted_session_logout on sign_in_granted_session (application_id, logout_due_at)
  where logout_due_at is not null;
