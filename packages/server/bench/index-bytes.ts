/* How many bytes of indexes stand beside the bytes of the rows of a table. */
import type { Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'
import type { Measurement } from './scenario.ts'
import { listTableBytes } from './table-bytes-store.ts'

const RATIO_TARGET = 1.5
/** The indexes of a smaller table are small as well, whatever stands beside them. */
const ROW_BYTES_MIN = 1_000_000

/** Measures every table that is large enough to count; one line for each. */
export async function measureIndexBytes(db: Kysely<Schema>): Promise<Measurement[]> {
  const tables = await listTableBytes(db, ROW_BYTES_MIN)
  return tables.map(({ table, rowBytes, indexBytes }) => ({
    what: `bytes of indexes beside bytes of rows, ${table}`,
    target: `<= ${RATIO_TARGET} times`,
    measured: { value: indexBytes / rowBytes, unit: 'times' },
    limit: undefined,
    ratio: undefined,
    isReached: indexBytes <= RATIO_TARGET * rowBytes,
    details: { row_bytes: rowBytes, index_bytes: indexBytes },
  }))
}
