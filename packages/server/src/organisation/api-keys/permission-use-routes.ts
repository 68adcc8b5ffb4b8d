import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Foundation } from '../../changes/foundation.ts'
import { textInput } from '../../platform/wire/body-values.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { route, type ApiRoute } from '../../schema/operations.ts'
import type { Schema } from '../../schema/schema.ts'
import { readPermissionHistory, tryPermissions, type PermissionRecord } from './permission-uses.ts'

export interface PermissionUseDependencies extends Pick<Foundation, 'clock'> {
  readonly db: Kysely<Schema>
}

const ACCESS = { tags: ['API keys'], permission: 'Manage API Keys' } as const

const PERMISSION_LENGTH_MAX = 200
/** More than there are permissions. */
const PERMISSIONS_MAX = 100

const daySchema = z.object({
  day: z
    .string()
    .describe('The day in UTC.')
    .meta({ examples: ['2026-01-02'] }),
  refused_count: z.int(),
  allowed_count: z.int(),
})

const permissionUseSchema = z
  .object({
    permission: z.string(),
    is_held: z.boolean().describe('Whether the key holds it now.'),
    refused_count: z.int().describe('Requests that were refused for want of it.'),
    last_refused_at: timestampSchema.nullable(),
    last_refused_operation: z
      .string()
      .nullable()
      .describe('What was refused last.')
      .meta({ examples: ['DELETE /devices/{id}'] }),
    allowed_count: z.int().describe('Requests that needed it and were let through.'),
    last_allowed_at: timestampSchema.nullable(),
    days: z.array(daySchema).describe('Those on which the key asked, oldest first.'),
  })
  .meta({ id: 'ApiKeyPermissionUse' })

const SINCE = timestampSchema.describe('The beginning of what is counted: 30 days, today included.')

const refusalsSchema = z
  .object({
    since: SINCE,
    data: z.array(permissionUseSchema).describe('The permissions that the key holds or asked for.'),
  })
  .meta({ id: 'ApiKeyRefusals' })

const dryRunBody = z
  .strictObject({
    permissions: z
      .array(textInput(PERMISSION_LENGTH_MAX))
      .max(PERMISSIONS_MAX, `Must be at most ${PERMISSIONS_MAX} permissions`)
      .describe('All that the key would hold.'),
  })
  .meta({ id: 'TryApiKeyPermissions' })

const triedSchema = z
  .object({
    permission: z.string(),
    is_held: z.boolean().describe('Whether the key holds it now.'),
    is_proposed: z.boolean(),
    request_count: z.int().describe('Requests that needed it, let through or not.'),
    would_be_refused_count: z.int().describe('How many of them what is proposed refuses.'),
    last_at: timestampSchema.nullable().describe('The last of them.'),
  })
  .meta({ id: 'TriedPermission' })

const dryRunSchema = z
  .object({
    since: SINCE,
    would_be_refused_count: z.int().describe('In all.'),
    data: z.array(triedSchema),
  })
  .meta({ id: 'ApiKeyDryRun' })

/** What keys were refused for, and what they would be refused for. */
export function permissionUseRoutes({ db, clock }: PermissionUseDependencies): ApiRoute[] {
  return [
    route({
      ...ACCESS,
      method: 'GET',
      path: '/api_keys/:id/refusals',
      summary: 'Show what an API key was refused for',
      description:
        'And what it used its permissions for, counted by day. Requests of the last seconds may be missing.',
      responses: { 200: refusalsSchema },
      handler: async ({ params }) => {
        const { since, records } = await readPermissionHistory(db, params.id, clock.now())
        return { since: toTimestamp(since), data: records.map(toUseJson) }
      },
    }),
    route({
      ...ACCESS,
      method: 'POST',
      path: '/api_keys/:id/try_permissions',
      summary: 'Tell what an API key would be refused for with other permissions',
      description: 'By what it asked for in the last 30 days. Nothing is changed.',
      feature: null,
      body: dryRunBody,
      responses: { 200: dryRunSchema },
      example: { body: { permissions: ['Refresh Check'] } },
      handler: async ({ params, body }) => {
        const tried = await tryPermissions(db, params.id, body.permissions, clock.now())
        const data = tried.permissions.map((each) => toWire(triedSchema, each))
        return {
          since: toTimestamp(tried.since),
          would_be_refused_count: data.reduce(
            (total, each) => total + each.would_be_refused_count,
            0,
          ),
          data,
        }
      },
    }),
  ]
}

function toUseJson(record: PermissionRecord): z.input<typeof permissionUseSchema> {
  return toWire(permissionUseSchema, record, {
    days: record.days.map(({ dayBeganAt, refusedCount, allowedCount }) => ({
      day: dayBeganAt.toISOString().slice(0, 10),
      refused_count: refusedCount,
      allowed_count: allowedCount,
    })),
  })
}
