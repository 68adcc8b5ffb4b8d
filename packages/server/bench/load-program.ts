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
  readonly measureMs: number
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
  let next = 0
  const sockets = Array.from({ length: command.connections }, () =>
    runConnection(command.port, tally, () => {
      next = (next + 1) % requests.length
      return requests[next] ?? Buffer.alloc(0)
    }),
  )
  await sleep(command.warmUpMs)
  tally.isMeasuring = true
  const startMs = performance.now()
  await sleep(command.measureMs)
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

function runConnection(port: number, tally: Tally, nextRequest: () => Buffer): Socket {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let received: Buffer = Buffer.alloc(0)
  let sentAtMs = 0
  const send = () => {
    sentAtMs = performance.now()
    socket.write(nextRequest())
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
