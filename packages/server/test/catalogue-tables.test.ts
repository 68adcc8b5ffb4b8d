import { describe, expect, it } from 'vitest'
import { CHECK_CATALOGUE } from '../src/posture/checks/catalogue/index.ts'
import { OSQUERY_TABLES } from '../src/posture/osquery/tables/table-facts.ts'
import { openOsqueryDatabase } from './support/osquery-database.ts'
import { listQueryMisfits } from '../src/posture/osquery/tables/query-fit.ts'
import { REPORTING_TABLES } from '../src/posture/reporting/reporting-tables.ts'
import { toCollectionSql } from '../src/posture/reporting/reporting-table.ts'

describe('what devices are asked has its tables and columns, down to the oldest osquery', () => {
  const checks = CHECK_CATALOGUE.flatMap(({ slug, platforms, queries }) =>
    platforms.map((platform) => ({ slug, platform, sql: queries[platform]! })),
  )
  it.each(checks)('check $slug on $platform', ({ platform, sql }) => {
    expect(listQueryMisfits(sql, [platform])).toEqual([])
  })

  const tables = REPORTING_TABLES.flatMap((table) =>
    table.platforms.map((platform) => ({ name: table.name, platform, table })),
  )
  it.each(tables)('reporting table $name on $platform', ({ platform, table }) => {
    const misfits = listQueryMisfits(toCollectionSql(table), [platform])
    // A table has the same columns on all platforms; some are empty on one.
    expect(misfits.filter(({ kind }) => kind !== 'empty_column')).toEqual([])
  })

  it.each(REPORTING_TABLES)('reporting table $name has numbers where osquery does', (table) => {
    const facts = OSQUERY_TABLES.get(table.name)!
    const texts = table.columns.filter(
      ({ name, type, sql }) =>
        type !== 'text' && sql === undefined && facts.columns[name]?.type === 'text',
    )
    expect(texts.map(({ name }) => name)).toEqual([])
  })

  it('reports as 1 or 0 whether an extension comes from the store', () => {
    using database = openOsqueryDatabase({
      users: [{ uid: 501 }],
      chrome_extensions: ['true', 'false', ''].map((from_webstore) => ({
        uid: 501,
        from_webstore,
      })),
    })
    const table = REPORTING_TABLES.find(({ name }) => name === 'chrome_extensions')!
    const rows = database.prepare(toCollectionSql(table)).all()
    expect(rows.map((row) => row['from_webstore'])).toEqual([1, 0, null])
  })
})
