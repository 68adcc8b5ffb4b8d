-- Views of lists in the console: what is searched, which columns are shown and in which order, under a name.

create table saved_view (
  id bigint generated always as identity primary key,
  -- Null for what belongs to the organisation: made by an API key, or of an admin who is gone.
  owner_id bigint references admin_user (id) on delete set null,
  name text not null,
  -- The path of the list in the API, such as /devices.
  list text not null,
  -- Where the console shows it, and what stands behind the question mark of the address.
  page text not null,
  search text not null,
  -- Null for those that the page shows by itself.
  columns text[],
  row_order text check (row_order in ('asc', 'desc')),
  is_shared boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (owner_id is not null or is_shared)
);
create unique index saved_view_name on saved_view (owner_id, list, lower(name));
