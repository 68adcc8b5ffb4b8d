/*
 * How admins find out why an application does not get people in: its last sign-ins, and what a request would come to.
 */
import { z } from 'zod'
import type { Foundation } from '../../../changes/foundation.ts'
import { conflict } from '../../../platform/app-error.ts'
import { parseId } from '../../../platform/ids.ts'
import { isEqualSecret } from '../../../platform/secrets/keyed-digest.ts'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../../platform/wire/wire-values.ts'
import { route, type ApiRoute } from '../../../schema/operations.ts'
import { REFUSALS } from '../../attempts/refusals.ts'
import { openApplicationSecret } from '../application-secret.ts'
import { getApplication, type SignInApplication } from '../application-store.ts'
import { judgeRequest, judgeSecret, judgeState, REQUEST_FIELDS } from './judge-request.ts'
import { listRecentRequests, type RecentRequest } from './request-read.ts'

export type RequestRouteDependencies = Pick<Foundation, 'db' | 'sealer'> & {
  readonly baseUrl: string
}

const PATH = '/sign_in_applications/:id'
const URL_LENGTH_MAX = 16_384
const SECRET_LENGTH_MAX = 2_048
const RECENT_MAX = 20

const findingSchema = z.object({
  field: z.enum(REQUEST_FIELDS),
  fits: z.boolean(),
  given: z.string().nullable(),
  expected: z.string().nullable(),
  remedy: z.string().nullable().describe('What somebody does about it; null where it fits.'),
})

const checkSchema = z
  .object({ findings: z.array(findingSchema) })
  .meta({ id: 'SignInRequestCheck', description: 'A request of an application, field by field.' })

const checkBody = z
  .strictObject({
    authorization_url: z
      .url({ protocol: /^https?$/, error: 'Must be a web address' })
      .max(URL_LENGTH_MAX)
      .describe('The address to which the application sent a browser, from its address bar.')
      .optional(),
    client_secret: z
      .string()
      .max(SECRET_LENGTH_MAX)
      .describe('Compared with the stored one, and told nowhere.')
      .optional(),
  })
  .meta({ id: 'CheckSignInRequest' })

const recentSchema = z
  .object({
    id: z.string(),
    started_at: timestampSchema,
    ended_at: timestampSchema.nullable(),
    stage: z.string().describe('Where it is, or where it ended: `done`, `refused`, `abandoned`.'),
    person_email: z.string().nullable(),
    device_name: z.string().nullable(),
    auth_log_id: z.string().nullable().describe('Its record in `/auth_logs`.'),
    refusal: z
      .object({ code: z.string(), words: z.string(), remedy: z.string() })
      .nullable()
      .describe('Why it was refused: what the person has read, and what an admin does about it.'),
  })
  .meta({ id: 'RecentSignInRequest' })

const recentListSchema = z
  .object({ data: z.array(recentSchema) })
  .meta({ id: 'RecentSignInRequests', description: 'The latest first, at most 20.' })

/** The operations by which a set-up is tried. */
export function requestRoutes({ db, sealer, baseUrl }: RequestRouteDependencies): ApiRoute[] {
  return [
    route({
      tags: ['Sign-in'],
      permission: 'Read Sign-in',
      method: 'GET',
      path: `${PATH}/recent_requests`,
      summary: 'Show the last sign-ins of an application',
      description: 'With why each was refused, and what is done about it.',
      responses: { 200: recentListSchema },
      handler: async ({ params }) => {
        const { id } = await getApplication(db, parseId(params.id, 'application'))
        return { data: (await listRecentRequests(db, id, RECENT_MAX)).map(toRecentJson) }
      },
    }),
    route({
      tags: ['Sign-in'],
      permission: 'Manage Sign-in',
      method: 'POST',
      path: `${PATH}/check_request`,
      stepUp: true,
      summary: 'Check a request of an application',
      description:
        'Compares what an application sends with what is registered here, field by field. Nobody signs in, and nothing is kept.',
      body: checkBody,
      example: {
        body: {
          authorization_url: 'https://heliograph.example.com/sign-in/authorize?client_id=hga_x',
        },
      },
      responses: { 200: checkSchema },
      handler: async ({ params, body }) => {
        const application = await getApplication(db, parseId(params.id, 'application'))
        if (application.kind !== 'oidc') {
          throw conflict('Only requests of OpenID Connect applications can be checked.')
        }
        const { authorization_url: url, client_secret: secret } = body
        return {
          findings: [
            ...judgeState(application),
            ...(url === undefined ? [] : judgeRequest(url, application, `${baseUrl}/sign-in`)),
            ...(secret === undefined ? [] : [judgeSecret(isSecretOf(sealer, application, secret))]),
          ],
        }
      },
    }),
  ]
}

function isSecretOf(
  sealer: Foundation['sealer'],
  { clientId, clientSecretSealed }: SignInApplication,
  secret: string,
): boolean {
  if (clientSecretSealed === null) return false
  return isEqualSecret(openApplicationSecret(sealer, clientId, clientSecretSealed), secret)
}

function toRecentJson(request: RecentRequest) {
  const { refusalCode: code } = request
  const known = code !== null && code in REFUSALS ? REFUSALS[code as keyof typeof REFUSALS] : null
  return toWire(recentSchema, request, {
    refusal:
      code === null || known === null ? null : { code, words: known.words, remedy: known.remedy },
  })
}
