/*
 * Poll delivery of SETs (RFC 8936): acknowledgements first, then the next SETs, signed when they are
 * first handed out. Owns the semantics of a poll for every face; who may poll is the routes' matter.
 */
import {
  buildPollResponse,
  isSetErrorCode,
  type PollRequest,
  type PollResponse,
} from '@heliograph/ssf'
import type { Kysely } from 'kysely'
import { SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { Schema } from '../../platform/db/schema.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import type { KeyRing } from '../signing/key-ring.ts'
import { signDeliveries } from '../signing/sign-deliveries.ts'
import type { StreamRow } from '../streams/stream-store.ts'
import {
  acknowledgeSets,
  listWaitingSets,
  recordReportedErrors,
  storeTokens,
  type ReportedError,
  type WaitingSet,
} from './poll-store.ts'
import type { PollWaiters } from './poll-waiters.ts'

export interface PollDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly keyRing: KeyRing
  readonly waiters: PollWaiters
}

/** What a poll asks for. `waitMs` 0 answers at once. */
export interface Poll extends Pick<PollRequest, 'ack' | 'setErrs' | 'maxEvents'> {
  readonly waitMs: number
}

/** SETs in one answer. */
export const POLL_SETS_MAX = 100
/** Entries of `ack` and `setErrs` in one request. */
export const POLL_ACKNOWLEDGEMENTS_MAX = 1_000
/** Below the 30 s and 60 s after which clients and proxies give up. */
export const POLL_WAIT_MAX_MS = 25 * SECOND_MS
/** How often a SET is handed out again although its receiver reports that it failed. */
const REPORTED_FAILURES_MAX = 10

/**
 * Takes the acknowledgements and answers the next SETs, oldest first. A SET is handed out until it is
 * acknowledged or refused. With `waitMs` and nothing waiting, the answer is held back until something
 * comes. A stream that is not enabled has nothing.
 */
export async function pollSets(
  stream: StreamRow,
  poll: Poll,
  dependencies: PollDependencies,
): Promise<PollResponse> {
  await takeAcknowledgements(stream, poll, dependencies)
  if (stream.status !== 'enabled') return buildPollResponse([], false)
  const deadline = performance.now() + Math.min(poll.waitMs, POLL_WAIT_MAX_MS)
  for (;;) {
    const waiter = dependencies.waiters.begin(stream.destination_id, deadline - performance.now())
    try {
      const answer = await nextSets(stream, poll.maxEvents, dependencies)
      const isEmpty = Object.keys(answer.sets).length === 0
      // An acknowledgement alone waits for nothing that it would not be given.
      if (!isEmpty || poll.maxEvents === 0 || deadline <= performance.now()) return answer
      await waiter.woken
      if (deadline <= performance.now()) return await nextSets(stream, poll.maxEvents, dependencies)
    } finally {
      waiter.end()
    }
  }
}

async function takeAcknowledgements(
  stream: StreamRow,
  { ack, setErrs }: Poll,
  { db, clock }: PollDependencies,
): Promise<void> {
  const now = clock.now()
  const acknowledged = new Set(ack)
  const reports = [...setErrs].map(([eventId, { err, description }]): ReportedError => ({
    eventId: toStorableText(eventId),
    error: toStorableText(description === undefined ? err : `${err}: ${description}`),
    isFinal: isSetErrorCode(err) || acknowledged.has(eventId),
  }))
  const failures = { now, attemptsMax: REPORTED_FAILURES_MAX }
  // Refusals first: an id in both has ended, and not by being received.
  await recordReportedErrors(db, stream.destination_id, reports, failures)
  await acknowledgeSets(db, stream.destination_id, ack.map(toStorableText), now)
}

async function nextSets(
  stream: StreamRow,
  maxEvents: number | undefined,
  { db, keyRing }: PollDependencies,
): Promise<PollResponse> {
  const limit = Math.min(maxEvents ?? POLL_SETS_MAX, POLL_SETS_MAX)
  if (limit === 0) return buildPollResponse([], false)
  const waiting = await listWaitingSets(db, stream.destination_id, limit + 1)
  const sets = waiting.slice(0, limit)
  const tokens = await signWaiting(db, keyRing, sets)
  return buildPollResponse(
    sets.map(({ eventId }, index) => [eventId, tokens[index] ?? ''] as const),
    waiting.length > limit,
  )
}

async function signWaiting(
  db: Kysely<Schema>,
  keyRing: KeyRing,
  sets: readonly WaitingSet[],
): Promise<string[]> {
  const activeKid = keyRing.activeKid()
  const bound = sets.map((set) => {
    const isVerifiable = set.signingKid !== null && keyRing.isPublished(set.signingKid)
    return isVerifiable ? set : { ...set, signingKid: activeKid, token: null }
  })
  const tokens = await signDeliveries(keyRing, bound)
  await storeTokens(
    db,
    bound.flatMap(({ id, signingKid, token }, index) =>
      token === null ? { id, kid: signingKid ?? activeKid, token: tokens[index] ?? '' } : [],
    ),
  )
  return tokens
}
