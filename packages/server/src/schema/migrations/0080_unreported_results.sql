-- Devices that a check of another system targets have a result of it before the first report: `unknown`, and counted, so
-- that `percent_passing` is of all devices that are targeted. Whoever adds a result has locked its device and is waited for.
lock table device in exclusive mode;
with gained as (
  insert into check_result (device_id, check_id, status, revision, status_changed_at, updated_at)
    select d.id, c.id, 'unknown', c.revision, now(), now()
    from posture_check c cross join device d
    where c.type = 'external' and c.target_type = 'devices' and c.paused_at is null
      and d.platform = any(c.platforms)
      and (
        not exists (select from check_group_rule g where g.check_id = c.id and g.rule = 'targeted')
        or exists (select from check_group_rule g
          where g.check_id = c.id and g.rule = 'targeted' and (
            g.platform = d.platform
            or exists (select from device_group_member m
                       where m.device_group_id = g.device_group_id and m.device_id = d.id))))
      and not exists (select from check_group_rule g
        where g.check_id = c.id and g.rule = 'excluded' and (
          g.platform = d.platform
          or exists (select from device_group_member m
                     where m.device_group_id = g.device_group_id and m.device_id = d.id)))
    order by d.id, c.id
    on conflict (device_id, check_id) do nothing
    returning check_id)
insert into check_counter (check_id, stripe, status, device_count)
  select check_id, 0, 'unknown', count(*) from gained group by check_id order by check_id
  on conflict (check_id, stripe, status)
    do update set device_count = check_counter.device_count + excluded.device_count;
