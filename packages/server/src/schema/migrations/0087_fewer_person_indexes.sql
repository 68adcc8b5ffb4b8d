-- Whom an identity provider calls nothing has no entry among the user names. Their addresses stand in for names, as those of
-- others do for people who are found by either: live people have an index of these, and few are deprovisioned.
create unique index person_user_name on person (lower(user_name))
  where provisioning_ended_at is null and user_name is not null;
create index person_deprovisioned_email on person (lower(email)) where deprovisioned_at is not null;
