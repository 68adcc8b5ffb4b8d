/*
 * Tests and verifications of streams: one path that two kinds of body share, and the verification
 * endpoint as SSF 1.0 section 8.1.4 has it.
 */
import { VERIFICATION_STATE_LENGTH_MAX } from '@heliograph/ssf'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import { toOrigin } from '../../changes/to-origin.ts'
import type { Schema } from '../../schema/schema.ts'
import { requestVerification } from './request-verification.ts'
import { malformedWhenInvalid } from '../../platform/http/malformed-when-invalid.ts'
import { answer, noContent, route, type ApiRoute } from '../../schema/operations.ts'
import { refuseIf } from './refuse-if.ts'
import { STREAM_ACCESS, STREAM_IDENTIFIER_LENGTH_MAX } from './stream-access.ts'
import { getStream, parseStreamReference } from './stream-store.ts'
import { testStream, type TestStreamDependencies } from './test-stream.ts'

export interface StreamTestRouteDependencies extends TestStreamDependencies {
  readonly db: Kysely<Schema>
  /** Receivers may ask for a verification this often. */
  readonly minVerificationIntervalSeconds?: number
}

const EMAIL_LENGTH_MAX = 254
const EXAMPLE_ID = '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11'
/** What stands in the path when a client does not fill in the template of the discovery document. */
const UNFILLED = '{stream_id}'

const streamIdSchema = z.string().min(1).max(STREAM_IDENTIFIER_LENGTH_MAX)
const stateSchema = z.string().max(VERIFICATION_STATE_LENGTH_MAX).nullish()
const queryOfSome = z.object({
  stream_id: streamIdSchema.optional().describe('The stream, where the body does not name it.'),
})

const testBody = z.strictObject({
  email: z
    .email('Must be an email address')
    .max(EMAIL_LENGTH_MAX)
    .optional()
    .describe('Who tests; goes along in the event.'),
  stream_id: streamIdSchema
    .optional()
    .describe('Without `email`: asks for a verification of this stream.'),
  state: stateSchema.describe('Of a verification: comes back in the event.'),
})

const verifyBody = z
  .looseObject({
    stream_id: streamIdSchema.optional(),
    state: stateSchema.describe('Comes back in the event.'),
  })
  .meta({ id: 'VerifyStream' })

const testResultSchema = z
  .object({
    success: z.boolean(),
    response_code: z
      .string()
      .describe('The status that the receiver answered; "0" when it could not be reached.'),
    ssf_stream_event_id: z.int(),
    reason: z.string().nullable().describe('What went wrong, in words; null on success.'),
  })
  .meta({ id: 'StreamTest', description: 'What became of a test event.' })

const legacySchema = z
  .strictObject({})
  .describe('Of streams with `legacy_status_codes`, in the place of 204.')

/** The operations that send verification events. */
export function streamTestRoutes(dependencies: StreamTestRouteDependencies): ApiRoute[] {
  return [testRoute(dependencies), verifyRoute(dependencies)]
}

function testRoute(dependencies: StreamTestRouteDependencies): ApiRoute {
  return route({
    ...STREAM_ACCESS,
    method: 'POST',
    path: '/ssf_streams/:id/test',
    summary: 'Send a test event',
    description:
      'With `email`: push streams get it at once; for poll streams it is queued. With `stream_id` and without `email`: asks for a verification event, as the verification endpoint does, and answers 204.',
    query: queryOfSome,
    body: testBody,
    example: { body: { email: 'ada@example.com' } },
    responses: { 200: z.union([testResultSchema, legacySchema]), 204: noContent },
    handler: async (context) => {
      const { email, state, stream_id: inBody = context.query.stream_id } = context.body
      const { id: inPath } = context.params
      refuseIf(
        email === undefined && inBody === undefined
          ? [{ path: 'email', message: 'This is required: a string.' }]
          : [],
      )
      const identifier = inPath === UNFILLED ? requireStreamId(inBody) : inPath
      await refuseOtherStream(identifier, inBody, dependencies)
      if (email === undefined) return verify(context, { identifier, state }, dependencies)
      const result = await testStream(
        toOrigin(context),
        parseStreamReference(identifier),
        email,
        dependencies,
      )
      return answer(200, {
        success: result.isSuccess,
        response_code: String(result.statusCode),
        ssf_stream_event_id: Number(result.deliveryId),
        reason: result.reason,
      })
    },
  })
}

function verifyRoute(dependencies: StreamTestRouteDependencies): ApiRoute {
  return malformedWhenInvalid(
    route({
      ...STREAM_ACCESS,
      method: 'POST',
      path: '/ssf_streams/verify',
      summary: 'Ask for a verification event',
      description:
        'The event is delivered as every other; a paused stream holds it, a disabled one drops it.',
      query: queryOfSome,
      body: verifyBody,
      example: { body: { stream_id: EXAMPLE_ID, state: 'VGhpcyBpcyBhIHRlc3Q' } },
      responses: { 200: legacySchema, 204: noContent },
      handler: (context) => {
        const { state, stream_id: inBody = context.query.stream_id } = context.body
        return verify(context, { identifier: requireStreamId(inBody), state }, dependencies)
      },
    }),
  )
}

async function verify(
  context: Parameters<typeof toOrigin>[0],
  { identifier, state }: { readonly identifier: string; readonly state: string | null | undefined },
  { runChange, minVerificationIntervalSeconds = 0 }: StreamTestRouteDependencies,
) {
  return runChange(toOrigin(context), async (change) => {
    const stream = await getStream(change.tx, parseStreamReference(identifier), { isLocked: true })
    // A state of null, which some clients send, is none (SSF 1.0 section 8.1.4.2).
    const wanted = typeof state === 'string' ? { state } : {}
    await requestVerification(change, stream, wanted, minVerificationIntervalSeconds)
    return stream.usesLegacyStatusCodes ? answer(200, {}) : answer(204, undefined)
  })
}

function requireStreamId(streamId: string | undefined): string {
  refuseIf(
    streamId === undefined ? [{ path: 'stream_id', message: 'This is required: a string.' }] : [],
  )
  return streamId ?? ''
}

/** A body that names another stream than the path is a mistake, and either could be meant. */
async function refuseOtherStream(
  identifier: string,
  inBody: string | undefined,
  { db }: StreamTestRouteDependencies,
): Promise<void> {
  if (inBody === undefined || inBody === identifier) return
  const { id, streamId } = await getStream(db, parseStreamReference(identifier))
  if ([id, streamId].some((own) => own === inBody.toLowerCase())) return
  refuseIf([{ path: 'stream_id', message: 'Names another stream than the path.' }])
}
