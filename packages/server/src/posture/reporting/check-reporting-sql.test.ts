import { describe, expect, it } from 'vitest'
import { checkReportingSql } from './check-reporting-sql.ts'

describe('checkReportingSql', () => {
  it.each([
    'select * from apps',
    "select device_name, name, version from programs where publisher ilike '%example%' order by 1;",
    'with old as (select device_id from os_version where major < 13) select count(*) from old',
    'select a.device_name, count(*)::int from apps a join users u using (device_id) group by 1 having count(*) > 2',
    "select case when encrypted = 1 then 'yes' else 'no' end, max(collected_at) from disk_encryption group by 1",
    'select name from apps union all select name from programs limit 10',
    'select exists (select 1 from uptime where days > 30), coalesce(null, current_date::text)',
    'select device_id, row_number() over (partition by device_id order by name) from deb_packages',
  ])('takes %s', async (sql) => {
    await expect(checkReportingSql(sql)).resolves.toBeUndefined()
  })

  it.each([
    ['another table', 'select * from api_key'],
    ['a table by its schema', 'select * from public.device'],
    ['a table of the catalogue', 'select * from pg_catalog.pg_authid'],
    ['a reporting table of another schema', 'select * from public.apps'],
    ['a sub-select on another table', 'select (select secret_hash from api_key limit 1)'],
    ['a table in a common table expression', 'with x as (select * from api_key) select * from x'],
    ['an update in a common table expression', 'with x as (delete from apps returning 1) select 1'],
    ['a function that reads files', "select pg_read_file('/etc/passwd')"],
    ['a function that waits', 'select pg_sleep(100)'],
    ['a function that changes settings', "select set_config('role', 'x', false)"],
    ['a function that runs SQL', "select query_to_xml('select 1', true, true, '')"],
    ['a function of another schema', 'select public.append_audit_entries(null)'],
    ['a table function', 'select * from generate_series(1, 1000000000)'],
    ['a cast to a catalogue type', "select 'api_key'::regclass"],
    ['the current role', 'select current_user'],
    ['two statements', 'select 1; select 2'],
    ['a statement that writes', 'insert into apps values (1)'],
    ['a statement that is no query', 'drop table apps'],
    ['select into', 'select * into other from apps'],
    ['a lock', 'select * from apps for update'],
    ['no SQL', 'hello'],
    ['nothing', '  '],
    ['a comment alone', '-- nothing'],
    ['too much', `select ${'1,'.repeat(20_000)} 1`],
  ])('refuses %s', async (_name, sql) => {
    await expect(checkReportingSql(sql)).rejects.toMatchObject({ code: 'invalid_body' })
  })
})
