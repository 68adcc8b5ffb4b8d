/*
 * Another process that has the ports of proofs: it knows of their leases what it has read, and is told nothing. Owns no
 * expectation.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../../src/platform/clock.ts'
import type { SeenConnection } from '../../src/sign-in/proof/judge-sockets.ts'
import { LeaseBook } from '../../src/sign-in/proof/lease-book.ts'
import {
  createProbeHandler,
  type WaitingProbeHandler,
} from '../../src/sign-in/proof/probe-handler.ts'
import { listLiveLeases } from '../../src/sign-in/proof/probe-lease-store.ts'
import type { OpenedConnection } from '../../src/sign-in/proof/probe-listeners.ts'
import type { ProofWorld } from './proof-world.ts'

export interface ProbeProcess {
  readonly handler: WaitingProbeHandler
  readonly book: LeaseBook
  /** A connection to the port, of somebody else. */
  readonly opened: OpenedConnection
  /** How often it has read the leases. */
  readonly countReads: () => number
  /** Sends a request on the connection. */
  readonly request: (headers: Record<string, string>, path?: string) => Promise<Response>
  readonly close: () => Promise<void>
}

/** A connection that this process does not see, of somebody else unless told otherwise. */
export const toOpened = (
  port: number,
  changes: Partial<SeenConnection> = {},
): OpenedConnection => ({
  seen: {
    ...{ port, clientAddress: '192.0.2.9', clientPort: 1, serviceAddress: '127.0.0.1' },
    ...changes,
  },
  openedMs: performance.now(),
})

/** A process with one connection to a port, which ends no connection on its own. It has read nothing yet. */
export async function startProbeProcess(
  { runChange, baseUrl, database: { db } }: ProofWorld,
  port: number,
): Promise<ProbeProcess> {
  let reads = 0
  const listLeases = async () => {
    reads += 1
    return listLiveLeases(db, new Date())
  }
  const book = new LeaseBook(systemClock, listLeases, () => undefined)
  const logError = () => undefined
  const context = { db, runChange, clock: systemClock, baseUrl, logError }
  const handler = createProbeHandler(context, () => book)
  const opened = toOpened(port)
  const server = createServer((request, response) => handler.answer(request, response, opened))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: own } = server.address() as AddressInfo
  return {
    ...{ handler, book, opened },
    countReads: () => reads,
    request: async (headers, path = '/') => fetch(`http://127.0.0.1:${own}${path}`, { headers }),
    close: async () => {
      handler.endAll()
      await handler.settle()
      await book.settle()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
