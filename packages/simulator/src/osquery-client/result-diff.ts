import type { Row } from './agent-tables.ts'
import type { QueryHistory } from './node-state.ts'

type CountedRows = QueryHistory['rows']

/** What changed between two runs of a scheduled query. */
export interface ResultDiff {
  readonly added: Row[]
  readonly removed: Row[]
  readonly rows: CountedRows
}

function serialise(row: Row): string {
  return JSON.stringify(Object.entries(row).sort(([left], [right]) => (left < right ? -1 : 1)))
}

function countRows(rows: readonly Row[]): CountedRows {
  const counted: CountedRows = new Map()
  for (const row of rows) {
    const key = serialise(row)
    counted.set(key, { row, count: (counted.get(key)?.count ?? 0) + 1 })
  }
  return counted
}

function excess(of: CountedRows, over: CountedRows): Row[] {
  const rows: Row[] = []
  for (const [key, { row, count }] of of) {
    for (let left = count - (over.get(key)?.count ?? 0); left > 0; left -= 1) rows.push(row)
  }
  return rows
}

/** Compares rows with those of the run before as multisets: duplicates count. */
export function diffRows(earlier: CountedRows, rows: readonly Row[]): ResultDiff {
  const counted = countRows(rows)
  return { added: excess(counted, earlier), removed: excess(earlier, counted), rows: counted }
}
