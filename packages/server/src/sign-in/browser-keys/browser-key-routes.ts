import { z } from 'zod'
import { changeRoute } from '../../changes/change-routes.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { recordIdInput } from '../../platform/wire/body-values.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { listRoute, type ApiRoute } from '../../schema/operations.ts'
import { listBrowserKeys } from './browser-key-store.ts'
import { endBrowserKey } from './end-browser-key.ts'

const PATH = '/sign_in_browser_keys'

const keySchema = z
  .object({
    id: z.string(),
    person_id: z.string(),
    device_id: z.string().describe('The device on which the browser was proven.'),
    user_agent: z.string().nullable(),
    bound_at: timestampSchema,
    last_used_at: timestampSchema,
    last_proven_at: timestampSchema.describe(
      'When the browser was last proven live: `browser_key_days` of the policy count from here.',
    ),
    ended_at: timestampSchema.nullable(),
    end_reason: z
      .enum(['copied', 'other_device', 'person', 'admin', 'replaced'])
      .nullable()
      .describe(
        '`copied`: a former state of the key was used, so that two browsers held it. `other_device`: its browser was proven on another device.',
      ),
  })
  .meta({ id: 'SignInBrowserKey', description: 'A key that the browser of a person holds.' })

const listedSchema = keySchema
  .extend({ person_email: z.string(), device_name: z.string() })
  .meta({ id: 'ListedSignInBrowserKey' })

const filters = z.object({
  person_id: recordIdInput.optional(),
  device_id: recordIdInput.optional(),
  live: z
    .enum(['true', 'false'])
    .optional()
    .describe('`true` shows those alone that have not ended.'),
})

/** The operations on the keys of browsers. */
export function browserKeyRoutes({
  db,
  runChange,
}: Pick<Foundation, 'db' | 'runChange'>): ApiRoute[] {
  return [
    listRoute({
      tags: ['Sign-in'],
      permission: 'Read Sign-in',
      path: PATH,
      summary: 'List keys of browsers',
      filters,
      item: listedSchema,
      fetch: ({ filters: given, window }) =>
        listBrowserKeys(
          db,
          {
            personId: given.person_id,
            deviceId: given.device_id,
            isLive: given.live === 'true',
          },
          window,
        ),
      toJson: (key) => toWire(listedSchema, key),
    }),
    changeRoute(runChange, {
      tags: ['Sign-in'],
      permission: 'Manage Sign-in',
      method: 'DELETE',
      path: `${PATH}/:id`,
      summary: 'End the key of a browser',
      description:
        'Sessions that were granted because of the key alone end too. A browser that is proven live gets another one.',
      responses: { 200: keySchema },
      handler: async ({ change, params: { id } }) =>
        toWire(keySchema, await endBrowserKey(change, id, { reason: 'admin' })),
    }),
  ]
}
