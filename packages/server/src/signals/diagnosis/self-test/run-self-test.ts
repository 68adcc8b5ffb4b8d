/*
 * The self-test of a receiver: sends it a good SET and a set of bad ones, and tells what it made of each.
 * Owns when a test may run, what is kept of it and how it is sent; what is sent is self-test-case.ts's.
 * Nothing of it passes through the queue: the SETs are wrong on purpose, and are sent once.
 */
import type { Kysely } from 'kysely'
import type { Change, ChangeOrigin } from '../../../changes/change.ts'
import { AppError } from '../../../platform/app-error.ts'
import { MINUTE_MS, SECOND_MS } from '../../../platform/clock.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { SelfTestCaseRecord } from '../../../schema/tables/ssf-stream-tables.ts'
import { newUlid, newUuid } from '../../../platform/ids.ts'
import { createPushConnections } from '../../push/push-connection.ts'
import { findPushTarget, type PushTarget } from '../../push/push-target-store.ts'
import type { StreamContext } from '../../streams/stream-context.ts'
import type { Stream } from '../../streams/stream-store.ts'
import { judgeSelfTestCase, skipSelfTestCase } from './judge-self-test-case.ts'
import { listSelfTestCases, type SelfTestCase } from './self-test-case.ts'
import {
  finishSelfTest,
  findSelfTest,
  startSelfTest,
  type SelfTestRecord,
} from './self-test-store.ts'
import { createUnknownSigner, openRetiredSigner, openTestSigner } from './test-signer.ts'

/** What tests work with. */
type SelfTestContext = Pick<
  StreamContext,
  'db' | 'clock' | 'runChange' | 'sealer' | 'keyRing' | 'client'
>

/** A stream with what its receiver made of the last test. */
export interface SelfTestOutcome {
  readonly stream: Stream
  readonly test: SelfTestRecord
}

/** The person at the other end is waiting. */
const REQUEST_TIMEOUT_MS = 5 * SECOND_MS
/** Between the beginnings of two tests of a stream. */
const SELF_TEST_INTERVAL_MS = MINUTE_MS

/**
 * Tests the receiver of a push stream. `findStream` answers the stream, locked; the caller decides whose
 * streams it finds. When the good SET does not reach the receiver, the others are not sent.
 *
 * @throws AppError `conflict` for a stream that is polled or not enabled; `rate_limited` when the last
 * test began less than a minute ago
 */
export async function runSelfTest(
  origin: ChangeOrigin,
  findStream: (change: Change) => Promise<Stream>,
  context: SelfTestContext,
): Promise<SelfTestOutcome> {
  const { db, clock, runChange } = context
  const stream = await runChange(origin, async (change) => {
    const found = await findStream(change)
    await beginSelfTest(change, found)
    return found
  })
  const target = await findPushTarget(db, stream.destinationId)
  if (target === undefined) {
    throw new AppError('conflict', 'The stream was changed while it was tested.')
  }
  const cases = await sendCases(await makeCases(stream, context), target, context)
  await finishSelfTest(db, stream.id, cases, clock.now())
  return { stream, test: await getSelfTest(db, stream) }
}

/**
 * The last test of a stream.
 *
 * @throws AppError `not_found` when there was none
 */
export async function getSelfTest(db: Kysely<Schema>, stream: Stream): Promise<SelfTestRecord> {
  const test = await findSelfTest(db, stream.id)
  if (test !== undefined) return test
  throw new AppError('not_found', 'The receiver of this stream was never tested.')
}

async function beginSelfTest(change: Change, stream: Stream): Promise<void> {
  if (stream.deliveryMethod === 'poll') {
    throw new AppError(
      'conflict',
      'The receiver of this stream polls, so that there is no answer to judge; only push streams can be tested.',
    )
  }
  if (stream.status !== 'enabled') {
    throw new AppError('conflict', `The stream is ${stream.status}; enable it to test it.`)
  }
  const last = await findSelfTest(change.tx, stream.id)
  const waitMs = (last?.startedAt.getTime() ?? 0) + SELF_TEST_INTERVAL_MS - change.at.getTime()
  if (waitMs > 0) {
    throw new AppError('rate_limited', 'A receiver can be tested once a minute.', {
      retryAfterSeconds: Math.ceil(waitMs / SECOND_MS),
    })
  }
  await startSelfTest(change.tx, stream.id, change.at)
  change.recordAudit({
    action: 'ssf_stream.self_tested',
    target: { type: 'ssf_stream', id: stream.id },
    description: `tested the receiver of the stream ${stream.name}`,
    after: { stream_id: stream.streamId },
  })
}

async function makeCases(
  stream: Stream,
  { db, clock, sealer, keyRing }: SelfTestContext,
): Promise<SelfTestCase[]> {
  const now = clock.now()
  return listSelfTestCases({
    stream,
    now,
    txn: newUlid(now),
    newJti: newUuid,
    signer: await openTestSigner(db, sealer, keyRing.activeKid(stream.destinationId)),
    retiredSigner: await openRetiredSigner(db, sealer, now),
    unknownSigner: await createUnknownSigner(),
  })
}

/** One after another: what a receiver makes of a repetition depends on the order. */
async function sendCases(
  cases: readonly SelfTestCase[],
  target: PushTarget,
  context: SelfTestContext,
): Promise<SelfTestCaseRecord[]> {
  const { client } = context
  const connection = await createPushConnections(context)(target)
  const records: SelfTestCaseRecord[] = []
  for (const testCase of cases) {
    if (records[0]?.verdict === 'unreachable') {
      records.push(skipSelfTestCase(testCase, 'Not sent, because the good event was not answered.'))
      continue
    }
    if (testCase.body === null) {
      records.push(skipSelfTestCase(testCase, 'Not sent: no signing key has been retired yet.'))
      continue
    }
    const timeouts = { totalMs: REQUEST_TIMEOUT_MS }
    const request = { ...connection.toRequest(testCase.body), timeouts }
    const result = await (connection.send?.(request) ?? client.request(request))
    records.push(judgeSelfTestCase(testCase, result))
  }
  return records
}
