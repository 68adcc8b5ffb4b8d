-- Release data that was brought from a file. The service uses it while what it comes with is not newer. A process
-- of the version before does not know the table, and makes its checks of what it comes with.

create table release_data (
  id smallint primary key default 1 check (id = 1),
  -- As text: the order of its members is part of the SQL that is made of it.
  content json not null,
  imported_at timestamptz not null,
  imported_by text not null
);
