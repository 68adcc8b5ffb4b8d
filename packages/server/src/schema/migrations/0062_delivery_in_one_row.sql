-- What a delivery leaves behind when its receiver accepts it stands in its own row: the attempt that was accepted, and
-- the token without its payload, which is the body. Both are null of rows that former versions have finished.
alter table delivery
  add column accepted_attempt jsonb,
  add column detached_token text;

-- The row is written three times within moments: queued, claimed, and with its outcome. All three fit on one page when
-- two thirds of it are free; otherwise the last one goes to another page, and the log holds all of it.
alter table delivery set (fillfactor = 35);
