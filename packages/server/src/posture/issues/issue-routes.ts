import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { parseId } from '../../platform/ids.ts'
import { notFound } from '../../platform/app-error.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { issueExpansions } from './issue-expansions.ts'
import { issueSchema, toIssueJson } from './issue-json.ts'
import { findIssue, ISSUE_SEARCH_FIELDS, listIssues } from './issue-read.ts'

/** Reading issues, open and resolved. */
export function issueRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  const tags = ['Issues']
  return [
    listRoute({
      path: '/issues',
      summary: 'List issues, open and resolved',
      tags,
      permission: null,
      fields: ISSUE_SEARCH_FIELDS,
      expand: issueExpansions(db, baseUrl),
      item: issueSchema,
      fetch: ({ search, window }) => listIssues(db, { search, window }),
      toJson: (issue) => toIssueJson(baseUrl, issue),
    }),
    route({
      method: 'GET',
      path: '/issues/:id',
      summary: 'Show an issue',
      tags,
      permission: null,
      expand: issueExpansions(db, baseUrl),
      responses: { 200: issueSchema },
      handler: async ({ params }) => {
        const issue = await findIssue(db, parseId(params.id, 'issue'))
        if (issue === undefined) throw notFound('issue', params.id)
        return toIssueJson(baseUrl, issue)
      },
    }),
  ]
}
