/*
 * Poll delivery of SETs (RFC 8936): acknowledgements first, then the next SETs, signed when they are
 * first sent. Owns the semantics of a poll for every surface; who may poll is the routes' matter.
 */
import {
  buildPollResponse,
  isSetErrorCode,
  type PollRequest,
  type PollResponse,
} from '@heliograph/ssf'
import type { Kysely } from 'kysely'
import { SECOND_MS, type Clock } from '../../platform/clock.ts'
import { toPreparedDb } from '../../platform/db/database.ts'
import { repeatAfterConflict } from '../../platform/db/transient-conflict.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { randomInteger } from '../../platform/ids.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import { notifyDestinations } from '../dispatch/delivery-store.ts'
import { toNumberedStream, withSequences } from '../history/number-sets.ts'
import type { KeyRing } from '../signing/key-ring.ts'
import type { StreamContext } from '../streams/stream-context.ts'
import type { Stream } from '../streams/stream-store.ts'
import { discardUnrequested, isRequested } from '../streams/unrequested-event-store.ts'
import {
  acknowledgeSets,
  findPolledStream,
  listWaitingSets,
  recordReportedErrors,
  storeTokens,
  type ReportedError,
  type WaitingSet,
  type WaitingSets,
} from './poll-store.ts'
import { judgeReportedKeys } from './poll-signing-keys.ts'

/** What polls work with. */
export type PollDependencies = Pick<
  StreamContext,
  'db' | 'clock' | 'keyRing' | 'waiters' | 'refusedKeys' | 'topics'
>

/** What a poll asks for. `waitMs` 0 answers at once. */
export interface Poll extends Pick<PollRequest, 'ack' | 'setErrs' | 'maxEvents'> {
  readonly waitMs: number
  /** Where the receiver polls from. */
  readonly address?: string
  /** Aborted when the receiver is gone: nobody waits any more. */
  readonly signal?: AbortSignal
  /** Whether the credential of the poll still counts: it may end while the poll waits. */
  readonly isStillAllowed: () => Promise<boolean>
}

/** SETs in one answer. */
export const POLL_SETS_MAX = 100
/** Entries of `ack` and `setErrs` in one request. */
export const POLL_ACKNOWLEDGEMENTS_MAX = 1_000
/** Below the 30 s and 60 s after which clients and proxies give up. */
export const POLL_WAIT_MAX_MS = 25 * SECOND_MS
const POLL_WAIT_SPREAD_MS = POLL_WAIT_MAX_MS / 5
/** How often a SET is sent again although its receiver reports that it failed. */
const REPORTED_FAILURES_MAX = 10

const NOTHING: PollResponse = buildPollResponse([], false)

/**
 * Takes the acknowledgements and answers the next SETs, oldest first. A SET is sent until it is
 * acknowledged or refused, to everybody who polls. With `waitMs` and nothing to send, the answer
 * waits until something comes; with `maxEvents` 0 until something waits, which is not sent
 * (RFC 8936 section 2.4.2). A stream that is not enabled sends the event of its stop and nothing
 * else; a poll of it waits for more, as for any event. Whose credential ended during the wait is told nothing.
 */
export async function pollSets(
  stream: Stream,
  poll: Poll,
  context: PollDependencies,
): Promise<PollResponse> {
  // The same few statements each time, of which planning is most where deliveries have many partitions.
  const dependencies = { ...context, db: toPreparedDb(context.db) }
  await takeAcknowledgements(stream, poll, dependencies)
  const { waiters } = dependencies
  const deadlineMs = performance.now() + spreadWait(poll.waitMs)
  let present: Stream | undefined = stream
  for (;;) {
    const remainingMs = poll.waitMs === 0 ? 0 : deadlineMs - performance.now()
    const waiter = waiters.begin(stream.destinationId, remainingMs, poll.signal)
    try {
      const { answer, nextDueInMs } = await lookFor(poll, present, stream, dependencies)
      if (answer !== undefined) {
        const isTold =
          poll.maxEvents !== 0 && (present !== undefined || (await poll.isStillAllowed()))
        return isTold ? answer : NOTHING
      }
      if (nextDueInMs !== undefined) waiter.wakeIn(nextDueInMs)
      if ((await waiter.outcome) === 'over') return NOTHING
      present = undefined
    } finally {
      waiter.end()
    }
  }
}

/**
 * Receivers that came at once, after a restart, would come back at once every time: the longest waits end
 * up to a fifth earlier.
 */
function spreadWait(waitMs: number): number {
  if (waitMs < POLL_WAIT_MAX_MS) return waitMs
  return POLL_WAIT_MAX_MS - randomInteger(0, POLL_WAIT_SPREAD_MS)
}

/**
 * How long a poll is to wait. `isLong` says what a request means that does not say: a long poll by
 * RFC 8936 section 2.2. What only acknowledges wants no wait unless it says so.
 */
export function toPollWaitMs(
  { maxEvents, returnImmediately, timeoutSecs }: PollRequest,
  { isLong }: { readonly isLong: boolean },
): number {
  const isWaiting = returnImmediately === undefined ? isLong && maxEvents !== 0 : !returnImmediately
  if (!isWaiting) return 0
  if (timeoutSecs === undefined) return POLL_WAIT_MAX_MS
  return Math.min(timeoutSecs * SECOND_MS, POLL_WAIT_MAX_MS)
}

