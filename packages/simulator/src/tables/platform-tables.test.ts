import { describe, expect, test } from 'vitest'
import { RECORDED_COLUMNS } from '../test/recorded-columns.ts'
import { TABLES_BY_PLATFORM } from './platform-tables.ts'

/** Table to its columns over all platforms, with their types as the specifications write them. */
function collectColumns(): Map<string, Set<string>> {
  const columns = new Map<string, Set<string>>()
  for (const { tables } of Object.values(TABLES_BY_PLATFORM)) {
    for (const { name, columns: list } of tables.values()) {
      const collected = columns.get(name) ?? new Set()
      for (const column of list) {
        const type = column.type === 'TEXT' ? '' : `:${column.type.toLowerCase()}`
        collected.add(column.name + type)
      }
      columns.set(name, collected)
    }
  }
  return columns
}

describe('tables', () => {
  const columns = collectColumns()

  test('are all recorded from osquery’s specifications', () => {
    expect([...columns.keys()].sort()).toEqual(Object.keys(RECORDED_COLUMNS).sort())
  })

  test.each(Object.entries(RECORDED_COLUMNS))(
    '%s has osquery’s columns and types',
    (table, recorded) => {
      expect([...(columns.get(table) ?? [])].sort()).toEqual(recorded.split(' ').sort())
    },
  )

  test('no platform names a column twice', () => {
    for (const { tables } of Object.values(TABLES_BY_PLATFORM)) {
      for (const { name, columns: list } of tables.values()) {
        expect(new Set(list.map((column) => column.name.toLowerCase())).size, name).toBe(
          list.length,
        )
      }
    }
  })
})
