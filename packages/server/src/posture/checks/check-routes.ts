import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { checkResource } from './check-json.ts'

/** Reading checks. */
export function checkRoutes(db: Kysely<Schema>): ApiRoute[] {
  const access = { tags: ['Checks'], permission: null } as const
  const checks = checkResource(db)
  return [
    listRecords(checks, { ...access, path: '/checks', summary: 'List checks' }),
    showRecord(checks, { ...access, path: '/checks/:id', summary: 'Show a check' }),
  ]
}
