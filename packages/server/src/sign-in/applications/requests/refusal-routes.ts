/* The requests of an application that never became a sign-in, with what was wrong with them. */
import { z } from 'zod'
import type { Foundation } from '../../../changes/foundation.ts'
import { parseId } from '../../../platform/ids.ts'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../../platform/wire/wire-values.ts'
import { route, type ApiRoute } from '../../../schema/operations.ts'
import { getApplication } from '../application-store.ts'
import { REFUSED_FIELDS } from './explain-refusal.ts'
import { listRefusedRequests, type RefusedRequests } from './refused-request-store.ts'

const refusedSchema = z
  .object({
    endpoint: z
      .string()
      .describe(
        '`authorization`, `pushed_authorization_request` or `token`; `entra_authorization` of an external authentication method.',
      ),
    code: z.string().describe('The error that was answered.'),
    field: z.string().describe('What was wrong.'),
    given: z
      .string()
      .nullable()
      .describe(
        'What was sent, cut off after 200 characters. Secrets, codes and hints are not kept.',
      ),
    words: z.string(),
    remedy: z.string(),
    request_count: z.int().describe('So many requests were refused alike.'),
    first_at: timestampSchema,
    last_at: timestampSchema,
  })
  .meta({ id: 'RefusedSignInRequest' })

const refusalsSchema = z
  .object({
    data: z.array(refusedSchema).describe('Of the application; the latest first, at most 20.'),
    unknown_clients: z
      .array(refusedSchema)
      .describe('Of client ids that no application has, such as one with a letter too few.'),
  })
  .meta({ id: 'SignInRefusals' })

/** The operation that says what an identity provider sends wrongly. */
export function refusalRoutes({ db }: Pick<Foundation, 'db'>): ApiRoute[] {
  return [
    route({
      tags: ['Sign-in'],
      permission: 'Read Sign-in',
      method: 'GET',
      path: '/sign_in_applications/:id/last_refusals',
      summary: 'Show the last refused requests of an application',
      description: 'Those that never became a sign-in, with the field that was wrong and a remedy.',
      responses: { 200: refusalsSchema },
      handler: async ({ params }) => {
        const { id } = await getApplication(db, parseId(params.id, 'application'))
        const [own, unknown] = [
          await listRefusedRequests(db, id),
          await listRefusedRequests(db, null),
        ]
        return { data: own.map(toJson), unknown_clients: unknown.map(toJson) }
      },
    }),
  ]
}

function toJson(refused: RefusedRequests) {
  return toWire(refusedSchema, refused, REFUSED_FIELDS[refused.field])
}
