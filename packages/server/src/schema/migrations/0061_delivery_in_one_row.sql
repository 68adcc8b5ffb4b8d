-- What a delivery leaves behind when its receiver accepts it stands in its own row: the attempt that was accepted, and
-- the token without its payload, which is the body. Both are null of rows that former versions have finished.
alter table delivery
  add column accepted_attempt jsonb,
  add column detached_token text;
