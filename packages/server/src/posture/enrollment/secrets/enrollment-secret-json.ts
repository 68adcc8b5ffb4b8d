/* An enrollment secret on the wire. Its text stands in the answer alone that creates it. */
import { z } from 'zod'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { linkSchema, timestampSchema, toLink } from '../../../platform/wire/wire-values.ts'
import type { ListedEnrollmentSecret } from './enrollment-secret-store.ts'
import { SECRET_STATES, toSecretState } from './secret-state.ts'

/** An enrollment secret as it is listed and shown. */
export const enrollmentSecretSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    state: z
      .enum(SECRET_STATES)
      .describe('Devices enroll with a secret that is live or nearly used up.'),
    owner: linkSchema.describe(
      'The person to whom devices that enroll with it are registered; empty for nobody.',
    ),
    owner_email: z.string().nullable(),
    created_at: timestampSchema,
    expires_at: timestampSchema.nullable(),
    revoked_at: timestampSchema.nullable(),
    last_used_at: timestampSchema.nullable(),
    use_count: z.int().describe('Enrollments with it.'),
    uses_max: z
      .int()
      .nullable()
      .describe('How many enrollments it is good for; null for any number.'),
    alarm_uses_per_hour: z
      .int()
      .nullable()
      .describe('Uses within an hour from which on admins are told; null for never.'),
    unusual_use_at: timestampSchema
      .nullable()
      .describe('When it was last used more often than that; null for never.'),
  })
  .meta({ id: 'EnrollmentSecret' })

/** An enrollment secret in the answer that creates it. */
export const enrollmentSecretWithTextSchema = z
  .object({
    ...enrollmentSecretSchema.shape,
    secret: z.string().describe('What devices enroll with. It is told this once.'),
  })
  .meta({ id: 'EnrollmentSecretWithText' })

/** The wire form of an enrollment secret at a time. */
export function toEnrollmentSecretJson(
  baseUrl: string,
  secret: ListedEnrollmentSecret,
  at: Date,
): z.input<typeof enrollmentSecretSchema> {
  const toCount = (count: string | null) => (count === null ? null : Number(count))
  return toWire(enrollmentSecretSchema, secret, {
    state: toSecretState(secret, at),
    owner: toLink(baseUrl, 'people', secret.personId),
    owner_email: secret.personEmail,
    use_count: Number(secret.useCount),
    uses_max: toCount(secret.usesMax),
    alarm_uses_per_hour: toCount(secret.alarmUsesPerHour),
  })
}
