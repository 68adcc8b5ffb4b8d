import { describe, expect, it } from 'vitest'
import { DEEP_SQL, HOSTILE_SQL } from '../../../test/support/hostile-reporting-sql.ts'
import { LEGITIMATE_SQL } from '../../../test/support/legitimate-reporting-sql.ts'
import { checkReportingSql } from './check-reporting-sql.ts'

describe('a reporting query that is allowed', () => {
  it.each(LEGITIMATE_SQL)('%s', async (sql) => {
    await expect(checkReportingSql(sql)).resolves.toEqual(expect.any(String))
  })

  it('is the statement alone', async () => {
    await expect(checkReportingSql(`select 'ä' as a; -- select 2`)).resolves.toBe(`select 'ä' as a`)
  })
})

describe('a reporting query is refused that is after', () => {
  const statements = Object.entries(HOSTILE_SQL).flatMap(([what, texts]) =>
    texts.map((text) => [what, text] as const),
  )

  it('more than 150 statements', () => expect(statements.length).toBeGreaterThan(150))

  it.each(statements)('%s: %s', async (_what, sql) => {
    await expect(checkReportingSql(sql)).rejects.toMatchObject({ code: 'invalid_body' })
  })

  it('too much text', async () => {
    const sql = `select ${'1,'.repeat(20_000)} 1`
    await expect(checkReportingSql(sql)).rejects.toThrow(/1 to 20000 characters/)
  })
})

describe('a reporting query that names a column which does not exist', () => {
  it.each([
    'select nope from users',
    'select u.nope from users u',
    'select username from users where nope = 1',
    'select username from users order by nope',
    'select count(*) filter (where nope) from users',
    'select username from users union select nope from users',
    'with x as (select username from users) select nope from x',
    'select a.username from users a join users b using (nope)',
    'select 1 from users a join (select username from users) b using (username, uid)',
  ])('is refused with its name: %s', async (sql) => {
    await expect(checkReportingSql(sql)).rejects.toThrow(
      /^sql names the column [\w.]+, which does not exist/,
    )
  })

  it('is run where only PostgreSQL knows the names of the columns', async () => {
    const sql = "select 1 from users a join (select 'x'::text) b using (text)"
    await expect(checkReportingSql(sql)).rejects.toThrow(/names the column text/)
    const known = "select 1 from (select 'x'::text) a join (select 'x'::text) b using (text)"
    await expect(checkReportingSql(known)).resolves.toBe(known)
  })
})

describe('a reporting query that nests too deeply', () => {
  it.each(Object.entries(DEEP_SQL))('is refused: %s', async (_what, sql) => {
    await expect(checkReportingSql(sql)).rejects.toMatchObject({ code: 'invalid_body' })
  })

  it('leaves the parser in order, however often it is sent', async () => {
    const { operators = '' } = DEEP_SQL
    for (let round = 0; round < 20; round += 1) {
      await expect(checkReportingSql(operators)).rejects.toThrow(/nest deeper/)
    }
    await expect(checkReportingSql('select username from users')).resolves.toContain('username')
  })
})
