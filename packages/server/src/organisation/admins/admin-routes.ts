import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Schema } from '../../schema/schema.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { parseId } from '../../platform/ids.ts'
import { notFound } from '../../platform/app-error.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { ADMIN_SEARCH_FIELDS, findAdmin, listAdmins } from './admin-read.ts'
import type { Admin } from './admin-store.ts'
import { ADMIN_ACCESS_LEVELS } from './create-admin.ts'

const adminSchema = z
  .object({
    id: z.string(),
    first_name: z.string(),
    last_name: z.string(),
    email: z.string(),
    created_at: timestampSchema,
    access: z.enum(ADMIN_ACCESS_LEVELS),
    restrictions: z
      .array(z.string())
      .describe('What an admin with limited access may not do; empty for the others.'),
  })
  .meta({ id: 'AdminUser' })

/** Reading admins. */
export function adminRoutes(db: Kysely<Schema>): ApiRoute[] {
  const shared = { tags: ['Admins'], permission: null } as const
  return [
    listRoute({
      ...shared,
      path: '/admin_users',
      summary: 'List admins',
      fields: ADMIN_SEARCH_FIELDS,
      item: adminSchema,
      fetch: ({ search, window }) => listAdmins(db, search, window),
      toJson: toAdminJson,
    }),
    route({
      ...shared,
      method: 'GET',
      path: '/admin_users/:id',
      summary: 'Show an admin',
      responses: { 200: adminSchema },
      handler: async ({ params }) => {
        const admin = await findAdmin(db, parseId(params.id, 'admin'))
        if (admin === undefined) throw notFound('admin', params.id)
        return toAdminJson(admin)
      },
    }),
  ]
}

function toAdminJson(admin: Admin): z.input<typeof adminSchema> {
  return {
    id: admin.id,
    first_name: admin.first_name,
    last_name: admin.last_name,
    email: admin.email,
    created_at: toTimestamp(admin.created_at),
    access: admin.access,
    restrictions: admin.access === 'limited' ? admin.restrictions : [],
  }
}
