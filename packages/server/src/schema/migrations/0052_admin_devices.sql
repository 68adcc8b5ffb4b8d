-- Admins may be asked to use the console from a device that is trusted.

alter table organisation add column admins_require_trusted_device boolean not null default false;

-- What the proof of the device granted: looked at with every use of the session.
alter table admin_session
  add column granted_session_id uuid references sign_in_granted_session (id) on delete set null;
create index admin_session_granted_session on admin_session (granted_session_id)
  where granted_session_id is not null;

-- Sessions of admins end in many ways, by time among them: what was granted to one is over with it, in each of them.
create function end_grant_of_admin_session() returns trigger language plpgsql as $$
begin
  update sign_in_granted_session set ended_at = now(), end_reason = 'logout'
  where id = old.granted_session_id and ended_at is null and expires_at > now();
  return null;
end $$;
create trigger admin_session_deleted after delete on admin_session
  for each row when (old.granted_session_id is not null)
  execute function end_grant_of_admin_session();
create trigger admin_session_bound_anew after update of granted_session_id on admin_session
  for each row when (old.granted_session_id is not null
    and new.granted_session_id is distinct from old.granted_session_id)
  execute function end_grant_of_admin_session();
