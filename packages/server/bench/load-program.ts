/*
 * A closed-loop load generator on raw sockets, in a process of its own: a fixed number of connections,
 * each sending its next request as soon as the last answer is complete. Cheaper than any HTTP client,
 * so that it is not the thing that is measured. For throughput; it hides queueing, so latencies under
 * a given rate come from the open loop (`open-loop.ts`).
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { endWithParent } from './child-program.ts'
import { summariseLatencies, type LatencySummary } from './statistics.ts'

/** A request that is sent again and again: a GET where there is no body. */
export interface LoadRequest {
  readonly path: string
  readonly authorization?: string
  readonly body?: string
}

/** What the generator is told to do. */
export interface LoadCommand {
  readonly type: 'load'
  readonly port: number
  /** Sent in turn. */
  readonly requests: readonly LoadRequest[]
  readonly connections: number
  readonly warmUpMs: number
  /** How long it lasts; `once` until each request has been answered once. */
  readonly measureMs: number | 'once'
}

/** What came of it. */
export interface LoadAnswer {
  readonly type: 'done'
  /** Answered while it was measured. */
  readonly requests: number
  /** Answered in all, the warm-up included. */
  readonly answered: number
  /** Answers other than 200. */
  readonly failures: number
  readonly elapsedMs: number
  readonly latencyMs: LatencySummary
}

const HEADERS_END = Buffer.from('\r\n\r\n')

interface Tally {
  isMeasuring: boolean
  isOver: boolean
  requests: number
  answered: number
  failures: number
  readonly latencies: number[]
}

async function load(command: LoadCommand): Promise<LoadAnswer> {
  const requests = command.requests.map((request) => toBytes(command, request))
  const tally: Tally = {
    isMeasuring: false,
    isOver: false,
    requests: 0,
    answered: 0,
    failures: 0,
    latencies: [],
  }
  const { measureMs } = command
  let next = 0
  const startedAtMs = performance.now()
  const sockets: Socket[] = []
  const allAnswered = new Promise<void>((resolve) => {
    const takeNext = () => {
      if (measureMs === 'once' && tally.answered >= requests.length) resolve()
      if (measureMs === 'once' && next >= requests.length) return undefined
      next += 1
      return requests[(next - 1) % requests.length]
    }
    for (let opened = 0; opened < command.connections; opened += 1) {
      sockets.push(runConnection(command.port, tally, takeNext))
    }
  })
  tally.isMeasuring = command.warmUpMs === 0
  if (!tally.isMeasuring) await sleep(command.warmUpMs)
  const startMs = tally.isMeasuring ? startedAtMs : performance.now()
  tally.isMeasuring = true
  await (measureMs === 'once' ? allAnswered : sleep(measureMs))
  tally.isOver = true
  const elapsedMs = performance.now() - startMs
  for (const socket of sockets) socket.destroy()
  const { requests: measured, answered, failures, latencies } = tally
  return {
    type: 'done',
    requests: measured,
    answered,
    failures,
    elapsedMs,
    latencyMs: summariseLatencies(latencies),
  }
}

function toBytes({ port }: LoadCommand, { path, authorization, body }: LoadRequest): Buffer {
  const credential = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`
  const content =
    body === undefined
      ? ''
      : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
      `${credential}${content}\r\n${body ?? ''}`,
  )
}

function runConnection(port: number, tally: Tally, takeNext: () => Buffer | undefined): Socket {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let received: Buffer = Buffer.alloc(0)
  let sentAtMs = 0
  const send = () => {
    const request = takeNext()
    if (request === undefined) return
    sentAtMs = performance.now()
    socket.write(request)
  }
  socket.on('connect', send)
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const length = answerLength(received)
    if (length === undefined || received.length < length || tally.isOver) return
    tally.answered += 1
    // 'HTTP/1.1 200': the first digit of the status is the tenth byte.
    if (received.toString('latin1', 9, 12) !== '200') tally.failures += 1
    if (tally.isMeasuring) {
      tally.requests += 1
      tally.latencies.push(performance.now() - sentAtMs)
    }
    received = Buffer.alloc(0)
    send()
  })
  socket.on('error', () => void (tally.isOver || (tally.failures += 1)))
  return socket
}

/** The length of a whole answer with its headers, once those are here. */
function answerLength(received: Buffer): number | undefined {
  const headersEnd = received.indexOf(HEADERS_END)
  if (headersEnd < 0) return undefined
  const match = /\r\ncontent-length: (\d+)/i.exec(received.toString('latin1', 0, headersEnd))
  return headersEnd + HEADERS_END.length + Number(match?.[1] ?? 0)
}

process.on('message', (command: LoadCommand) => {
  void load(command).then((answer) => process.send?.(answer))
})
endWithParent()
