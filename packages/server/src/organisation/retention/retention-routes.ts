import type { Kysely } from 'kysely'
import { z } from 'zod'
import { route, type ApiRoute } from '../../schema/operations.ts'
import type { Schema } from '../../schema/schema.ts'
import { retentionPolicySchema, toRetentionJson } from './retention-json.ts'
import { readRetentionFigures } from './retention-read.ts'

const policiesSchema = z.object({ data: z.array(retentionPolicySchema) })

/** What is kept for how long, in figures. */
export function retentionRoutes(db: Kysely<Schema>): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/retention_policies',
      summary: 'List for how long what is kept, and how much there is',
      description: 'Every policy in one answer. Settings of the service change them.',
      tags: ['Organisation'],
      permission: null,
      responses: { 200: policiesSchema },
      handler: async () => ({ data: (await readRetentionFigures(db)).map(toRetentionJson) }),
    }),
  ]
}
