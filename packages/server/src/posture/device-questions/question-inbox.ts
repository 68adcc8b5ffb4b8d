/*
 * Which devices are asked what, in the memory of an agent intake: a check-in asks here and never the database. The
 * database is the truth: the inbox reads the questions of a device when it is told of it, and all when it may have
 * missed something. A device is asked again until it has answered or nobody waits any more.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { toDeviceSql } from '../live-queries/live-query.ts'
import { QUESTION_PREFIX } from './device-question.ts'
import type { OpenQuestion } from './question-store.ts'

export interface QuestionInboxDependencies {
  readonly clock: Clock
  readonly listOpenQuestions: (deviceIds: readonly string[] | 'all') => Promise<OpenQuestion[]>
  /** Told of the devices for which questions wait. */
  readonly onAsked: (deviceIds: readonly string[]) => void
  readonly logError: (error: unknown, message: string) => void
}

/** Soon: whoever asked waits for seconds. */
const RETRY_DELAY_MS = 200

/** An inbox is empty at first; `refreshAll` fills it. */
export class QuestionInbox {
  readonly #deps: QuestionInboxDependencies
  /** By device, then by question. */
  readonly #open = new Map<string, Map<string, OpenQuestion>>()
  readonly #toRead = new Set<string>()
  readonly #stopping = new AbortController()
  #isSweepDue = false
  #running: Promise<void> | undefined

  constructor(deps: QuestionInboxDependencies) {
    this.#deps = deps
  }

  /** SQL by query id; undefined when the device is asked nothing. */
  pendingQueries(deviceId: string): Readonly<Record<string, string>> | undefined {
    const questions = this.#open.get(deviceId)
    if (questions === undefined) return undefined
    const nowMs = this.#deps.clock.now().getTime()
    const pending: Record<string, string> = {}
    let count = 0
    for (const { expiresAt, id, sql } of questions.values()) {
      if (expiresAt.getTime() <= nowMs) {
        this.forget(deviceId, [id])
        continue
      }
      pending[QUESTION_PREFIX + id] = toDeviceSql(sql)
      count += 1
    }
    return count === 0 ? undefined : pending
  }

  /** Forgets questions of a device that were answered. */
  forget(deviceId: string, ids: readonly string[]): void {
    const questions = this.#open.get(deviceId)
    for (const id of ids) questions?.delete(id)
    if (questions?.size === 0) this.#open.delete(deviceId)
  }

  /** Reads the questions of these devices again, soon. */
  refresh(deviceIds: readonly string[]): void {
    for (const deviceId of deviceIds) this.#toRead.add(deviceId)
    this.#wake()
  }

  /** Reads every question again, soon. */
  refreshAll(): void {
    this.#isSweepDue = true
    this.#wake()
  }

  /** Resolves when everything that was to be read has been read. */
  async whenIdle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  /** Ends the reading. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  #wake(): void {
    if (!this.#stopping.signal.aborted) this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted && (this.#isSweepDue || this.#toRead.size > 0)) {
      const isSweep = this.#isSweepDue
      const deviceIds = [...this.#toRead]
      this.#isSweepDue = false
      this.#toRead.clear()
      try {
        this.#take(await this.#deps.listOpenQuestions(isSweep ? 'all' : deviceIds), isSweep)
      } catch (error) {
        this.#isSweepDue ||= isSweep
        for (const deviceId of deviceIds) this.#toRead.add(deviceId)
        this.#deps.logError(error, 'questions to devices could not be read')
        await sleep(RETRY_DELAY_MS, undefined, { signal }).catch(() => undefined)
      }
    }
    this.#running = undefined
  }

  /** Of devices that check in elsewhere, too. */
  #forgetExpired(): void {
    const nowMs = this.#deps.clock.now().getTime()
    for (const [deviceId, questions] of this.#open) {
      const expired = [...questions.values()].filter(
        ({ expiresAt }) => expiresAt.getTime() <= nowMs,
      )
      this.forget(
        deviceId,
        expired.map(({ id }) => id),
      )
    }
  }

  #take(questions: readonly OpenQuestion[], isSweep: boolean): void {
    if (isSweep) this.#open.clear()
    else this.#forgetExpired()
    for (const question of questions) {
      const known = this.#open.get(question.deviceId)
      if (known === undefined) {
        this.#open.set(question.deviceId, new Map([[question.id, question]]))
      } else known.set(question.id, question)
    }
    this.#deps.onAsked([...new Set(questions.map(({ deviceId }) => deviceId))])
  }
}
