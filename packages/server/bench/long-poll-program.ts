/*
 * Receivers that wait for events by long polls, in a process of their own: each on a connection of its
 * own, acknowledging with its next poll. It verifies nothing, so that the machine's time goes to the
 * service.
 */
import { Agent, request } from 'node:http'
import { endWithParent } from './child-program.ts'

/** What the receivers are told. */
export type LongPollCommand =
  | {
      readonly type: 'poll'
      readonly port: number
      readonly streams: readonly { readonly path: string; readonly token: string }[]
      readonly receiversPerStream: number
    }
  /** Tell what was noted since the last time. */
  | { readonly type: 'report' }

export interface PollArrival {
  readonly eventId: string
  /** Milliseconds since the epoch, with fractions: when the answer was there as a whole. */
  readonly atMs: number
}

/** What the receivers answer. */
export type LongPollAnswer =
  | { readonly type: 'ready' }
  | {
      readonly type: 'report'
      /** Polls under way. */
      readonly waiting: number
      readonly failures: number
      readonly firstFailure: string | null
      readonly arrivals: readonly PollArrival[]
    }

interface Target {
  readonly port: number
  readonly path: string
  readonly token: string
}

/** Connections are opened so many at a time, so that no backlog of the system overflows. */
const OPENED_AT_ONCE = 200
const OPENING_PAUSE_MS = 100
const RETRY_MS = 500

const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
let waiting = 0
let failures = 0
let firstFailure: string | null = null
let arrivals: PollArrival[] = []

function answer(message: LongPollAnswer): void {
  process.send?.(message)
}

function noteFailure(text: string): void {
  failures += 1
  firstFailure ??= text
}

function poll(target: Target, ack: readonly string[]): void {
  const body = JSON.stringify({ returnImmediately: false, ack })
  const outgoing = request(
    {
      agent,
      host: '127.0.0.1',
      port: target.port,
      path: target.path,
      method: 'POST',
      headers: {
        authorization: `Bearer ${target.token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    },
    (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        waiting -= 1
        const atMs = performance.timeOrigin + performance.now()
        takeAnswer(target, { status: response.statusCode ?? 0, body: Buffer.concat(chunks), atMs })
      })
    },
  )
  outgoing.on('error', (error) => {
    waiting -= 1
    noteFailure(error.message)
    setTimeout(() => poll(target, ack), RETRY_MS)
  })
  waiting += 1
  outgoing.end(body)
}

interface Taken {
  readonly status: number
  readonly body: Buffer
  readonly atMs: number
}

function takeAnswer(target: Target, { status, body, atMs }: Taken): void {
  if (status !== 200) {
    noteFailure(`${status} ${body.toString('utf8', 0, 200)}`)
    setTimeout(() => poll(target, []), RETRY_MS)
    return
  }
  const { sets } = JSON.parse(body.toString()) as { sets: Record<string, string> }
  const eventIds = Object.keys(sets)
  for (const eventId of eventIds) arrivals.push({ eventId, atMs })
  poll(target, eventIds)
}

async function begin(command: Extract<LongPollCommand, { type: 'poll' }>): Promise<void> {
  const { port, streams, receiversPerStream } = command
  const targets = Array.from({ length: receiversPerStream }, () => streams).flat()
  for (let start = 0; start < targets.length; start += OPENED_AT_ONCE) {
    for (const { path, token } of targets.slice(start, start + OPENED_AT_ONCE)) {
      poll({ port, path, token }, [])
    }
    await new Promise((resolve) => setTimeout(resolve, OPENING_PAUSE_MS))
  }
  answer({ type: 'ready' })
}

process.on('message', (command: LongPollCommand) => {
  switch (command.type) {
    case 'poll':
      void begin(command)
      return
    case 'report':
      answer({ type: 'report', waiting, failures, firstFailure, arrivals })
      arrivals = []
  }
})
endWithParent()
