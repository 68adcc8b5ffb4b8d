import { describe, expect, it } from 'vitest'
import { countExpandedSelects } from './query-cost.ts'
import { listQueryMisfits } from './query-fit.ts'

describe('a query that some devices cannot run', () => {
  it.each([
    {
      what: 'a table that osquery does not have',
      sql: 'select * from toasters',
      misfits: ['osquery has no table toasters.'],
    },
    {
      what: 'a table of another platform',
      sql: 'select * from alf',
      misfits: ['osquery has no table alf on Linux; it is there on macOS only.'],
    },
    {
      what: 'a column that its table does not have',
      sql: 'select u.shoe_size from users u',
      misfits: ['The tables of the query have no column u.shoe_size on Linux.'],
    },
    {
      what: 'a table that older releases do not have',
      sql: 'select * from deb_package_files',
      misfits: [expect.stringMatching(/^Needs osquery 5\.\d+\.\d+ or newer on Linux/)],
    },
    {
      what: 'a table that answers only what is named',
      sql: 'select response_code from curl',
      misfits: [expect.stringMatching(/answers nothing unless the query narrows url\./)],
    },
    {
      what: 'a column that is filled elsewhere',
      sql: 'select filevault_status from disk_encryption',
      misfits: [
        'The column filevault_status of disk_encryption is empty on Linux; it is filled on macOS.',
      ],
    },
    {
      what: 'a name inside of a subquery and a common table expression',
      sql: 'with x as (select uid from users where gid in (select gud from groups)) select * from x',
      misfits: ['The tables of the query have no column gud on Linux.'],
    },
  ])('is told: $what', ({ sql, misfits }) => {
    const found = listQueryMisfits(sql, ['linux'])
    expect(found.map(({ message }) => message)).toEqual(misfits)
  })

  it('is told for each platform by itself', () => {
    const found = listQueryMisfits('select * from alf', ['darwin', 'windows', 'linux'])
    expect(found.map(({ platform }) => platform)).toEqual(['windows', 'linux'])
  })
})

describe('nothing is said', () => {
  it.each([
    'select groupname, "quoted text" from users join groups using (gid)',
    "select regex_match(path, '.*', 0), some_extension(path) from file where path = '/etc/hosts'",
    'with recursive n(x) as (select 1 union all select x + 1 from n where x < 3) select x from n',
    'select from where',
    "attach database '/tmp/x' as x",
    'pragma table_info(users)',
  ])('of %s', (sql) => {
    expect(listQueryMisfits(sql, ['linux'])).toEqual([])
  })

  it('of a query that would take long to look through, and it takes no time', () => {
    const doubling = Array.from(
      { length: 24 },
      (_, index) => `c${index + 1}(x) as (select l.x from c${index} l, c${index} r)`,
    )
    const sql = `with c0(x) as (select uid from users), ${doubling.join(', ')} select * from c24`
    expect(countExpandedSelects(sql)).toBeGreaterThan(2 ** 24)
    expect(listQueryMisfits(sql, ['linux'])).toEqual([])
  })
})

describe('the selects that are read', () => {
  it.each([
    ['select 1', 1],
    ['with a as (select 1) select * from a', 3],
    ['with a as (select 1), b as (select * from a, a) select * from b', 10],
    ['with a as (select * from a) select * from a', 7],
    ["select 'unended", Infinity],
  ])('of %s are at most %d', (sql, count) => {
    expect(countExpandedSelects(sql)).toBe(count)
  })
})
