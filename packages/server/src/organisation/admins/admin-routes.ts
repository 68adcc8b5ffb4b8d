import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { ADMIN_LIST } from './admin-read.ts'
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
  const access = { tags: ['Admins'], permission: null } as const
  const admins = { db, list: ADMIN_LIST, item: adminSchema, toJson: toAdminJson }
  return [
    listRecords(admins, { ...access, path: '/admin_users', summary: 'List admins' }),
    showRecord(admins, { ...access, path: '/admin_users/:id', summary: 'Show an admin' }),
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
