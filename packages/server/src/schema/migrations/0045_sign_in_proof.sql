-- The live proof of a device: which ports a browser opens, who came to them, and as which users of devices people
-- were proven.

create table sign_in_probe_lease (
  -- A port is leased to one proof at a time: whoever takes an expired lease over takes its row.
  port integer primary key check (port between 1024 and 65535),
  proof_id uuid not null,
  attempt_id uuid not null references sign_in_attempt (id) on delete cascade,
  -- In which order the browser opens the ports, from 0.
  position smallint not null,
  -- SHA-256 of the path and of the cookie that the requests of the browser carry.
  token_hash bytea not null,
  cookie_hash bytea not null,
  ip_address text,
  leased_at timestamptz not null,
  leased_until timestamptz not null,
  unique (proof_id, position)
);
create index sign_in_probe_lease_attempt on sign_in_probe_lease (attempt_id);
create index sign_in_probe_lease_address on sign_in_probe_lease (ip_address);

create table sign_in_probe_arrival (
  id bigint generated always as identity primary key,
  proof_id uuid not null,
  attempt_id uuid not null references sign_in_attempt (id) on delete cascade,
  port integer not null,
  -- counted: the request of the browser. foreign: one of somebody else. idle: a connection without a request.
  kind text not null check (kind in ('counted', 'foreign', 'idle')),
  -- What was wrong with a foreign one.
  reason text,
  ip_address text not null,
  client_port integer not null,
  service_address text not null,
  arrived_at timestamptz not null
);
-- The browser comes to each port once.
create unique index sign_in_probe_arrival_counted on sign_in_probe_arrival (proof_id, port) where kind = 'counted';
create index sign_in_probe_arrival_attempt on sign_in_probe_arrival (attempt_id, id);

-- As which user of the operating system a person was first proven on a device, since its registration.
create table sign_in_os_user (
  device_id bigint not null references device (id) on delete cascade,
  person_id bigint not null references person (id) on delete cascade,
  uid text not null,
  user_name text not null,
  bound_at timestamptz not null,
  primary key (device_id, person_id)
);
create index sign_in_os_user_person on sign_in_os_user (person_id);

-- Which devices were last in contact from the address of a browser. An address seldom changes, so that most updates of
-- a contact touch no index.
create index device_contact_address on device_contact (ip_address);
