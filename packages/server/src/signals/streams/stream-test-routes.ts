/*
 * The test of a stream in the REST API. Its path is shared by two kinds of body: with an email it is a test
 * whose fate is answered, without one it asks for a verification as the verification endpoint does.
 */
import type { Kysely } from 'kysely'
import { z } from 'zod'
import { toOrigin } from '../../changes/to-origin.ts'
import type { ResponseSchemas } from '../../platform/http/operation.ts'
import { answer, noContent, route, type ApiRoute } from '../../schema/operations.ts'
import type { Schema } from '../../schema/schema.ts'
import { missingText, refuseIf } from './refuse-if.ts'
import {
  legacySchema,
  otherStreamIdQuery,
  stateSchema,
  streamIdSchema,
  type RootSurface,
} from './root-surface.ts'
import { STREAM_ACCESS } from './stream-access.ts'
import { emailInput } from '../../platform/wire/body-values.ts'
import type { StreamContext } from './stream-context.ts'
import { verifyStream } from './stream-endpoints.ts'
import { getStream, parseStreamReference } from './stream-store.ts'
import { testStream, type TestStreamDependencies } from './test-stream.ts'

/** What stands in the path when a client does not fill in the template of the discovery document. */
const UNFILLED = '{stream_id}'

const testBody = z.strictObject({
  email: emailInput.optional().describe('Who tests; goes along in the event.'),
  stream_id: streamIdSchema
    .optional()
    .describe('Without `email`: asks for a verification of this stream.'),
  state: stateSchema.describe('Of a verification: comes back in the event.'),
})

const testResultSchema = z
  .object({
    success: z.boolean(),
    response_code: z
      .string()
      .describe(
        'The status that the receiver answered; "0" when it could not be reached, "202" when the event waits for a poll.',
      ),
    ssf_stream_event_id: z.int(),
    reason: z.string().nullable().describe('What went wrong, in words; null on success.'),
  })
  .meta({ id: 'StreamTest', description: 'What became of a test event.' })

const RESPONSES: ResponseSchemas = {
  200: z.union([testResultSchema, legacySchema]),
  204: noContent,
}

/** The test of a stream. */
export function testRoute(
  surface: RootSurface,
  dependencies: StreamContext & TestStreamDependencies,
): ApiRoute {
  return route({
    ...STREAM_ACCESS,
    method: 'POST',
    path: '/ssf_streams/:id/test',
    summary: 'Send a test event',
    description:
      'With `email`: push streams get it at once; for poll streams it is queued. With `stream_id` and without `email`: asks for a verification event, as the verification endpoint does, and answers 204.',
    query: otherStreamIdQuery,
    body: testBody,
    example: { body: { email: 'ada@example.com' } },
    responses: RESPONSES,
    handler: async (context) => {
      const { email, state, stream_id: inBody = context.query.stream_id } = context.body
      const isNamed = inBody !== undefined
      refuseIf([email === undefined && !isNamed && missingText('email')])
      const isUnfilled = context.params.id === UNFILLED
      refuseIf([isUnfilled && !isNamed && missingText('stream_id')])
      const id = isUnfilled ? (inBody ?? '') : context.params.id
      await refuseOtherStream(id, inBody, dependencies.db)
      if (email === undefined) {
        const body = { stream_id: id, state }
        return verifyStream({ ...context, params: { id }, body }, surface, dependencies)
      }
      const reference = parseStreamReference(id)
      const result = await testStream(toOrigin(context), reference, email, dependencies)
      return answer(200, {
        success: result.isSuccess,
        response_code: String(result.statusCode),
        ssf_stream_event_id: Number(result.deliveryId),
        reason: result.reason,
      })
    },
  })
}

/** A body that names another stream than the path is a mistake, and either could be meant. */
async function refuseOtherStream(
  inPath: string,
  inBody: string | undefined,
  db: Kysely<Schema>,
): Promise<void> {
  if (inBody === undefined || inBody === inPath) return
  const { id, streamId } = await getStream(db, parseStreamReference(inPath))
  const isSame = [id, streamId].some((own) => own === inBody.toLowerCase())
  refuseIf([!isSame && { path: 'stream_id', message: 'Names another stream than the path.' }])
}
