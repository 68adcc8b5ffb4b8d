/*
 * Which devices still owe an answer to which live query, in memory: a check-in asks here and never the
 * database, however many campaigns run. The database is the truth: the inbox reads a campaign when it
 * is told of it, and all of them when it may have missed something. A device that answered elsewhere may
 * be asked once more, which is harmless.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createOwedQueries, type OpenCampaign, type OwedQueries } from './owed-queries.ts'

export interface LiveQueryInboxDependencies {
  /** A campaign; undefined when nobody is asked. */
  readonly findOpenCampaign: (campaignId: string) => Promise<OpenCampaign | undefined>
  readonly listOpenCampaignIds: () => Promise<readonly string[]>
  /** Told of the devices that owe an answer to a campaign that was read. */
  readonly onOwed: (deviceIds: readonly string[]) => void
  readonly logError: (error: unknown, message: string) => void
  /** How long to wait after a read that failed; one second by default. */
  readonly retryDelayMs?: number
}

const RETRY_DELAY_MS_DEFAULT = 1_000
const ID = /^[1-9]\d{0,17}$/

/** An inbox is empty at first; `refreshAll` fills it. */
export class LiveQueryInbox implements Pick<OwedQueries, 'pendingQueries' | 'forget'> {
  readonly #deps: LiveQueryInboxDependencies
  readonly #owed = createOwedQueries()
  readonly #toRead = new Set<string>()
  readonly #stopping = new AbortController()
  #isSweepDue = false
  #running: Promise<void> | undefined

  constructor(deps: LiveQueryInboxDependencies) {
    this.#deps = deps
  }

  pendingQueries(deviceId: string): Readonly<Record<string, string>> | undefined {
    return this.#owed.pendingQueries(deviceId)
  }

  forget(...answer: Parameters<OwedQueries['forget']>): void {
    this.#owed.forget(...answer)
  }

  /** Reads a campaign again, soon; a text that is no id is ignored. */
  refresh(campaignId: string): void {
    if (!ID.test(campaignId)) return
    this.#toRead.add(campaignId)
    this.#wake()
  }

  /** Reads every campaign again, soon. */
  refreshAll(): void {
    this.#isSweepDue = true
    this.#wake()
  }

  /** Resolves when everything that was to be read has been read. */
  async whenIdle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  /** Ends the reading; nothing is read any more. */
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
      try {
        await this.#readNext()
      } catch (error) {
        this.#deps.logError(error, 'live queries could not be read')
        const delayMs = this.#deps.retryDelayMs ?? RETRY_DELAY_MS_DEFAULT
        await sleep(delayMs, undefined, { signal }).catch(() => undefined)
      }
    }
    // Together with the condition above: whoever asks for more afterwards begins anew.
    this.#running = undefined
  }

  /** What fails stays to be read. */
  async #readNext(): Promise<void> {
    if (this.#isSweepDue) {
      // Before the wait, so that a sweep which is asked for meanwhile is made as well.
      this.#isSweepDue = false
      const open = await this.#listOpen()
      for (const campaignId of [...this.#owed.campaignIds(), ...open]) this.#toRead.add(campaignId)
    }
    const [campaignId] = this.#toRead
    if (campaignId === undefined) return
    this.#toRead.delete(campaignId)
    try {
      const campaign = await this.#deps.findOpenCampaign(campaignId)
      this.#owed.replace(campaignId, campaign)
      this.#deps.onOwed(campaign?.waitingDeviceIds ?? [])
    } catch (error) {
      this.#toRead.add(campaignId)
      throw error
    }
  }

  async #listOpen(): Promise<readonly string[]> {
    try {
      return await this.#deps.listOpenCampaignIds()
    } catch (error) {
      this.#isSweepDue = true
      throw error
    }
  }
}
