import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { parseId } from '../../platform/ids.ts'
import { notFound } from '../../platform/app-error.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { checkSchema, toCheckJson } from './check-json.ts'
import { CHECK_SEARCH_FIELDS, findCheck, listChecks } from './check-read.ts'

/** Reading checks. */
export function checkRoutes(db: Kysely<Schema>): ApiRoute[] {
  const tags = ['Checks']
  return [
    listRoute({
      path: '/checks',
      summary: 'List checks',
      tags,
      permission: null,
      fields: CHECK_SEARCH_FIELDS,
      item: checkSchema,
      fetch: ({ search, window }) => listChecks(db, search, window),
      toJson: toCheckJson,
    }),
    route({
      method: 'GET',
      path: '/checks/:id',
      summary: 'Show a check',
      tags,
      permission: null,
      responses: { 200: checkSchema },
      handler: async ({ params }) => {
        const check = await findCheck(db, parseId(params.id, 'check'))
        if (check === undefined) throw notFound('check', params.id)
        return toCheckJson(check)
      },
    }),
  ]
}
