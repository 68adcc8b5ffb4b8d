-- Lists of live sessions: of the sessions that are kept few are live.
create index sign_in_granted_session_live on sign_in_granted_session (expires_at) where ended_at is null;
