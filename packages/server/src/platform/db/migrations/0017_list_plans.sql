-- Indexes of lists: what their plans at full size ask for besides those of 0009.

-- Timelines: the earliest and the latest time of every 4096 rows.
create index issue_detected_at_zone on issue ((id / 4096), detected_at);
create index issue_resolved_at_zone on issue ((id / 4096), resolved_at);
create index issue_blocks_device_at_zone on issue ((id / 4096), blocks_device_at);
create index issue_last_rechecked_at_zone on issue ((id / 4096), last_rechecked_at);
create index issue_updated_at_zone on issue ((id / 4096), updated_at);

-- A serial number as a client writes it: the trigrams of one take ten times as long.
create index device_serial on device (serial);
