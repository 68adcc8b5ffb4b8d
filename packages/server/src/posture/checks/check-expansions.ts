import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { LoadRecords } from '../../platform/http/expand.ts'
import { toCheckJson } from './check-json.ts'
import { listChecksWithIds } from './check-read.ts'

/** Reads checks for the links to them. */
export function loadChecks(db: Kysely<Schema>): LoadRecords {
  return async (ids) => {
    const checks = await listChecksWithIds(db, ids)
    return new Map(checks.map((check) => [check.id, toCheckJson(check)]))
  }
}
