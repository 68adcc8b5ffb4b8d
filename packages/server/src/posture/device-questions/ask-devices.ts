/*
 * Asks single devices and waits for their answers, which may come to any process. Owns who waits; a question that
 * nobody waits for any more is not asked any longer.
 */
import type { Kysely } from 'kysely'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { RunChange } from '../../changes/change.ts'
import type { Clock } from '../../platform/clock.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { isId, newUuid } from '../../platform/ids.ts'
import { SharedRun } from '../../platform/shared-run.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  QUESTION_SQL_LENGTH_MAX,
  type AskedQuestion,
  type QuestionAnswer,
} from './device-question.ts'
import {
  expireQuestions,
  insertQuestions,
  listEndedQuestions,
  type EndedQuestion,
  type NewQuestion,
} from './question-store.ts'

/** For how long to wait for answers. */
interface AskOptions {
  /** One minute at most. */
  readonly timeoutMs: number
  /** Ends the wait: nobody wants the answers any more. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Asks devices, each question of one, and answers in the order of the questions when all have answered or the time
 * is over. 100 questions at most; one that is refused or not answered is `expired`.
 */
export type AskDevices = (
  questions: readonly AskedQuestion[],
  options: AskOptions,
) => Promise<QuestionAnswer[]>

export interface DeviceAsker {
  readonly askDevices: AskDevices
  /** Takes the payload of a notification: these were answered. */
  noteAnswered(payload: string): void
  /** Looks for every answer that is waited for: some may have been missed. */
  lookForAll(): void
  /** Ends every wait. */
  close(): void
}

const QUESTIONS_MAX = 100
const TIMEOUT_MS_MAX = MINUTE_MS
/** Of an answer that was not told: whoever stored it died right then. */
const LOOK_INTERVAL_MS = 2 * SECOND_MS

/** Creates the asker of this process. `db` must be that of the listener that hears of answers. */
export function createDeviceAsker({
  clock,
  db,
  runChange,
  logError,
}: {
  readonly clock: Clock
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
  readonly logError: (error: unknown, message: string) => void
}): DeviceAsker {
  const waiting = new Map<string, (ended: EndedQuestion) => void>()
  const closing = new AbortController()

  async function read(ids: readonly string[]): Promise<void> {
    for (const ended of await listEndedQuestions(db, ids)) waiting.get(ended.id)?.(ended)
  }

  async function look(ids: readonly string[]): Promise<void> {
    const wanted = ids.filter((id) => waiting.has(id))
    if (wanted.length === 0) return
    await read(wanted).catch((error: unknown) => {
      logError(error, 'answers of devices could not be read')
    })
  }

  async function ask(asked: readonly NewQuestion[], signal: AbortSignal, timeoutMs: number) {
    const ids = asked.map(({ id }) => id)
    // Before the questions are stored, so that no answer comes unheard.
    const answered = awaitAnswers(waiting, asked, signal)
    try {
      const askedAt = clock.now()
      const expiresAt = new Date(askedAt.getTime() + timeoutMs)
      const inserted = await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
        insertQuestions(change, asked, { askedAt, expiresAt }),
      )
      for (const { id } of asked) {
        if (inserted.has(id)) continue
        waiting.get(id)?.({ id, status: 'expired', rows: null, askedAt, answeredAt: null })
      }
      const answers = await lookAgainUntil(answered, async () => look(ids))
      const left = ids.filter((id) => !answers.has(id))
      if (left.length === 0) return answers
      await expireQuestions(db, left)
      // What was answered in the last moment counts.
      const late = await listEndedQuestions(db, left)
      return new Map([...answers, ...late.map((ended) => [ended.id, ended] as const)])
    } finally {
      for (const id of ids) waiting.delete(id)
    }
  }

  return {
    async askDevices(questions, { timeoutMs, signal }) {
      const given = questions.slice(0, QUESTIONS_MAX).map((question) => {
        if (question.sql.length > QUESTION_SQL_LENGTH_MAX)
          throw new RangeError('too long a question')
        return { ...question, id: newUuid() }
      })
      const asked = given.filter(({ deviceId }) => isId(deviceId))
      const boundedMs = Math.min(timeoutMs, TIMEOUT_MS_MAX)
      const signals = [AbortSignal.timeout(boundedMs), closing.signal]
      const over = AbortSignal.any(signal === undefined ? signals : [...signals, signal])
      const answers =
        asked.length === 0 || over.aborted ? undefined : await ask(asked, over, boundedMs)
      return given.map((question) => toAnswer(question, answers?.get(question.id)))
    },
    noteAnswered: (payload) => void look(payload.split(' ')),
    lookForAll: () => void look([...waiting.keys()]),
    close: () => closing.abort(),
  }
}

/** Looks again and again, once at a time: a database that is slow is not asked the more for it. */
async function lookAgainUntil<Answers>(
  answered: Promise<Answers>,
  look: () => Promise<void>,
): Promise<Answers> {
  const looks = new SharedRun(look)
  const timer = setInterval(() => void looks.again(), LOOK_INTERVAL_MS)
  return answered.finally(() => clearInterval(timer))
}

/** Resolves when every question has ended or the time is over. */
async function awaitAnswers(
  waiting: Map<string, (ended: EndedQuestion) => void>,
  questions: readonly NewQuestion[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, EndedQuestion>> {
  const answers = new Map<string, EndedQuestion>()
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve(), { once: true })
  for (const { id } of questions) {
    waiting.set(id, (ended) => {
      answers.set(id, ended)
      if (questions.every((question) => answers.has(question.id))) resolve()
    })
  }
  if (signal.aborted) resolve()
  await promise
  return answers
}

function toAnswer({ deviceId }: NewQuestion, ended: EndedQuestion | undefined): QuestionAnswer {
  const answeredAt = ended?.answeredAt ?? null
  return {
    deviceId,
    status: ended?.status ?? 'expired',
    rows: ended?.rows ?? [],
    answeredAt,
    latencyMs:
      ended === undefined || answeredAt === null
        ? null
        : answeredAt.getTime() - ended.askedAt.getTime(),
  }
}
