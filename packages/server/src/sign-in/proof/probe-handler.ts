/*
 * What is done with who comes to a port: nothing without a lease, the browser is counted and kept waiting, somebody
 * else ends the attempt. Everything that needs no database is looked at first.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Foundation, LogError } from '../../changes/foundation.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { REQUESTLESS_MAX, type RequestlessStay } from './judge-requestless.ts'
import type { LeaseBook } from './lease-book.ts'
import { updateReason } from './probe-arrival-store.ts'
import type { OpenedConnection, ProbeHandler } from './probe-listeners.ts'
import type { ProbeLease } from './probe-lease-store.ts'
import { findForeignReason } from './probe-request-input.ts'
import { recordCounted, recordForeign, recordRequestless } from './record-arrival.ts'

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
  /** Waits for what is being noted of a proof, and for nobody else's notes. */
  readonly settleNotesOf: (proofId: string) => Promise<void>
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
  const waiting = new Map<string, Set<ServerResponse>>()
  const requestless = createRequestlessNotes(context, book)

  function keepWaiting(response: ServerResponse, { proofId }: ProbeLease): void {
    const streams = waiting.get(proofId) ?? new Set()
    waiting.set(proofId, streams.add(response))
    const ticking = setInterval(() => response.write(' '), BYTE_EVERY_MS)
    const ending = setTimeout(() => response.end(), STREAM_MS)
    response.once('close', () => {
      clearInterval(ticking)
      clearTimeout(ending)
      streams.delete(response)
      if (streams.size === 0) waiting.delete(proofId)
    })
    response.writeHead(200, streamHeaders(context.baseUrl)).write(' ')
  }

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    opened: OpenedConnection,
  ): Promise<void> {
    const { seen } = opened
    if (isProxied(request)) requestless.note(opened, 'proxied')
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
    if (await recordCounted(context, lease, seen)) keepWaiting(response, lease)
    else refuse(response, 409)
  }

  return {
    answer: (request, response, opened) => {
      answer(request, response, opened).catch((error: unknown) => {
        context.logError(error, 'a request to a port of the device proof failed')
        refuse(response, 503)
      })
    },
    noteIdle: (opened) => requestless.note(opened, 'open'),
    noteEnded: (opened) => requestless.note(opened, 'ended'),
    end: (proofId) => {
      requestless.forget(proofId)
      for (const response of waiting.get(proofId) ?? []) response.end()
    },
    endAll: () => {
      for (const streams of waiting.values()) for (const response of streams) response.end()
    },
    settle: requestless.settle,
    settleNotesOf: requestless.settleOf,
  }
}

function isProxied({ headers }: IncomingMessage): boolean {
  return PROXY_HEADERS.some((name) => headers[name] !== undefined)
}

function judgeRequest(request: IncomingMessage, lease: ProbeLease, baseUrl: string) {
  const { method = '', url = '', headers } = request
  return findForeignReason({ method, url, headers }, lease, baseUrl)
}

/** Notes connections without a request, each once: a few of each proof, so that more cost nothing. */
function createRequestlessNotes(context: ProbeHandlerContext, book: () => LeaseBook) {
  const ofProofs = new Map<string, Map<OpenedConnection, Promise<string | undefined>>>()

  const underWay = new Set<Promise<unknown>>()
  const readings = new Set<Promise<unknown>>()
  /** Whether it is logged already: whoever knocks may knock often. */
  let isFailing = false

  async function noteAtLease(
    lease: ProbeLease,
    opened: OpenedConnection,
    stay: RequestlessStay,
  ): Promise<void> {
    const { proofId } = lease
    const notes = ofProofs.get(proofId) ?? new Map<OpenedConnection, Promise<string | undefined>>()
    const noted = notes.get(opened)
    const isNews = noted === undefined ? notes.size < REQUESTLESS_MAX : stay !== 'open'
    if (!isNews) return
    const noting =
      noted === undefined
        ? recordRequestless(context, lease, opened, stay)
        : renew(context, noted, stay)
    ofProofs.set(proofId, notes.set(opened, noting))
    await noting
  }

  /** At a lease of which this process has not heard: a connection that nobody notes would speak for somebody else. */
  async function noteUnheard(
    opened: OpenedConnection,
    stay: RequestlessStay,
    known: ProbeLease | undefined,
  ): Promise<void> {
    const reading = book().lookAgain(opened.seen.port)
    readings.add(reading)
    try {
      // First of those who wait for the reading, so that its note is under way when they go on.
      const lease = await reading
      if (lease && lease.proofId !== known?.proofId) await noteAtLease(lease, opened, stay)
    } finally {
      readings.delete(reading)
    }
  }

  async function noteAtPort(opened: OpenedConnection, stay: RequestlessStay): Promise<void> {
    const known = book().find(opened.seen.port)
    await Promise.all([known && noteAtLease(known, opened, stay), noteUnheard(opened, stay, known)])
  }

  return {
    note: (opened: OpenedConnection, stay: RequestlessStay): void => {
      const told = noteAtPort(opened, stay)
        .then(() => {
          isFailing = false
        })
        .catch((error: unknown) => {
          if (!isFailing)
            context.logError(error, 'connections to ports of device proofs cannot be noted')
          isFailing = true
        })
        .finally(() => underWay.delete(told))
      underWay.add(told)
    },
    settle: async (): Promise<void> => {
      await Promise.all(underWay)
    },
    /** What is read by then is noted at the lease that it has found. */
    settleOf: async (proofId: string): Promise<void> => {
      await Promise.allSettled(readings)
      await Promise.allSettled([...(ofProofs.get(proofId)?.values() ?? [])])
    },
    forget: (proofId: string): void => {
      ofProofs.delete(proofId)
    },
  }
}

async function renew(
  { db }: ProbeHandlerContext,
  noted: Promise<string | undefined>,
  stay: RequestlessStay,
): Promise<string | undefined> {
  const id = await noted
  if (id !== undefined) await updateReason(db, id, stay)
  return id
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
