-- Sign-ins count by where they come from, those that failed lately with those under way. Of an IPv6 address its network
-- counts. Those of the version before have no bucket, and are over within minutes.
alter table sign_in_attempt add column address_bucket text;
create index sign_in_attempt_bucket on sign_in_attempt (address_bucket) where ended_at is null;
create index sign_in_attempt_failed on sign_in_attempt (address_bucket, ended_at)
  where stage in ('refused', 'abandoned');
drop index sign_in_attempt_address;
