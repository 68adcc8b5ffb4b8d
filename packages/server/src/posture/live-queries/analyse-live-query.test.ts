import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyseLiveQuery } from './analyse-live-query.ts'

function tablesOf(sql: string): readonly string[] {
  const analysed = analyseLiveQuery(sql)
  if (analysed.kind === 'refused') throw new Error(analysed.message)
  return analysed.tablesUsed
}

function refusalOf(sql: string): string {
  const analysed = analyseLiveQuery(sql)
  return analysed.kind === 'refused' ? analysed.message : ''
}

describe('the tables of a live query', () => {
  it.each([
    ['select 1', []],
    ['SELECT * FROM Processes', ['processes']],
    ['select * from users u, groups as g where u.gid = g.gid', ['groups', 'users']],
    ['select * from users join groups using (gid), shadow', ['groups', 'shadow', 'users']],
    [
      'select * from users left outer join user_groups g on g.uid = users.uid',
      ['user_groups', 'users'],
    ],
    ['select * from (users cross join file) where path like "/tmp/%"', ['file', 'users']],
    ['select * from (select * from apps) a join hash h on h.path = a.path', ['apps', 'hash']],
    ['select (select count(*) from ports), uid from users', ['ports', 'users']],
    [
      'select * from users where uid in (select uid from shell_history)',
      ['shell_history', 'users'],
    ],
    ['select 1 where 5 in processes', ['processes']],
    ['select * from main.users', ['users']],
    ['select * from "users", `groups`, [file]', ['file', 'groups', 'users']],
    ['select a from apps union all select b from programs', ['apps', 'programs']],
    ['select a, b from apps order by a, b limit 1, 2', ['apps']],
    ['select a from apps group by a, c having count(*) > 1', ['apps']],
    ['select a is not distinct from b, c from users', ['users']],
    ['select a is distinct from b from users', ['users']],
    ['with a as (select * from users) select * from a, groups', ['groups', 'users']],
    [
      'with a(x, y) as materialized (select 1, 2), b as not materialized (values (1)) select * from a, b',
      [],
    ],
    ['with recursive n(i) as (select 1 union select i + 1 from n) select * from n, time', ['time']],
    ["select value from json_each('[1, 2]'), users", ['users']],
    ["select 'it''s from nowhere' as text from users -- from comments", ['users']],
    ['select /* from comments */ "from" from users', ['users']],
    ['select cast(pid as text), substr(a, 1, 2) from processes', ['processes']],
    ["select replace(name, 'a', 'b') from apps", ['apps']],
    ["select data ->> '$.a', x'00ff', 0x1f, 1.5e3 from registry", ['registry']],
    ['values (1), (2)', []],
  ])('of %s are %j', (sql, tables) => {
    expect(tablesOf(sql)).toEqual(tables)
  })

  it('are found whatever the white space, the letter case and the comments are', () => {
    const space = fc.constantFrom(' ', '\n', '\t', ' -- from x\n', ' /* from y */ ')
    fc.assert(
      fc.property(space, space, space, fc.boolean(), (a, b, c, isUpper) => {
        const sql = `select${a}pid${b}from${c}processes`
        expect(tablesOf(isUpper ? sql.toUpperCase().replace(/FROM X|FROM Y/, '') : sql)).toEqual([
          'processes',
        ])
      }),
    )
  })
})

describe('the statement of a live query', () => {
  it('is the text without the semicolon and what follows', () => {
    expect(analyseLiveQuery("  select ';' from users ; ; -- done\n")).toMatchObject({
      kind: 'query',
      statement: "select ';' from users",
    })
  })

  it.each([
    ['', 'empty'],
    [' ; ', 'empty'],
    ['-- nothing', 'empty'],
    ['select 1; select 2', 'one statement'],
    ['delete from users', 'SELECT'],
    ['attach database x as y', 'SELECT'],
    ['pragma table_info(users)', 'SELECT'],
    ['with a as (select 1) delete from users', 'SELECT'],
    ['with a as (select 1) insert into users select * from a', 'SELECT'],
    ["select 'open", "the ' has no end"],
    ['select "open', 'has no end'],
    ['select (1', '( without a )'],
    ['select 1) from (select 2', ') without a ('],
    ['select 1 where a = ?', 'parameters'],
    ['select 1 where a = :name', 'parameters'],
    ['select \u0001', 'not SQL'],
    ['select 1 {', 'not SQL'],
  ])('refuses %j', (sql, message) => {
    expect(refusalOf(sql)).toContain(message)
  })

  it('is decided for every text in time that grows with its length', () => {
    fc.assert(fc.property(fc.string(), (text) => void analyseLiveQuery(text)))
    expect(refusalOf(`select ${'('.repeat(20_000)}`)).toContain('without')
  })
})
