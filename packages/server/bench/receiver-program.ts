/*
 * The receiver of pushed SETs, in a process of its own: answers 202 and counts. With `timestamps` it
 * also notes when each SET began to arrive; with `slow` it takes its time, with `silent` it takes what
 * is sent and never answers. It verifies nothing, so that the machine's time goes to the sender.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endWithParent } from './child-program.ts'

/** What the receiver is told. */
export type ReceiverCommand =
  /** Count from 0 and tell when `expected` have been answered. */
  | { readonly type: 'expect'; readonly expected: number }
  /** Tell what was noted since the last time. */
  | { readonly type: 'report' }

export interface Arrival {
  readonly txn: string
  /** Milliseconds since the epoch, with fractions. */
  readonly atMs: number
}

/** What the receiver answers. */
export type ReceiverAnswer =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'reached' }
  | {
      readonly type: 'report'
      readonly count: number
      readonly lastToken: string
      readonly arrivals: readonly Arrival[]
    }

const manner = process.argv[2]
const isTimed = manner === 'timestamps'
const SLOW_ANSWER_MS = 5_000

let count = 0
let expected = Infinity
let lastToken = ''
let arrivals: Arrival[] = []

function answer(message: ReceiverAnswer): void {
  process.send?.(message)
}

/** The `txn` of a SET; the id of a webhook, which is the `txn` of its change here. */
function readTxn(token: string): string {
  if (token.startsWith('{')) return (JSON.parse(token) as { id?: string }).id ?? ''
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
  const { txn } = JSON.parse(payload) as { txn?: string }
  return txn ?? ''
}

function note(token: string, atMs: number): void {
  count += 1
  lastToken = token
  if (isTimed) arrivals.push({ txn: readTxn(token), atMs })
  if (count === expected) answer({ type: 'reached' })
}

const server = createServer((request, response) => {
  // The headers are here: the first byte came no later, so a latency taken from this is not flattered.
  const atMs = performance.timeOrigin + performance.now()
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (manner === 'slow') setTimeout(() => response.writeHead(202).end(), SLOW_ANSWER_MS)
    else if (manner !== 'silent') response.writeHead(202).end()
    note(Buffer.concat(chunks).toString('latin1'), atMs)
  })
})
server.keepAliveTimeout = 60_000

process.on('message', (command: ReceiverCommand) => {
  switch (command.type) {
    case 'expect':
      count = 0
      expected = command.expected
      return
    case 'report':
      answer({ type: 'report', count, lastToken, arrivals })
      arrivals = []
  }
})
endWithParent()
server.listen(0, '127.0.0.1', () => {
  answer({ type: 'listening', port: (server.address() as AddressInfo).port })
})
