-- The processes of the service that are there, for whoever watches it. Unlogged: each says so again and again, so that
-- nothing is missing half a minute after a crash or a failover of the server.
create unlogged table service_process (
  id integer primary key,
  roles text[] not null,
  version text not null,
  schema_version integer not null,
  host text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  known_nodes integer
);

comment on table service_process is
  'One row for each process: it says every half a minute that it is there, and at its end that it is gone.';
comment on column service_process.schema_version is 'The newest migration that the program of the process knows.';
comment on column service_process.known_nodes is
  'Of how many devices the process holds the node key in memory; null where it serves no agents.';
