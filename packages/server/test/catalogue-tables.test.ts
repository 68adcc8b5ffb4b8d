import { describe, expect, it } from 'vitest'
import { CHECK_CATALOGUE } from '../src/posture/checks/catalogue/index.ts'
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
})
