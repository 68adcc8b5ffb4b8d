/*
 * Asks the devices that may be the one, all at once, and takes the first whose answer proves it. Owns no decision about
 * the sign-in.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Candidate } from './candidate-read.ts'
import type { AskDevices } from '../../posture/device-questions/ask-devices.ts'
import {
  judgeSockets,
  type Mismatch,
  type ProofFacts,
  type ProvenBrowser,
} from './judge-sockets.ts'
import { parseSocketAnswer, toSocketQuestion } from './socket-question.ts'

/** A device that holds the connections of the browser. */
export interface ProvenDevice {
  readonly deviceId: string
  readonly browser: ProvenBrowser
  readonly latencyMs: number | null
}

/** Why a device was not taken, for the evidence. */
export interface OtherDevice {
  readonly deviceId: string
  readonly reason: Mismatch | 'unreachable' | 'failed'
  readonly path: string | null
}

export type SearchOutcome =
  | { readonly proven: ProvenDevice; readonly others: readonly OtherDevice[] }
  | { readonly proven: undefined; readonly others: readonly OtherDevice[] }

/** What of the proof is the same for every device; the time since the first connection is taken at each answer. */
export type SharedFacts = Omit<ProofFacts, 'platform' | 'firstSeenSecondsAgo'> & {
  readonly secondsSinceFirstSeen: () => number
}

export interface SearchOptions {
  readonly ask: AskDevices
  /** The port under which agents reach the service. */
  readonly servicePort: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** The first candidate is asked alone for so long; 0 asks all at once. */
  readonly headStartMs: number
}

/** Asks each of the candidates once; those that have not answered when one is proven are left alone. */
export async function findProvenDevice(
  candidates: readonly Candidate[],
  facts: SharedFacts,
  { ask, servicePort, timeoutMs, signal, headStartMs }: SearchOptions,
): Promise<SearchOutcome> {
  const found = new AbortController()
  const others: OtherDevice[] = []
  let proven: ProvenDevice | undefined
  const options = { timeoutMs, signal: AbortSignal.any([signal, found.signal]) }
  const ports = facts.connections.map(({ port }) => port)

  async function askOne({ id, platform }: Candidate): Promise<void> {
    const question = {
      deviceId: id,
      sql: toSocketQuestion(platform, ports, servicePort),
      purpose: 'sign_in_proof',
    } as const
    const [answer] = await ask([question], options)
    if (proven !== undefined) return
    if (answer?.status !== 'answered') {
      const reason = answer?.status === 'failed' ? 'failed' : 'unreachable'
      others.push({ deviceId: id, reason, path: null })
      return
    }
    const firstSeenSecondsAgo = facts.secondsSinceFirstSeen()
    const verdict = judgeSockets(parseSocketAnswer(answer.rows), {
      ...facts,
      platform,
      firstSeenSecondsAgo,
    })
    if (verdict.verdict === 'no_match') {
      others.push({ deviceId: id, reason: verdict.reason, path: verdict.path })
      return
    }
    proven = { deviceId: id, browser: verdict, latencyMs: answer.latencyMs }
    found.abort()
  }

  const [first, ...rest] = candidates
  const asked = first === undefined ? [] : [askOne(first)]
  if (headStartMs > 0) await Promise.race([...asked, pause(headStartMs, options.signal)])
  if (proven === undefined) asked.push(...rest.map(askOne))
  await Promise.all(asked)
  return proven === undefined ? { proven, others } : { proven, others }
}

/** Waits, or ends early with the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}
