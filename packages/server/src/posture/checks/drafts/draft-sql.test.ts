import { describe, expect, test } from 'vitest'
import { listQueryProblems } from './draft-sql.ts'

const GOOD = "SELECT 'PASS' AS KOLIDE_CHECK_STATUS, path FROM file WHERE path = '/etc/hosts'"

describe('a query that can be run as a check', () => {
  test.each([
    [GOOD],
    [`${GOOD};`],
    [`-- what it is about\n${GOOD} ; -- done`],
    [`/* a ; b */ ${GOOD}`],
    ['with p as (select pid from processes) select 1 as "KOLIDE_CHECK_STATUS" from p'],
    ['SELECT 1 AS [KOLIDE_CHECK_STATUS] FROM no_such_table JOIN other USING (uid)'],
    ["SELECT ';' AS KOLIDE_CHECK_STATUS"],
    [
      "SELECT CASE WHEN a THEN 'PASS' ELSE 'FAIL' END KOLIDE_CHECK_STATUS FROM t UNION ALL SELECT 1",
    ],
    ["SELECT 'PASS' AS 'KOLIDE_CHECK_STATUS'"],
  ])('%s', (sql) => {
    expect(listQueryProblems(sql, null)).toEqual([])
  })

  test('names its primary key column, or all columns', () => {
    expect(listQueryProblems(GOOD, 'path')).toEqual([])
    expect(listQueryProblems("SELECT *, 'PASS' AS KOLIDE_CHECK_STATUS FROM file", 'path')).toEqual(
      [],
    )
    expect(listQueryProblems(GOOD, 'serial')).toEqual([
      'Must answer the primary key column serial.',
    ])
  })
})

describe('is refused', () => {
  test.each([
    ['a list of two statements', `${GOOD}; ${GOOD}`, 'single statement'],
    ['a second statement behind a comment', `${GOOD}; /* */ DROP TABLE x`, 'single statement'],
    ['another kind of statement', 'DELETE FROM file', 'Must be a SELECT'],
    ['a setting', 'PRAGMA user_version', 'Must be a SELECT'],
    ['an attached file', "ATTACH 'x' AS y", 'Must be a SELECT'],
    ['nothing but a comment', '-- SELECT 1 AS KOLIDE_CHECK_STATUS', 'Must be a SELECT'],
    [
      'a statement that changes behind WITH',
      'WITH a AS (SELECT 1) DELETE FROM b',
      'cannot be parsed',
    ],
    ['broken syntax', 'SELECT KOLIDE_CHECK_STATUS FROM FROM t', 'syntax error'],
    ['a statement without an end', 'SELECT KOLIDE_CHECK_STATUS FROM t WHERE', 'incomplete'],
    ['an open text', "SELECT KOLIDE_CHECK_STATUS, 'abc", 'cannot be parsed'],
    ['an open parenthesis', 'SELECT (KOLIDE_CHECK_STATUS FROM t', 'cannot be parsed'],
    ['a parameter', 'SELECT ? AS KOLIDE_CHECK_STATUS', 'cannot be parsed'],
    [
      'a query without a verdict',
      'SELECT path FROM file',
      'Must answer a column KOLIDE_CHECK_STATUS',
    ],
    ['a verdict in a comment', 'SELECT 1 -- KOLIDE_CHECK_STATUS', 'Must answer a column'],
    ['a long text', `SELECT ${'1,'.repeat(9_000)} 1`, 'at most'],
  ])('%s', (_name, sql, problem) => {
    const problems = listQueryProblems(sql, null)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })

  test('deep nesting, and names that double at every level, without taking long', () => {
    const levels = Array.from(
      { length: 200 },
      (_, level) => `a${level + 1} as (select 1 from a${level} x, a${level} y)`,
    )
    const doubling = `with a0 as (select 1), ${levels.join(', ')} select 1 as KOLIDE_CHECK_STATUS from a200`
    expect(listQueryProblems(doubling, null)).toEqual([])
    expect(listQueryProblems(`SELECT ${'('.repeat(8_000)}`, null)).toHaveLength(1)
    expect(listQueryProblems(`SELECT ${'['.repeat(16_000)}`, null)).toHaveLength(1)
  })
})
