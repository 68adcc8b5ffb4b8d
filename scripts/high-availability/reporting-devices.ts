/*
 * Devices that report at fixed times, however slow the answers are. Each asks for work when its time comes, answers
 * what it was given with a status that is not the one before, and sends that again until it is accepted; while it does,
 * its times pass. So many devices are under way at once, and never two answers of one.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from './child-processes.ts'

/** What a device knows of itself. */
export interface ReportingDevice {
  readonly hostIdentifier: string
  /** Answers that the service has accepted; each was sent until it was. */
  readonly acknowledgedCount: number
  /** When the last one of them was sent first. */
  readonly acknowledgedSentMs: number
  readonly nodeInvalidCount: number
}

export interface ReportingOptions {
  readonly baseUrl: string
  readonly count: number
  /** Of all devices together. */
  readonly changesPerSecond: number
  readonly enrollmentSecret: string
  /** The check that passes and fails in turn; all others pass. */
  readonly checkId: string
}

/** How answers went since they were asked for last. */
export interface AnswerTimes {
  readonly acknowledgedCount: number
  /** From when an answer was sent first to when it was accepted, in milliseconds. */
  readonly latenciesMs: readonly number[]
  /** The longest time without an accepted answer of any device, in milliseconds. */
  readonly silenceMsMax: number
  /** Times of devices that passed since their answer before was not accepted yet. */
  readonly passedCount: number
  /** Requests that failed and were made again. */
  readonly failureCount: number
  /** Requests for work whose connection was lost: the service may have handed the work out, and gives it again. */
  readonly lostWorkCount: number
}

interface Device extends ReportingDevice {
  nodeKey: string
  /** What it was asked last. */
  queries: readonly string[]
  answerCount: number
  acknowledgedCount: number
  acknowledgedSentMs: number
  nodeInvalidCount: number
  isUnderWay: boolean
}

type Answer = Readonly<Record<string, unknown>>

const TICK_MS = 10
const ENROLLED_AT_ONCE = 8
const RETRY_MS = 100
/** Devices that send again must not be a greater load than those that report. */
const RETRY_MS_MAX = 1_000
const REQUEST_TIMEOUT_MS = 60_000
const PAUSE_MAX_MS = 120_000

export class ReportingDevices {
  readonly #options: ReportingOptions
  readonly #devices: Device[]
  readonly #connections = new Agent({ keepAlive: true })
  #timer: NodeJS.Timeout | undefined
  #times = emptyTimes()
  #acknowledgedAtMs = 0

