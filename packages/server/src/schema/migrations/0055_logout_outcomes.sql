-- What became of telling the application that a session has ended: null while it is to be told, and where nothing was
-- to be told; and what the application, or the way to it, answered last when it did not take that.
alter table sign_in_granted_session
  add column logout_outcome text check (logout_outcome in ('told', 'given_up')),
  add column logout_failure text;
