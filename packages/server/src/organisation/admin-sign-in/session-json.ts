import { z } from 'zod'
import { SECOND_MS } from '../../platform/clock.ts'
import { writeSessionCookie } from '../../platform/http/session-cookie.ts'
import { listOpenAreas } from '../../schema/access-levels.ts'
import { answer } from '../../schema/operations.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { ADMIN_ACCESS_LEVELS } from '../admins/create-admin.ts'
import { SESSION_LIFETIME_MS, STEP_UP_MS } from './admin-session-store.ts'
import {
  authenticateSession,
  type AuthenticatedSession,
  type SessionLookup,
} from './authenticate-session.ts'
import type { ConsoleSite } from './console-site.ts'
import { DEVICE_PROBLEMS } from './device-trust.ts'

const ACCESS_LEVELS = ['full', 'limited', 'billing'] as const
/** How admins sign in. */
export const SIGN_IN_METHODS = ['link', 'demo', 'passkey', 'password', 'oidc'] as const

/** Who is signed in, and for how long. */
export const consoleSessionSchema = z
  .object({
    id: z.string(),
    admin: z.object({
      id: z.string(),
      name: z.string(),
      first_name: z.string(),
      last_name: z.string(),
      email: z.string(),
      access: z.enum(ADMIN_ACCESS_LEVELS),
      restrictions: z
        .array(z.string())
        .describe('What an admin with limited access may not do; empty for the others.'),
    }),
    access_level: z.enum(ACCESS_LEVELS).describe('How much the admin may do.'),
    areas: z
      .array(z.string())
      .describe('What the session may see, by the tags of the operations of this API.'),
    permissions: z.array(z.string()).describe('What the session may do beyond reading.'),
    method: z.enum(SIGN_IN_METHODS).describe('How the admin signed in.'),
    setup_required: z
      .boolean()
      .describe(
        'The session began with a one-time link and opens nothing but this until the admin has a way to sign in.',
      ),
    trusted_device: z
      .object({
        required: z
          .boolean()
          .describe('Whether the session opens nothing but this until its device is trusted.'),
        problem: z
          .enum(DEVICE_PROBLEMS)
          .nullable()
          .describe('What is wrong with the device of the session; null where it is trusted.'),
      })
      .describe('The device that the session is bound to.'),
    stepped_up_until: timestampSchema
      .nullable()
      .describe('Until when what asks for a step-up is open; null when it is not.'),
    idle_ends_at: timestampSchema.describe('When the session ends unless it is used before.'),
    ends_at: timestampSchema.describe('When the session ends, however much it is used.'),
    created_at: timestampSchema,
  })
  .meta({ id: 'ConsoleSession' })

export function toConsoleSessionJson({
  session: { admin, ...session },
  principal,
}: AuthenticatedSession): z.input<typeof consoleSessionSchema> {
  const { steppedUpAt } = session
  return {
    id: session.id,
    admin: {
      id: admin.id,
      name: principal.name,
      first_name: admin.firstName,
      last_name: admin.lastName,
      email: admin.email,
      access: admin.access,
      restrictions: [...admin.restrictions],
    },
    access_level: principal.session.accessLevel,
    areas: listOpenAreas(principal.session),
    permissions: [...principal.permissions],
    method: session.method,
    setup_required: session.isSetupPending,
    trusted_device: { required: session.isDeviceRequired, problem: session.deviceProblem ?? null },
    stepped_up_until: toTimestamp(steppedUpAt && new Date(steppedUpAt.getTime() + STEP_UP_MS)),
    idle_ends_at: toTimestamp(session.idleEndsAt),
    ends_at: toTimestamp(session.expiresAt),
    created_at: toTimestamp(session.createdAt),
  }
}

/** The session that has begun, or has a new token, with its cookie. */
export async function answerSession(
  { site, ...lookup }: SessionLookup & { readonly site: ConsoleSite },
  token: string,
) {
  const json = toConsoleSessionJson(
    await authenticateSession(lookup, token, { isDeviceShown: true }),
  )
  const maxAgeSeconds = SESSION_LIFETIME_MS / SECOND_MS
  return answer(200, json, { 'set-cookie': writeSessionCookie(site.cookie, token, maxAgeSeconds) })
}
