/*
 * An agent that answers checks as fast as it is asked and remembers exactly what was acknowledged:
 * every answer carries a number that grows, and a failed write is sent again until it is accepted.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const RETRY_MS = 50
const REQUEST_TIMEOUT_MS = 60_000

export interface AcknowledgedAnswer {
  readonly checkId: string
  readonly marker: number
}

export class ReportingAgent {
  readonly hostIdentifier: string
  /** The largest acknowledged marker of each check. */
  readonly acknowledged = new Map<string, number>()
  readonly #baseUrl: string
  readonly #failingCheckIds: ReadonlySet<string>
  #nodeKey = ''
  #marker = 0
  #onAcknowledged: () => void = () => undefined
  #isHeld = false
  #isPaused = false
  #underWay: Promise<unknown> = Promise.resolve()
  #turn: Promise<void> = Promise.resolve()
  nodeInvalidCount = 0
  /** What the failing checks answer. */
  outcome: 'in turn' | 'PASS' | 'FAIL' = 'in turn'

  constructor(
    baseUrl: string,
    hostIdentifier: string,
    /** Checks that pass and fail in turn; all others pass. */
    failingCheckIds: ReadonlySet<string>,
  ) {
    this.#baseUrl = baseUrl
    this.hostIdentifier = hostIdentifier
    this.#failingCheckIds = failingCheckIds
  }

  async enroll(secret: string): Promise<void> {
    const answer = await this.#post('enroll', {
      enroll_secret: secret,
      host_identifier: this.hostIdentifier,
      platform_type: '9',
      host_details: { system_info: { hostname: this.hostIdentifier, uuid: this.hostIdentifier } },
    })
    this.#nodeKey = String(answer?.['node_key'])
  }

  /** Resolves the moment that the next answer is acknowledged. */
  nextAcknowledgement(): Promise<void> {
    return new Promise((resolve) => (this.#onAcknowledged = resolve))
  }

  /** Sends nothing more until `release`; resolves when what is under way has been answered or has failed. */
  async hold(): Promise<void> {
    this.#isHeld = true
    await this.#underWay
  }

  /** Asks for nothing more until `release`; resolves when what it was asked last was answered. */
  async pause(): Promise<void> {
    this.#isPaused = true
    await this.#turn
  }

  release(): void {
    this.#isHeld = false
    this.#isPaused = false
  }

  /** Reads and answers until the signal is aborted and the last answer was accepted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!this.#isPaused) {
        this.#turn = this.#takeTurn()
        await this.#turn
      } else await sleep(RETRY_MS)
    }
  }

  async #takeTurn(): Promise<void> {
    const work = await this.#post('distributed/read', { node_key: this.#nodeKey })
    const queries = Object.keys(work?.['queries'] ?? {})
    if (queries.length > 0) await this.#answer(queries)
    else await sleep(RETRY_MS)
  }

  async #answer(queries: readonly string[]): Promise<void> {
    this.#marker += 1
    const marker = this.#marker
    const isBad = this.outcome === 'in turn' ? marker % 2 === 0 : this.outcome === 'FAIL'
    const rows = (id: string) => {
      const fails = isBad && this.#failingCheckIds.has(toCheckId(id))
      return [{ KOLIDE_CHECK_STATUS: fails ? 'FAIL' : 'PASS', marker: String(marker) }]
    }
    const message = {
      node_key: this.#nodeKey,
      queries: Object.fromEntries(queries.map((id) => [id, rows(id)])),
      statuses: Object.fromEntries(queries.map((id) => [id, 0])),
      messages: Object.fromEntries(queries.map((id) => [id, ''])),
    }
    while ((await this.#post('distributed/write', message)) === undefined) await sleep(RETRY_MS)
    for (const id of queries) this.acknowledged.set(toCheckId(id), marker)
    this.#onAcknowledged()
  }

  /** The answer, or undefined when there was none or it was a failure. */
  async #post(path: string, body: object): Promise<Record<string, unknown> | undefined> {
    while (this.#isHeld) await sleep(RETRY_MS)
    const request = this.#send(path, body)
    this.#underWay = request
    return request
  }

  async #send(path: string, body: object): Promise<Record<string, unknown> | undefined> {
    try {
      const response = await fetch(`${this.#baseUrl}/osquery/${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(this.#nodeKey !== '' && { authorization: `NodeKey ${this.#nodeKey}` }),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      })
      const answer = (await response.json()) as Record<string, unknown>
      if (answer['node_invalid'] === true) this.nodeInvalidCount += 1
      return 'error' in answer || answer['node_invalid'] === true ? undefined : answer
    } catch {
      return undefined
    }
  }
}

/** `check:<id>:<revision>`. */
function toCheckId(queryId: string): string {
  return queryId.split(':')[1] ?? ''
}