async function takeAcknowledgements(
  stream: Stream,
  { ack, setErrs, address }: Poll,
  { db, clock, keyRing, refusedKeys, topics }: PollDependencies,
): Promise<void> {
  const now = clock.now()
  const acknowledged = new Set(ack)
  const refused = [...setErrs]
    .filter(([eventId]) => !acknowledged.has(eventId))
    .map(([eventId, error]) => ({ eventId: toStorableText(eventId), ...error }))
  const judged = await judgeReportedKeys(db, stream.destinationId, refused, refusedKeys)
  const judgementOf = (eventId: string) => judged.get(toStorableText(eventId))?.kind
  const reports = [...setErrs]
    .filter(([eventId]) => judgementOf(eventId) !== 'resign')
    .map(([eventId, { err, description }]): ReportedError => {
      const isExcused = judgementOf(eventId) === 'later'
      return {
        eventId: toStorableText(eventId),
        error: toStorableText(description === undefined ? err : `${err}: ${description}`),
        isFinal: acknowledged.has(eventId) || (isSetErrorCode(err) && !isExcused),
        // Until it has fetched the keys anew it refuses whatever it is sent: a poll takes it no time to do so ten
        // times.
        isExcused,
      }
    })
  const failures = { now, attemptsMax: REPORTED_FAILURES_MAX }
  // Refusals first: an id in both has ended, and not by being received.
  await repeatAfterConflict(() => recordReportedErrors(db, stream.destinationId, reports, failures))
  const acceptedKids = await repeatAfterConflict(() =>
    acknowledgeSets(db, stream, ack.map(toStorableText), now),
  )
  if (ack.length + setErrs.size > 0) topics.tell(['deliveries'])
  for (const kid of acceptedKids) {
    keyRing.proofs.noteAcceptance(stream.destinationId, kid, address ?? null)
  }
}

/** What a look at a stream has found. */
interface Look {
  /** Undefined when there is nothing to send. */
  readonly answer?: PollResponse
  /** How long until something may be sent. */
  readonly nextDueInMs?: number | undefined
}

/**
 * Looks for what can be sent. After a wait the stream is read anew: it
 * may have been stopped, turned to push or deleted meanwhile. Those who wait for the same look together.
 */
async function lookFor(
  poll: Poll,
  present: Stream | undefined,
  { destinationId }: Stream,
  dependencies: PollDependencies,
): Promise<Look> {
  const limit = Math.min(poll.maxEvents ?? POLL_SETS_MAX, POLL_SETS_MAX)
  if (limit === 0 && poll.waitMs === 0) return { answer: NOTHING }
  if (present !== undefined) return nextSets(present, limit, dependencies)
  return dependencies.waiters.share(`${destinationId} ${limit}`, async () => {
    const stream = await findPolledStream(dependencies.db, destinationId)
    return stream === undefined ? { answer: NOTHING } : nextSets(stream, limit, dependencies)
  })
}

async function nextSets(
  stream: Stream,
  limit: number,
  { db, keyRing, clock }: PollDependencies,
): Promise<Look> {
  const { sets: waiting, nextDueInMs } = await listRequestedSets(db, stream, limit + 1, clock)
  if (waiting.length === 0) return { nextDueInMs }
  const sets = waiting.slice(0, limit)
  const numbered = await withSequences(db, toNumberedStream(stream), sets)
  const tokens = await signWaiting(db, keyRing, stream.destinationId, sets, numbered)
  const answer = buildPollResponse(
    sets.map(({ eventId }, index) => [eventId, tokens[index] ?? ''] as const),
    waiting.length > limit && !stream.omitsMoreAvailable,
  )
  return { answer }
}

/**
 * What waits of the types that the stream asks for; what waits of others is given up. `stream` may be older than what
 * waits: it is read anew before anything is taken for not asked for.
 */
async function listRequestedSets(
  db: Kysely<Schema>,
  stream: Stream,
  limit: number,
  clock: Clock,
): Promise<WaitingSets> {
  const waiting = await listWaitingSets(db, stream, limit)
  if (waiting.sets.every(({ eventType }) => isRequested(stream, eventType))) return waiting
  const givenUpCount = await discardUnrequested(db, stream.destinationId, clock.now())
  // Whoever watches is told, and pushes go on of a stream that falls back to polls.
  if (givenUpCount > 0) await notifyDestinations(db, [stream.destinationId])
  const present = await findPolledStream(db, stream.destinationId)
  if (present === undefined) return { sets: [], nextDueInMs: undefined }
  const { sets, nextDueInMs } = await listWaitingSets(db, present, limit)
  const wanted = sets.filter(({ eventType }) => isRequested(present, eventType))
  // What is not wanted is claimed to be pushed, and its worker gives it up.
  return { sets: wanted, nextDueInMs: wanted.length < sets.length ? SECOND_MS : nextDueInMs }
}

async function signWaiting(
  db: Kysely<Schema>,
  keyRing: KeyRing,
  destinationId: DestinationId,
  sets: readonly WaitingSet[],
  numbered: readonly WaitingSet[],
): Promise<string[]> {
  const activeKid = keyRing.activeKid(destinationId)
  const bound = numbered.map((set) => {
    const isVerifiable = set.signingKid !== null && keyRing.isPublished(set.signingKid)
    return isVerifiable ? set : { ...set, signingKid: activeKid, token: null }
  })
  const tokens = await keyRing.signDeliveries(bound)
  const signed = bound.flatMap(({ signingKid, token }, index) => {
    const set = sets[index]
    if (set === undefined || token !== null) return []
    return { ...set, kid: signingKid ?? activeKid, token: tokens[index] ?? '' }
  })
  await repeatAfterConflict(() => storeTokens(db, signed))
  return tokens
}
