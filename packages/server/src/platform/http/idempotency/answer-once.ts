/*
 * Writes that can be repeated without being done twice. Owns the record of a request under its
 * idempotency key: claimed and, where the answer is known by then, answered in the transaction of the
 * effect, so that neither exists without the other. Knows nothing of routes.
 *
 * - A request that is refused before it changes anything leaves no record.
 * - A repetition gets the first answer; while the first is at work it is told to wait.
 * - When the service dies between the effect and an answer that is only known later, a repetition is
 *   told so: nothing is ever done again under the key.
 */
import type { Kysely } from 'kysely'
import { AppError } from '../../app-error.ts'
import { DAY_MS, MINUTE_MS, type Clock } from '../../clock.ts'
import type { TransactionHooks } from '../../db/transaction-hooks.ts'
import type { SealContext, Sealer } from '../../secrets/sealed-box.ts'
import { fingerprintOf, scopeHashOf, type IdempotentRequest } from './idempotency-key.ts'
import {
  claimIdempotencyRecord,
  findIdempotencyRecord,
  tryLockScope,
  updateIdempotencyAnswer,
  type IdempotencyClaim,
  type IdempotencyRecord,
  type KeptAnswer,
} from './idempotency-store.ts'
import type { IdempotencyTables } from '../../db/idempotency-tables.ts'

/** How long an answer is kept. */
export const IDEMPOTENCY_RETENTION_MS = DAY_MS

/** Longer than any request may take. */
const REQUEST_DURATION_MAX_MS = 2 * MINUTE_MS
const RETRY_AFTER_SECONDS = 1

/** An answer that can be sent again. A body of `undefined` is none. */
export interface RepeatableAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** How a request is carried out. */
export interface IdempotentWork {
  /** Carries the request out; its changes run the hooks. */
  readonly perform: (
    transactionHooks: TransactionHooks<IdempotencyTables>,
  ) => Promise<RepeatableAnswer>
  /** The final answer, when the result of a change is one; `undefined` when it is made later. */
  readonly toAnswer: (result: unknown) => RepeatableAnswer | undefined
  /** The answer to a refusal that is final once something has been changed. */
  readonly toRefusal: (error: unknown) => RepeatableAnswer | undefined
}

/** Answers each idempotent request once. */
export interface AnswerOnce {
  /**
   * Carries the request out, or gives the answer of the first request under its key.
   *
   * @throws AppError `idempotency_key_reused`, `request_in_progress`, `answer_lost`, and what the
   * work throws.
   */
  (
    request: IdempotentRequest,
    work: IdempotentWork,
  ): Promise<{ readonly answer: RepeatableAnswer; readonly isReplayed: boolean }>
}

export interface AnswerOnceDependencies {
  readonly db: Kysely<IdempotencyTables>
  readonly clock: Clock
  readonly sealer: Sealer
  /** Told when an answer could not be kept; the request is answered nevertheless. */
  readonly logError: (error: unknown, message: string) => void
}

/** Ends a transaction whose request another one has answered in the meantime. */
class AnsweredMeanwhile extends Error {}

/** Creates the keeper of answers on a database. */
export function createAnswerOnce(dependencies: AnswerOnceDependencies): AnswerOnce {
  const { db, clock, sealer } = dependencies
  return async (request, work) => {
    const now = clock.now()
    const claim: IdempotencyClaim = {
      scopeHash: scopeHashOf(request),
      fingerprint: fingerprintOf(request),
      requestId: request.requestId,
      createdAt: now,
      expiresAt: new Date(now.getTime() + IDEMPOTENCY_RETENTION_MS),
    }
    const replay = async () => {
      const record = await findIdempotencyRecord(db, claim.scopeHash, now)
      return record && { answer: readAnswer(record, claim, sealer), isReplayed: true }
    }
    const earlier = await replay()
    if (earlier !== undefined) return earlier
    const attempt = createAttempt(dependencies, claim, work)
    try {
      const answer = await work.perform(attempt.transactionHooks)
      await attempt.keep(answer)
      return { answer, isReplayed: false }
    } catch (error) {
      if (error instanceof AnsweredMeanwhile) return (await replay()) ?? inProgress()
      await attempt.keepRefusal(error)
      throw error
    }
  }
}

interface Attempt {
  readonly transactionHooks: TransactionHooks<IdempotencyTables>
  keep(answer: RepeatableAnswer): Promise<void>
  keepRefusal(error: unknown): Promise<void>
}

function createAttempt(
  { db, sealer, logError }: AnswerOnceDependencies,
  claim: IdempotencyClaim,
  { toAnswer, toRefusal }: IdempotentWork,
): Attempt {
  let hasBegun = false
  let keptText: string | undefined
  const sealAnswer = (answer: RepeatableAnswer): KeptAnswer => ({
    status: answer.status,
    answerSealed: sealer.seal(toText(answer), sealContext(claim)),
  })
  const tryToKeep = async (keep: () => Promise<unknown>) => {
    try {
      await keep()
    } catch (error) {
      logError(error, 'the answer of an idempotent request was not kept')
    }
  }
  return {
    transactionHooks: {
      async begin(tx) {
        keptText = undefined
        if (!(await tryLockScope(tx, claim.scopeHash))) inProgress()
        if (!(await claimIdempotencyRecord(tx, claim))) throw new AnsweredMeanwhile()
        hasBegun = true
      },
      async complete(tx, result) {
        const answer = toAnswer(result)
        if (answer === undefined) return
        await updateIdempotencyAnswer(tx, claim, sealAnswer(answer))
        keptText = toText(answer)
      },
    },
    async keep(answer) {
      if (keptText === toText(answer)) return
      const kept = sealAnswer(answer)
      await tryToKeep(() =>
        hasBegun
          ? updateIdempotencyAnswer(db, claim, kept)
          : claimIdempotencyRecord(db, claim, kept),
      )
    },
    async keepRefusal(error) {
      const answer = hasBegun && keptText === undefined ? toRefusal(error) : undefined
      if (answer === undefined) return
      // Of a change that was rolled back there is no record, and so nothing to write to.
      await tryToKeep(() => updateIdempotencyAnswer(db, claim, sealAnswer(answer)))
    },
  }
}

function readAnswer(
  record: IdempotencyRecord,
  claim: IdempotencyClaim,
  sealer: Sealer,
): RepeatableAnswer {
  if (!record.fingerprint.equals(claim.fingerprint)) {
    throw new AppError(
      'idempotency_key_reused',
      'The idempotency key belongs to a request that asked for something else. Use a new key.',
    )
  }
  if (record.status !== null && record.answerSealed !== null) {
    const text = sealer.openText(record.answerSealed, sealContext(record))
    const { headers, body } = JSON.parse(text) as Pick<RepeatableAnswer, 'headers' | 'body'>
    return { status: record.status, headers, body }
  }
  const ageMs = claim.createdAt.getTime() - record.createdAt.getTime()
  if (ageMs < REQUEST_DURATION_MAX_MS) inProgress()
  throw new AppError(
    'answer_lost',
    'The first request with this idempotency key was carried out, but its answer was lost. Read the record; nothing is done again under this key.',
  )
}

function inProgress(): never {
  throw new AppError(
    'request_in_progress',
    'The first request with this idempotency key is still being carried out.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )
}

function toText({ headers, body }: RepeatableAnswer): string {
  return JSON.stringify({ headers, body })
}

function sealContext({ scopeHash }: Pick<IdempotencyClaim, 'scopeHash'>): SealContext {
  return {
    table: 'idempotency_record',
    column: 'answer_sealed',
    id: scopeHash.toString('hex'),
  }
}
