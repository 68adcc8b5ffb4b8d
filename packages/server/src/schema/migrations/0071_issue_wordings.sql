-- The title and the key column of an issue are those of its check when it was opened: issues are found by the checks
-- that have ever had them. Their trigrams were written with each issue, and again when it was resolved.
create table issue_wording (
  check_id bigint not null references posture_check (id) on delete cascade,
  title text not null,
  issue_key text,
  constraint issue_wording_key unique nulls not distinct (check_id, title, issue_key)
);

create function issue_wording_is_kept() returns trigger language plpgsql as $$
begin
  insert into issue_wording (check_id, title, issue_key)
    select distinct o.check_id, o.title, o.issue_key from opened o
    where not exists (select from issue_wording w
      where w.check_id = o.check_id and w.title = o.title and w.issue_key is not distinct from o.issue_key)
    order by 1, 2, 3
  on conflict do nothing;
  return null;
end
$$;
create trigger issue_wording_kept after insert on issue
  referencing new table as opened for each statement execute function issue_wording_is_kept();

insert into issue_wording (check_id, title, issue_key) select distinct check_id, title, issue_key from issue;

drop index issue_texts;
create index issue_values on issue using gin (issue_value gin_trgm_ops) where issue_value is not null;
