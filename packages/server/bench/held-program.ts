/*
 * Devices that wait for work, in a process of its own: each on a connection of its own, asking again after a pause
 * as osqueryd does. They answer nothing: what they are asked is noted with its time.
 */
import { Agent, request } from 'node:http'
import { endWithParent } from './child-program.ts'

/** What the devices are told. */
export type HeldCommand =
  | {
      readonly type: 'hold'
      readonly port: number
      readonly path: string
      readonly nodeKeys: readonly string[]
      /** Between two requests of a device. */
      readonly pauseMs: number
    }
  /** Tell what was noted since the last time. */
  | { readonly type: 'report' }

export interface QuestionArrival {
  readonly queryId: string
  /** When the device had begun to ask for work, in the same time. */
  readonly waitsSinceMs: number
  /** Milliseconds since the epoch, with fractions: when the answer was there as a whole. */
  readonly atMs: number
}

/** What the devices answer. */
export type HeldAnswer =
  | { readonly type: 'ready' }
  | {
      readonly type: 'report'
      readonly failures: number
      readonly firstFailure: string | null
      readonly arrivals: readonly QuestionArrival[]
    }

/** Connections are opened so many at a time, so that no backlog of the system overflows. */
const OPENED_AT_ONCE = 50
const OPENING_PAUSE_MS = 100

const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
let failures = 0
let firstFailure: string | null = null
let arrivals: QuestionArrival[] = []

function answer(message: HeldAnswer): void {
  process.send?.(message)
}

function read(command: Extract<HeldCommand, { type: 'hold' }>, nodeKey: string): void {
  const again = () => setTimeout(() => read(command, nodeKey), command.pauseMs)
  const fail = (text: string) => {
    failures += 1
    firstFailure ??= text
    again()
  }
  const waitsSinceMs = performance.timeOrigin + performance.now()
  const body = JSON.stringify({ node_key: nodeKey })
  const outgoing = request(
    {
      agent,
      host: '127.0.0.1',
      port: command.port,
      path: command.path,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    },
    (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        if (response.statusCode !== 200) {
          fail(`${response.statusCode ?? 0} ${text.slice(0, 200)}`)
          return
        }
        const atMs = performance.timeOrigin + performance.now()
        const { queries } = JSON.parse(text) as { queries?: Record<string, string> }
        for (const queryId of Object.keys(queries ?? {})) {
          arrivals.push({ queryId, waitsSinceMs, atMs })
        }
        again()
      })
    },
  )
  outgoing.on('error', (error) => fail(error.message))
  outgoing.end(body)
}

async function begin(command: Extract<HeldCommand, { type: 'hold' }>): Promise<void> {
  const { nodeKeys } = command
  for (let start = 0; start < nodeKeys.length; start += OPENED_AT_ONCE) {
    for (const nodeKey of nodeKeys.slice(start, start + OPENED_AT_ONCE)) read(command, nodeKey)
    await new Promise((resolve) => setTimeout(resolve, OPENING_PAUSE_MS))
  }
  answer({ type: 'ready' })
}

process.on('message', (command: HeldCommand) => {
  switch (command.type) {
    case 'hold':
      void begin(command)
      return
    case 'report':
      answer({ type: 'report', failures, firstFailure, arrivals })
      arrivals = []
      failures = 0
      firstFailure = null
  }
})
endWithParent()
