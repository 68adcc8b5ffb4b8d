import type { Kysely } from 'kysely'
import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
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

function toAdminJson(admin: Admin) {
  return toWire(adminSchema, admin, {
    restrictions: admin.access === 'limited' ? admin.restrictions : [],
  })
}
