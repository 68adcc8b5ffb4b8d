-- Until when the person of an issue has put it off, and since when: an issue is put off once in a week.
alter table issue
  add column snoozed_at timestamptz,
  add column snoozed_until timestamptz,
  add constraint issue_snoozed_check check (num_nonnulls(snoozed_at, snoozed_until) <> 1);
