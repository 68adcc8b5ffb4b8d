-- After a failover that lost nothing as far as anybody knows, only the devices whose status changed shortly before are told of.
alter table ssf_restatement add column since_transition_id bigint;

comment on column ssf_restatement.since_transition_id is
  'Only devices of which this status transition or a later one is; null for every device.';
