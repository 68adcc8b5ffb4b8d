import type { Kysely } from 'kysely'
import { z } from 'zod'
import { route, type ApiRoute } from '../../schema/operations.ts'
import type { Schema } from '../../schema/schema.ts'
import { getOrganisation } from './organisation-store.ts'

const whoAmISchema = z
  .object({ organization_id: z.string(), organization_name: z.string() })
  .meta({ id: 'WhoAmI' })

/** What a key belongs to. */
export function organisationRoutes(db: Kysely<Schema>): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/whoami',
      summary: 'Show the organisation of the key',
      tags: ['Organisation'],
      permission: null,
      responses: { 200: whoAmISchema },
      handler: async () => {
        const { id, name } = await getOrganisation(db)
        return { organization_id: String(id), organization_name: name }
      },
    }),
  ]
}
