/*
 * What is done with who comes to a port: nothing without a lease, the browser is counted and kept waiting, somebody
 * else ends the attempt. Everything that needs no database is looked at first.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Foundation, LogError } from '../../changes/foundation.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { LeaseBook } from './lease-book.ts'
import type { OpenedConnection, ProbeHandler } from './probe-listeners.ts'
import type { ProbeLease } from './probe-lease-store.ts'
import { ProbePlaces } from './probe-places.ts'
import { findForeignReason } from './probe-request-input.ts'
import { recordCounted, recordForeign } from './record-arrival.ts'
import { RequestlessNotes, type NotedProof } from './requestless-notes.ts'

/** What the handler works with. */
export interface ProbeHandlerContext extends Pick<Foundation, 'db' | 'runChange' | 'clock'> {
  readonly baseUrl: string
  readonly logError: LogError
}

/** A handler that can end what it keeps waiting. */
export interface WaitingProbeHandler extends ProbeHandler {
  /** Ends the answers to a proof. */
  readonly end: (proofId: string) => void
  readonly endAll: () => void
  /** Waits for what is being noted. */
  readonly settle: () => Promise<void>
  /** Waits for what is being judged or noted of a proof, and for nobody else's; whether all of it could be noted. */
  readonly settleNotesOf: (proof: NotedProof) => Promise<boolean>
}

interface AnsweredRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly opened: OpenedConnection
}

/** So that nothing between takes a silent connection for a dead one. */
const BYTE_EVERY_MS = 2 * SECOND_MS
/** Longer than a proof takes. */
const STREAM_MS = 60 * SECOND_MS

/**
 * A proxy that reads requests hides who is connected to it: a connection that a page of somebody else had a browser
 * open would look like one of ours. What comes through one does not count.
 */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'via'] as const

/** Makes the handler of all ports of a process. */
export function createProbeHandler(
  context: ProbeHandlerContext,
  book: () => LeaseBook,
): WaitingProbeHandler {
  const streams = createKeptStreams(context.baseUrl)
  const requestless = new RequestlessNotes(context, book)
  /** Kept until the answer is over, also where its client has hung up: what it waits for is still waited for. */
  const answering = new ProbePlaces()
  /** The ports of those that are not judged yet. */
  const underWay = new Map<Promise<void>, number>()

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    opened: OpenedConnection,
  ): Promise<void> {
    const { seen } = opened
    const known = await book().look(seen.port)
    if (known !== undefined && isProxied(request)) {
      refuse(response, 421)
      return
    }
    const judge = (lease: ProbeLease) => judgeRequest(request, lease, context.baseUrl)
    // Another proof may have got the port since then, of which this process has not heard.
    const lease = known && judge(known) ? await book().lookAgain(seen.port) : known
    if (lease === undefined) {
      refuse(response, 404)
      return
    }
    const reason = judge(lease)
    if (reason !== undefined) {
      await recordForeign(context, lease, seen, reason)
      await book().refresh()
      refuse(response, 403)
      return
    }
    if (await recordCounted(context, lease, seen)) streams.keep(response, lease)
    else refuse(response, 409)
  }

  return {
    answer: (request, response, opened) => {
      if (isProxied(request)) requestless.note(opened, 'proxied')
      const leave = answering.take(opened.seen.clientAddress)
      if (leave === undefined) {
        refuseUnjudged(requestless, { request, response, opened })
        return
      }
      const answered = answer(request, response, opened)
        .catch((error: unknown) => {
          context.logError(error, 'a request to a port of the device proof failed')
          refuseUnjudged(requestless, { request, response, opened })
        })
        .finally(() => {
          leave()
          underWay.delete(answered)
        })
      underWay.set(answered, opened.seen.port)
    },
    noteIdle: (opened) => requestless.note(opened, 'open'),
    noteEnded: (opened) => requestless.note(opened, 'ended'),
    end: (proofId) => {
      requestless.forget(proofId)
      streams.end(proofId)
    },
    endAll: streams.endAll,
    settle: async () => requestless.settle(),
    settleNotesOf: async (proof) => {
      // Somebody else's ends the sign-in, or is noted where it cannot be judged.
      const ofProof = [...underWay].filter(([, port]) => proof.ports.includes(port))
      await Promise.all(ofProof.map(([answered]) => answered))
      return requestless.settleOf(proof)
    },
  }
}

/** Nobody knows whose it is, so that it is one without a request of the browser. */
function refuseUnjudged(
  requestless: RequestlessNotes,
  { request, response, opened }: AnsweredRequest,
): void {
  const { socket } = request
  if (!isProxied(request)) {
    requestless.note(opened, socket.destroyed ? 'ended' : 'open')
    socket.once('close', () => requestless.note(opened, 'ended'))
  }
  refuse(response, 503)
}

/** Answers that go on for as long as their proofs do. */
function createKeptStreams(origin: string) {
  const waiting = new Map<string, Set<ServerResponse>>()

  function keep(response: ServerResponse, { proofId }: ProbeLease): void {
    // Who has hung up while the request was counted closes it no more.
    if (response.destroyed) return
    const own = waiting.get(proofId) ?? new Set()
    waiting.set(proofId, own.add(response))
    const ticking = setInterval(() => response.write(' '), BYTE_EVERY_MS)
    const ending = setTimeout(() => response.end(), STREAM_MS)
    response.once('close', () => {
      clearInterval(ticking)
      clearTimeout(ending)
      own.delete(response)
      if (own.size === 0) waiting.delete(proofId)
    })
    response.writeHead(200, streamHeaders(origin)).write(' ')
  }

  return {
    keep,
    end: (proofId: string) => {
      for (const response of waiting.get(proofId) ?? []) response.end()
    },
    endAll: () => {
      for (const own of waiting.values()) for (const response of own) response.end()
    },
  }
}

function isProxied({ headers }: IncomingMessage): boolean {
  return PROXY_HEADERS.some((name) => headers[name] !== undefined)
}

function judgeRequest(request: IncomingMessage, lease: ProbeLease, baseUrl: string) {
  const { method = '', url = '', headers } = request
  return findForeignReason({ method, url, headers }, lease, baseUrl)
}

function streamHeaders(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'cache-control': 'no-store',
    'content-type': 'text/plain',
    'cross-origin-resource-policy': 'same-site',
    'x-content-type-options': 'nosniff',
    vary: 'origin',
    connection: 'close',
  }
}

function refuse(response: ServerResponse, status: number): void {
  if (response.headersSent) response.destroy()
  else response.writeHead(status, { connection: 'close', 'cache-control': 'no-store' }).end()
}
