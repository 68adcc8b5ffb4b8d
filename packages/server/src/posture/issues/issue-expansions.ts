import type { Kysely } from 'kysely'
import { loadChecks } from '../checks/check-expansions.ts'
import { loadDevices } from '../devices/device-expansions.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Expansions, LoadRecords } from '../../platform/http/expand.ts'
import { toIssueJson } from './issue-json.ts'
import { listIssuesWithIds } from './issue-read.ts'

/** What `expand` can put into an issue. */
export function issueExpansions(db: Kysely<Schema>, baseUrl: string): Expansions {
  return {
    device: { member: 'device_information', load: loadDevices(db, baseUrl) },
    check: { member: 'check_information', load: loadChecks(db) },
  }
}

/** Reads issues for the links to them. */
export function loadIssues(db: Kysely<Schema>, baseUrl: string): LoadRecords {
  return async (ids) => {
    const issues = await listIssuesWithIds(db, ids)
    return new Map(issues.map((issue) => [issue.id, toIssueJson(baseUrl, issue)]))
  }
}
