-- Requests of applications that the OpenID provider refused, by what was wrong with them: the last few of each
-- application, and of client ids that nobody has. Equal ones are counted in one row.
create table sign_in_refused_request (
  id bigint generated always as identity primary key,
  -- Null: nobody has the client id.
  application_id bigint references sign_in_application (id) on delete cascade,
  endpoint text not null,
  code text not null,
  field text not null,
  given text,
  -- SHA-256 of what makes requests equal.
  fingerprint bytea not null unique,
  request_count integer not null,
  first_at timestamptz not null,
  last_at timestamptz not null
);
create index sign_in_refused_request_application on sign_in_refused_request (application_id, last_at desc);
