import { z } from 'zod'
import { changeRoute } from '../../changes/change-routes.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { isUuid } from '../../platform/ids.ts'
import { notFound } from '../../platform/app-error.ts'
import { recordIdInput } from '../../platform/wire/body-values.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { listRoute, type ApiRoute } from '../../schema/operations.ts'
import { endSession } from './end-sessions.ts'
import { listGrantedSessions } from './granted-session-store.ts'

export type SessionRouteDependencies = Pick<Foundation, 'db' | 'runChange' | 'clock'>

const PATH = '/sign_in_sessions'

const endedSchema = z
  .object({
    id: z.string(),
    application_id: z
      .string()
      .nullable()
      .describe('Null for the pages of the person, and for the console.'),
    person_id: z.string(),
    device_id: z.string().nullable(),
    assurance: z
      .enum(['hardware', 'live', 'approved', 'key', 'none'])
      .describe('How the device was known; `none` where the break-glass group let the person in.'),
    granted_at: timestampSchema,
    expires_at: timestampSchema,
    ended_at: timestampSchema.nullable(),
    end_reason: z
      .enum([
        'device_blocked',
        'device_gone',
        'person_gone',
        'owner_changed',
        'registration_ended',
        'admin',
        'logout',
        'application',
        'browser_key',
      ])
      .nullable(),
    logout_due_at: timestampSchema
      .nullable()
      .describe(
        'When the application is told of the end, at the earliest: one that does not answer is left alone for a while. Null when it is not to be told.',
      ),
    logout_outcome: z
      .enum(['told', 'given_up'])
      .nullable()
      .describe(
        'Whether the application took that, or did not for a day and is told no more. Null while it is to be told, and where nothing is to be told.',
      ),
    logout_attempts: z.int().describe('How often it was told.'),
    logout_failure: z.string().nullable().describe('Why it did not take that the last time.'),
  })
  .meta({ id: 'SignInSession', description: 'What somebody was granted who signed in here.' })

const listedSchema = endedSchema
  .extend({
    application_name: z.string().nullable(),
    person_email: z.string(),
    device_name: z.string().nullable(),
  })
  .meta({ id: 'ListedSignInSession' })

const filters = z.object({
  person_id: recordIdInput.optional(),
  device_id: recordIdInput.optional(),
  application_id: recordIdInput.optional(),
  live: z
    .enum(['true', 'false'])
    .optional()
    .describe('`true` shows those alone that have not ended.'),
})

/** The operations on granted sessions. */
export function sessionRoutes({ db, runChange, clock }: SessionRouteDependencies): ApiRoute[] {
  return [
    listRoute({
      tags: ['Sign-in'],
      permission: 'Read Sign-in',
      path: PATH,
      summary: 'List granted sessions',
      filters,
      item: listedSchema,
      fetch: ({ filters: given, window }) =>
        listGrantedSessions(
          db,
          {
            personId: given.person_id,
            deviceId: given.device_id,
            applicationId: given.application_id,
            liveAt: given.live === 'true' ? clock.now() : undefined,
          },
          window,
        ),
      toJson: (session) => toWire(listedSchema, session),
    }),
    changeRoute(runChange, {
      tags: ['Sign-in'],
      permission: 'Manage Sign-in',
      method: 'DELETE',
      path: `${PATH}/:id`,
      summary: 'End a granted session',
      description:
        'Its tokens are refused at once, and the application is told where it wants to be.',
      responses: { 200: endedSchema },
      handler: async ({ change, params: { id } }) => {
        if (!isUuid(id)) throw notFound('session', id)
        return toWire(endedSchema, await endSession(change, id, 'admin'))
      },
    }),
  ]
}
