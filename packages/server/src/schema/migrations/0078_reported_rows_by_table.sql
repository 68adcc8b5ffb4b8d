-- Reported rows are looked for by their table and id, which are their key now: one entry less of an index for each row
-- that is written, of which a device may change hundreds at once.
alter table reporting_record drop constraint reporting_record_pkey;
drop index reporting_record_table;
alter table reporting_record
  add constraint reporting_record_pkey primary key (table_name, id);
