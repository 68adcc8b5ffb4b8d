/* Health and self-test of a receiver's own streams: extensions of SSF with the receiver's access token. */
import { toOrigin } from '../../changes/to-origin.ts'
import { streamHealthSchema, toStreamHealth } from '../../signals/diagnosis/health/stream-health.ts'
import {
  getSelfTest,
  runSelfTest,
  type SelfTestDependencies,
} from '../../signals/diagnosis/self-test/run-self-test.ts'
import {
  SELF_TEST_DESCRIPTION,
  selfTestSchema,
  toSelfTestJson,
} from '../../signals/diagnosis/self-test/self-test-routes.ts'
import { getOwnStream } from './own-stream.ts'
import { requireStreamId, ssfOperation, streamIdQuery, type SsfOperation } from './ssf-operation.ts'

/** What a receiver can find out about its own streams. */
export function diagnosisEndpoints(dependencies: SelfTestDependencies): SsfOperation[] {
  const { db, clock } = dependencies
  return [
    ssfOperation({
      method: 'GET',
      path: '/ssf/health',
      scope: 'ssf.read',
      summary: 'Show how a stream is doing',
      description: 'An extension: the queue, delivery times, the last failure, and key proofs.',
      query: streamIdQuery,
      responses: { 200: streamHealthSchema },
      handler: async ({ principal, query }) => {
        const stream = await getOwnStream(db, principal, requireStreamId(query))
        return { status: 200, body: await toStreamHealth(db, stream, clock.now()) }
      },
    }),
    ssfOperation({
      method: 'POST',
      path: '/ssf/self_test',
      scope: 'ssf.manage',
      summary: 'Test the receiver of a stream',
      description: `An extension. ${SELF_TEST_DESCRIPTION}`,
      query: streamIdQuery,
      responses: { 200: selfTestSchema },
      handler: async (request) => {
        const id = requireStreamId(request.query)
        const outcome = await runSelfTest(
          toOrigin(request),
          (change) => getOwnStream(change.tx, request.principal, id, { isLocked: true }),
          dependencies,
        )
        return { status: 200, body: toSelfTestJson(outcome) }
      },
    }),
    ssfOperation({
      method: 'GET',
      path: '/ssf/self_test',
      scope: 'ssf.read',
      summary: 'Show the last test of the receiver of a stream',
      description: 'An extension.',
      query: streamIdQuery,
      responses: { 200: selfTestSchema },
      handler: async ({ principal, query }) => {
        const stream = await getOwnStream(db, principal, requireStreamId(query))
        const test = await getSelfTest(db, stream)
        return { status: 200, body: toSelfTestJson({ stream, test }) }
      },
    }),
  ]
}
