-- Since when the devices are being asked about the connections to a leased port: one request at a time may ask.
alter table sign_in_probe_lease add column claimed_at timestamptz;
