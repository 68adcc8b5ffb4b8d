/*
 * What a device may answer to each built-in check, for people who want to know what leaves their devices: one row of an
 * invented device for each platform, with every column of the query, and one that fails.
 */
import type { OsqueryRow } from '../../../schema/tables/column-types.ts'
import rows from './example-rows.json' with { type: 'json' }

const EXAMPLE_ROWS: Readonly<Record<string, Readonly<Record<string, OsqueryRow>>>> = rows

/** By platform; none for checks that are not built in. */
export function findExampleRows(slug: string): Readonly<Record<string, OsqueryRow>> {
  return Object.hasOwn(EXAMPLE_ROWS, slug) ? (EXAMPLE_ROWS[slug] ?? {}) : {}
}