  constructor(options: ReportingOptions) {
    this.#options = options
    this.#devices = Array.from({ length: options.count }, (_, at) => ({
      hostIdentifier: `agent-${at}`,
      nodeKey: '',
      queries: [],
      answerCount: 0,
      acknowledgedCount: 0,
      acknowledgedSentMs: 0,
      nodeInvalidCount: 0,
      isUnderWay: false,
    }))
  }

  get devices(): readonly ReportingDevice[] {
    return this.#devices
  }

  async enroll(): Promise<void> {
    const waiting = [...this.#devices]
    const enrollInTurn = async () => {
      for (let device = waiting.pop(); device !== undefined; device = waiting.pop()) {
        await this.#enroll(device)
      }
    }
    await Promise.all(Array.from({ length: ENROLLED_AT_ONCE }, enrollInTurn))
  }

  /** Has the times begin. */
  start(): void {
    const { changesPerSecond, count } = this.#options
    const beganMs = performance.now()
    this.#acknowledgedAtMs = beganMs
    let next = 0
    this.#timer = setInterval(() => {
      const due = ((performance.now() - beganMs) / 1_000) * changesPerSecond
      for (; next < due; next += 1) {
        const device = this.#devices[next % count]
        if (device !== undefined) this.#begin(device)
      }
    }, TICK_MS)
  }

  /** Ends the times; resolves when every answer that was sent has been accepted. */
  async pause(): Promise<void> {
    clearInterval(this.#timer)
    const isDone = () => this.#devices.every(({ isUnderWay }) => !isUnderWay)
    await waitUntil(isDone, PAUSE_MAX_MS, 'answers that were sent to be accepted')
  }

  close(): void {
    clearInterval(this.#timer)
    this.#connections.destroy()
  }

  /** Whether every device had an answer accepted that it sent after this moment. */
  haveAllAnsweredSince(sinceMs: number): boolean {
    return this.#devices.every(({ acknowledgedSentMs }) => acknowledgedSentMs >= sinceMs)
  }

  /** Tells how answers went since this was called last. */
  takeTimes(): AnswerTimes {
    this.#noteSilence()
    const times = this.#times
    this.#times = emptyTimes()
    this.#acknowledgedAtMs = performance.now()
    return times
  }

  #begin(device: Device): void {
    if (device.isUnderWay) {
      this.#times.passedCount += 1
      return
    }
    device.isUnderWay = true
    void this.#takeTurn(device).finally(() => (device.isUnderWay = false))
  }

  async #takeTurn(device: Device): Promise<void> {
    if (!(await this.#isGivenWork(device))) return
    if (device.queries.length === 0) return
    device.answerCount += 1
    const message = this.#toMessage(device)
    const sentMs = performance.now()
    let retryMs = RETRY_MS
    while ((await this.#post('distributed/write', message, device)) === undefined) {
      await sleep(retryMs * (0.5 + Math.random()))
      retryMs = Math.min(2 * retryMs, RETRY_MS_MAX)
    }
    device.acknowledgedCount = device.answerCount
    device.acknowledgedSentMs = sentMs
    this.#noteSilence()
    this.#times.acknowledgedCount += 1
    this.#times.latenciesMs.push(this.#acknowledgedAtMs - sentMs)
  }

  async #isGivenWork(device: Device): Promise<boolean> {
    const { nodeKey } = device
    const work = await this.#post('distributed/read', { node_key: nodeKey }, device, () => {
      this.#times.lostWorkCount += 1
    })
    const queries = Object.keys(work?.['queries'] ?? {})
    if (queries.length > 0) device.queries = queries
    return queries.length > 0
  }

  #noteSilence(): void {
    const nowMs = performance.now()
    const silenceMs = nowMs - this.#acknowledgedAtMs
    this.#times.silenceMsMax = Math.max(this.#times.silenceMsMax, silenceMs)
    this.#acknowledgedAtMs = nowMs
  }

  #toMessage({ answerCount, nodeKey, queries }: Device): object {
    const rows = (id: string) => {
      const fails = answerCount % 2 === 0 && toCheckId(id) === this.#options.checkId
      return [{ KOLIDE_CHECK_STATUS: fails ? 'FAIL' : 'PASS', marker: String(answerCount) }]
    }
    return {
      node_key: nodeKey,
      queries: Object.fromEntries(queries.map((id) => [id, rows(id)])),
      statuses: Object.fromEntries(queries.map((id) => [id, 0])),
      messages: Object.fromEntries(queries.map((id) => [id, ''])),
    }
  }

  async #enroll(device: Device): Promise<void> {
    const { hostIdentifier } = device
    const body = {
      enroll_secret: this.#options.enrollmentSecret,
      host_identifier: hostIdentifier,
      platform_type: '9',
      host_details: { system_info: { hostname: hostIdentifier, uuid: hostIdentifier } },
    }
    const answer = await this.#post('enroll', body, device)
    if (typeof answer?.['node_key'] !== 'string')
      throw new Error(`${hostIdentifier} was not enrolled`)
    device.nodeKey = answer['node_key']
  }

  /** The answer, or undefined when there was none or it was a failure. */
  async #post(
    path: string,
    body: object,
    device: Device,
    onConnectionLost?: () => void,
  ): Promise<Answer | undefined> {
    const answer = await this.#send(path, body, device.nodeKey).catch(() => {
      onConnectionLost?.()
    })
    if (answer?.['node_invalid'] === true) device.nodeInvalidCount += 1
    if (answer && !('error' in answer) && answer['node_invalid'] !== true) return answer
    this.#times.failureCount += 1
    return undefined
  }

  #send(path: string, body: object, nodeKey: string): Promise<Answer> {
    const text = JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const outgoing = request(
        `${this.#options.baseUrl}/osquery/${path}`,
        {
          method: 'POST',
          agent: this.#connections,
          timeout: REQUEST_TIMEOUT_MS,
          headers: {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
            ...(nodeKey !== '' && { authorization: `NodeKey ${nodeKey}` }),
          },
        },
        (response) => {
          let answer = ''
          response.setEncoding('utf8')
          response.on('data', (chunk: string) => (answer += chunk))
          response.on('error', reject)
          response.on('end', () => {
            resolve(toAnswer(answer))
          })
        },
      )
      outgoing.on('timeout', () => outgoing.destroy(new Error('it took too long')))
      outgoing.on('error', reject)
      outgoing.end(text)
    })
  }
}

/** The balancer answers in words of its own. */
function toAnswer(text: string): Answer {
  try {
    return JSON.parse(text) as Answer
  } catch {
    return { error: text }
  }
}

function emptyTimes() {
  return {
    acknowledgedCount: 0,
    latenciesMs: [] as number[],
    silenceMsMax: 0,
    passedCount: 0,
    failureCount: 0,
    lostWorkCount: 0,
  }
}

/** `check:<id>:<revision>`. */
function toCheckId(queryId: string): string {
  return queryId.split(':')[1] ?? ''
}
