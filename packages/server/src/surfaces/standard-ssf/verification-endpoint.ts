import { noContent } from '../../platform/http/operation.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import { parseVerificationRequest, VERIFICATION_STATE_LENGTH_MAX } from '@heliograph/ssf'
import { z } from 'zod'
import { getOwnStream } from './own-stream.ts'
import { requestVerification } from '../../signals/streams/request-verification.ts'
import { recordActivity } from '../../signals/streams/stream-activity.ts'
import { successWithoutBody } from './success-without-body.ts'
import type { StatusEndpointDependencies } from './status-endpoints.ts'
import { invalidBody, readBody, type SsfOperation, ssfOperation } from './ssf-operation.ts'

const verificationBody = z
  .looseObject({
    stream_id: z.string(),
    state: z
      .string()
      .max(VERIFICATION_STATE_LENGTH_MAX)
      .nullish()
      .describe('Comes back in the event exactly as it is here.'),
  })
  .meta({ id: 'VerificationRequest' })

/** The verification endpoint. SSF 1.0 section 8.1.4.2. */
export function verificationEndpoint({
  runChange,
  settings,
}: StatusEndpointDependencies): SsfOperation {
  const { minVerificationIntervalSeconds } = settings
  return ssfOperation({
    method: 'POST',
    path: '/ssf/verify',
    scope: 'ssf.manage',
    summary: 'Ask for a verification event',
    description:
      'The event is delivered like every other: a paused stream holds it, a disabled one drops it.',
    body: verificationBody,
    example: {
      body: { stream_id: '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11', state: 'VGhpcyBpcyBhIHRlc3Q' },
    },
    responses: { 204: noContent },
    handler: async (request) => {
      const parsed = parseVerificationRequest(readBody(request, ['state']))
      if (!parsed.ok) throw invalidBody(parsed.issues)
      const { stream_id: streamId } = parsed.value
      return runChange(toOrigin(request), async (change) => {
        const stream = await getOwnStream(change.tx, request.principal, streamId, {
          isLocked: true,
        })
        await requestVerification(change, stream, parsed.value, minVerificationIntervalSeconds)
        await recordActivity(change.tx, stream, change.at, settings)
        return successWithoutBody(stream)
      })
    },
  })
}
