import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import type { RunChange } from '../../changes/change.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import type { ApiRoute } from '../../schema/operations.ts'
import {
  changeReportingQuery,
  createReportingQuery,
  removeReportingQuery,
} from './create-reporting-query.ts'
import type { ReportingQuery } from './reporting-query-store.ts'

const savedQuerySchema = z
  .object({
    id: z.int(),
    name: z.string(),
    osquery_sql: z.string(),
    created_at: timestampSchema,
  })
  .meta({ id: 'SavedReportQuery', description: 'A saved query, not yet run.' })

const nameSchema = z.string().describe('What the query answers.')
const sqlSchema = z
  .string()
  .describe('One SELECT over the reporting tables, in the SQL of PostgreSQL.')

/** Saving, changing and deleting reporting queries. */
export function reportingQueryWriteRoutes({
  runChange,
}: {
  readonly runChange: RunChange
}): ApiRoute[] {
  const shared = { tags: ['Reporting'], permission: 'Manage Reporting' } as const
  return [
    changeRoute(runChange, {
      ...shared,
      method: 'POST',
      path: '/reporting/queries',
      summary: 'Save a reporting query',
      body: z.strictObject({ name: nameSchema, sql: sqlSchema }),
      responses: { 200: savedQuerySchema },
      example: {
        body: { name: 'Shells', sql: 'select shell, count(*) from users group by shell' },
      },
      handler: async ({ change, body }) =>
        toSavedQueryJson(await createReportingQuery(change, body)),
    }),
    changeRoute(runChange, {
      ...shared,
      method: 'PATCH',
      path: '/reporting/queries/:id',
      summary: 'Change a reporting query',
      description: 'Its results are computed anew.',
      body: z.strictObject({ name: nameSchema.optional(), sql: sqlSchema.optional() }),
      responses: { 200: savedQuerySchema },
      example: { body: { name: 'Shells in use' } },
      handler: async ({ change, params, body }) =>
        toSavedQueryJson(await changeReportingQuery(change, params.id, body)),
    }),
    changeRoute(runChange, {
      ...shared,
      method: 'DELETE',
      path: '/reporting/queries/:id',
      summary: 'Delete a reporting query',
      description: 'With its results. Answers the deleted query.',
      responses: { 200: savedQuerySchema },
      handler: async ({ change, params }) =>
        toSavedQueryJson(await removeReportingQuery(change, params.id)),
    }),
  ]
}

function toSavedQueryJson(query: ReportingQuery) {
  return toWire(savedQuerySchema, query, { id: Number(query.id), osquery_sql: query.sql })
}
