import type { Kysely } from 'kysely'
import type { Foundation } from '../../changes/foundation.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import type { RunChange } from '../../changes/change.ts'
import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { RESTRICTION_NAMES } from '../../schema/access-levels.ts'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { recordIdSchema, timestampSchema } from '../../platform/wire/wire-values.ts'
import { ADMIN_LIST, WAYS_TO_SIGN_IN, type ListedAdmin } from './admin-read.ts'
import type { Admin } from './admin-store.ts'
import { changeAdmin, removeAdmin, type ChangedAdmin } from './change-admin.ts'
import { ADMIN_ACCESS_LEVELS } from './create-admin.ts'

/** An admin, without how it signs in. */
export const adminFactsSchema = z.object({
  id: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  created_at: timestampSchema,
  access: z.enum(ADMIN_ACCESS_LEVELS),
  restrictions: z
    .array(z.string())
    .describe('What an admin with limited access may not do; empty for the others.'),
  deactivated_at: timestampSchema
    .nullable()
    .describe('Since when the admin is kept out: without sessions, links and keys.'),
})

/** An admin, as the API shows it. */
const adminSchema = z
  .object({
    ...adminFactsSchema.shape,
    last_sign_in_at: timestampSchema.nullable(),
    ways_to_sign_in: z
      .array(z.enum(WAYS_TO_SIGN_IN))
      .describe('Those that are good now; empty for an admin who needs a one-time link.'),
    invited_until: timestampSchema
      .nullable()
      .describe('Until when an invitation can be followed; null when none is open.'),
  })
  .meta({ id: 'AdminUser' })

const changedAdminSchema = z
  .object({
    ...adminFactsSchema.shape,
    revoked_api_key_ids: z
      .array(z.string())
      .describe('The API keys that ended because nobody answers for them any more.'),
    handed_over_api_key_ids: z
      .array(z.string())
      .describe('The API keys that another admin answers for now.'),
  })
  .meta({ id: 'ChangedAdminUser' })

const keysToSchema = recordIdSchema
  .optional()
  .describe(
    'The id of another admin with Full Access, who answers for the API keys of this admin from now on. Without it, they end as soon as this admin has no Full Access.',
  )

export const restrictionsSchema = z
  .array(z.enum(RESTRICTION_NAMES))
  .max(RESTRICTION_NAMES.length)
  .describe('What the admin may not do; counts with limited access alone.')

const nameSchema = z.string().trim().min(1)

/** Reading and changing admins. */
export function adminRoutes(dependencies: Pick<Foundation, 'db' | 'runChange'>): ApiRoute[] {
  return [...readRoutes(dependencies.db), ...writeRoutes(dependencies.runChange)]
}

function readRoutes(db: Kysely<Schema>): ApiRoute[] {
  const access = { tags: ['Admins'], permission: null } as const
  const admins = { db, list: ADMIN_LIST, item: adminSchema, toJson: toListedJson }
  return [
    listRecords(admins, { ...access, path: '/admin_users', summary: 'List admins' }),
    showRecord(admins, { ...access, path: '/admin_users/:id', summary: 'Show an admin' }),
  ]
}

function writeRoutes(runChange: RunChange): ApiRoute[] {
  const access = { tags: ['Admins'], permission: 'Manage Admins' } as const
  return [
    changeRoute(runChange, {
      ...access,
      method: 'PATCH',
      path: '/admin_users/:id',
      stepUp: true,
      summary: 'Change an admin',
      description:
        'Changes the name or the access of an admin, or keeps it out. The last admin with Full Access keeps it: 409. Whoever raises an admin has to hold what the admin gets; Full Access is given and taken away by an admin with Full Access who is signed in alone.',
      body: z.object({
        first_name: nameSchema.optional(),
        last_name: nameSchema.optional(),
        access: z.enum(ADMIN_ACCESS_LEVELS).optional(),
        restrictions: restrictionsSchema.optional(),
        deactivated: z
          .boolean()
          .optional()
          .describe(
            'Keeps the admin out: its sessions and links end at once, and its API keys unless they go to another. False takes it back.',
          ),
        keys_to: keysToSchema,
      }),
      example: { body: { access: 'limited' } },
      responses: { 200: changedAdminSchema },
      handler: async ({ change, params, body, principal }) =>
        toChangedJson(
          await changeAdmin(change, params.id, {
            firstName: body.first_name,
            lastName: body.last_name,
            access: body.access,
            restrictions: body.restrictions,
            isDeactivated: body.deactivated,
            keysTo: body.keys_to,
            grantor: principal,
          }),
        ),
    }),
    changeRoute(runChange, {
      ...access,
      method: 'DELETE',
      path: '/admin_users/:id',
      stepUp: true,
      summary: 'Remove an admin',
      description:
        'The last admin with Full Access cannot be removed: 409. An admin with Full Access is removed by one who is signed in alone.',
      query: z.object({ keys_to: keysToSchema }),
      responses: { 200: changedAdminSchema },
      handler: async ({ change, params, query, principal }) =>
        toChangedJson(
          await removeAdmin(change, params.id, { keysTo: query.keys_to, grantor: principal }),
        ),
    }),
  ]
}

function toChangedJson({ admin, revokedKeyIds, handedOverKeyIds }: ChangedAdmin) {
  return {
    ...toAdminJson(admin),
    revoked_api_key_ids: [...revokedKeyIds],
    handed_over_api_key_ids: [...handedOverKeyIds],
  }
}

export function toAdminJson(admin: Admin) {
  return toWire(adminFactsSchema, admin, { restrictions: shownRestrictions(admin) })
}

function toListedJson(admin: ListedAdmin) {
  return toWire(adminSchema, admin, { restrictions: shownRestrictions(admin) })
}

function shownRestrictions({ access, restrictions }: Admin): string[] {
  return access === 'limited' ? restrictions : []
}
