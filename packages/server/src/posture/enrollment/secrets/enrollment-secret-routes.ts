import { z } from 'zod'
import { changeRoute } from '../../../changes/change-routes.ts'
import type { Foundation, RouteFoundation } from '../../../changes/foundation.ts'
import { findOrCreatePerson } from '../../../people/people/find-or-create-person.ts'
import { EMAIL_LENGTH_MAX } from '../../../platform/parse-text.ts'
import { textInput, timestampInput } from '../../../platform/wire/body-values.ts'
import { answer, listRoute, route, type ApiRoute } from '../../../schema/operations.ts'
import {
  ALARM_USES_PER_HOUR_DEFAULT,
  createEnrollmentSecret,
  revokeEnrollmentSecret,
} from './create-enrollment-secret.ts'
import {
  enrollmentSecretSchema,
  enrollmentSecretWithTextSchema,
  toEnrollmentSecretJson,
} from './enrollment-secret-json.ts'
import {
  getListedEnrollmentSecret,
  listEnrollmentSecrets,
  type ListedEnrollmentSecret,
} from './enrollment-secret-store.ts'

export type EnrollmentSecretRouteDependencies = RouteFoundation &
  Pick<Foundation, 'clock' | 'sealer'>

const ACCESS = { tags: ['Enrollment secrets'], permission: 'Manage Enrollment' } as const

const NAME_LENGTH_MAX = 200
const USES_MAX = 1_000_000_000

const countInput = z
  .int()
  .min(1, 'Must be 1 or more')
  .max(USES_MAX, `Must be at most ${USES_MAX}`)
  .nullable()

const createBody = z
  .strictObject({
    name: textInput(NAME_LENGTH_MAX).describe('What the secret is for.'),
    owner_email: textInput(EMAIL_LENGTH_MAX)
      .nullable()
      .optional()
      .describe(
        'The email address of the person to whom the devices are registered, who is created if there is none; nobody when left out.',
      ),
    expires_at: timestampInput.nullable().optional().describe('When it ends; never when left out.'),
    uses_max: countInput
      .optional()
      .describe('How many enrollments it is good for; any number when left out.'),
    alarm_uses_per_hour: countInput
      .optional()
      .describe(
        `Uses within an hour from which on admins are told; ${ALARM_USES_PER_HOUR_DEFAULT} when left out, null for never.`,
      ),
  })
  .meta({ id: 'CreateEnrollmentSecret' })

/** Reading, creating and ending what devices enroll with. */
export function enrollmentSecretRoutes(
  dependencies: EnrollmentSecretRouteDependencies,
): ApiRoute[] {
  return [...readRoutes(dependencies), ...writeRoutes(dependencies)]
}

function readRoutes({ db, clock, baseUrl }: EnrollmentSecretRouteDependencies): ApiRoute[] {
  const toJson = (secret: ListedEnrollmentSecret) =>
    toEnrollmentSecretJson(baseUrl, secret, clock.now())
  return [
    listRoute({
      ...ACCESS,
      path: '/enrollment_secrets',
      summary: 'List enrollment secrets',
      description: 'Those that have ended too; without their text.',
      item: enrollmentSecretSchema,
      fetch: ({ window }) => listEnrollmentSecrets(db, window),
      toJson,
    }),
    route({
      ...ACCESS,
      method: 'GET',
      path: '/enrollment_secrets/:id',
      summary: 'Show an enrollment secret',
      responses: { 200: enrollmentSecretSchema },
      handler: async ({ params }) => toJson(await getListedEnrollmentSecret(db, params.id)),
    }),
  ]
}

function writeRoutes({
  baseUrl,
  runChange,
  sealer,
}: EnrollmentSecretRouteDependencies): ApiRoute[] {
  return [
    changeRoute(runChange, {
      ...ACCESS,
      method: 'POST',
      path: '/enrollment_secrets',
      stepUp: true,
      summary: 'Create an enrollment secret',
      description: 'The answer carries its text, which is told this once.',
      body: createBody,
      responses: { 200: enrollmentSecretWithTextSchema },
      example: { body: { name: 'Laptops of new people', uses_max: 25 } },
      handler: async ({ change, body }) => {
        const { name, owner_email: email = null, expires_at: expiresAt = null } = body
        const { uses_max: usesMax, alarm_uses_per_hour: alarmUsesPerHour } = body
        const person = email === null ? null : await findOrCreatePerson(change, { email })
        const { id, secret } = await createEnrollmentSecret(change, sealer, {
          ...{ name, expiresAt, personId: person?.id ?? null },
          ...(usesMax === undefined ? {} : { usesMax }),
          ...(alarmUsesPerHour === undefined ? {} : { alarmUsesPerHour }),
        })
        const listed = await getListedEnrollmentSecret(change.tx, id)
        const json = toEnrollmentSecretJson(baseUrl, listed, change.now())
        return answer(200, { ...json, secret }, { 'cache-control': 'no-store' })
      },
    }),
    changeRoute(runChange, {
      ...ACCESS,
      method: 'DELETE',
      path: '/enrollment_secrets/:id',
      summary: 'End an enrollment secret',
      description:
        'No device enrolls with it any more; enrolled devices stay, and so does the record.',
      responses: { 200: enrollmentSecretSchema },
      handler: async ({ change, params }) => {
        const { id } = await revokeEnrollmentSecret(change, params.id)
        const listed = await getListedEnrollmentSecret(change.tx, id)
        return toEnrollmentSecretJson(baseUrl, listed, change.now())
      },
    }),
  ]
}
