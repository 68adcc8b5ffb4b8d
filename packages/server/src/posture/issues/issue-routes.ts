import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { issueResource } from './issue-json.ts'

/** Reading issues, open and resolved. */
export function issueRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  const access = { tags: ['Issues'], permission: null } as const
  const issues = issueResource(db, baseUrl)
  return [
    listRecords(issues, { ...access, path: '/issues', summary: 'List issues, open and resolved' }),
    showRecord(issues, { ...access, path: '/issues/:id', summary: 'Show an issue' }),
  ]
}
