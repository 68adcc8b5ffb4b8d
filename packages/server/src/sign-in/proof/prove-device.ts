/*
 * The live proof of a device, from the requests of the browser to the decision: which device holds the very connections
 * that the service sees. Owns the order of the steps and the evidence; each fact is found elsewhere.
 */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { Change, ChangeOrigin } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { conflict } from '../../platform/app-error.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { toTimeSource } from '../../platform/db/synchronised-clock.ts'
import type { AttemptEvidence } from '../../schema/tables/sign-in-tables.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import { deviceNotProven, deviceProven, type NotProven } from '../attempts/know-device.ts'
import { JOURNAL_TIMEOUT_SECONDS, lockAttempt } from '../attempts/move-attempt.ts'
import { extendSession } from '../journal/extend-session.ts'
import { bindBrowserKey, judgeKeyByProof } from '../browser-keys/bind-browser-key.ts'
import { findKeyOfAttempt } from '../browser-keys/browser-key-store.ts'
import type { KeySignature } from '../browser-keys/key-statement.ts'
import { getSignInPolicy } from '../policy/policy-store.ts'
import type { AskDevices } from '../../posture/device-questions/ask-devices.ts'
import { listCandidates, type Candidate } from './candidate-read.ts'
import { findProvenDevice, type OtherDevice, type ProvenDevice } from './find-proven-device.ts'
import { listEnded, listShownRequestless, TAKEN_LATE_MS } from './judge-requestless.ts'
import { admitOsUser, isOsUserAllowed, toOsUserEvidence } from './os-users.ts'
import { listArrivals, type ProbeArrival } from './probe-arrival-store.ts'
import { IDLE_NOTED_MS } from './probe-listeners.ts'
import {
  claimLeases,
  deleteLeasesOfAttempt,
  listLeasesOfAttempt,
  prolongLeases,
  type ProbeLease,
} from './probe-lease-store.ts'
import type { NotedProof } from './requestless-notes.ts'
import { ASK_TIMEOUT_MS, isBeingDecided, PORTS_PER_PROOF } from './start-proof.ts'

/** What a proof works with. */
export interface ProofContext extends Pick<Foundation, 'db' | 'runChange' | 'clock'> {
  readonly ask: AskDevices
  /** The addresses that the name of the service has. */
  readonly listServiceAddresses: () => Promise<readonly string[]>
  /** The port under which agents reach the service. */
  readonly servicePort: number
  readonly baseUrl: string
  /** Waits for what this process is noting of connections without a request; whether all of it could be noted. */
  readonly settleNotesOf: (proof: NotedProof) => Promise<boolean>
}

/** The decision, and what became of the key of the browser. */
export interface ProofDecision {
  readonly attempt: Attempt
  /** The key that was bound; undefined for none. */
  readonly boundKeyId: string | undefined
}

/** For how long the device to which the key of the browser is bound is asked alone. */
const HEAD_START_MS = SECOND_MS
/** What another process has for a note when it is busy, or the database slow. */
const NOTED_LATE_MS = 350
/**
 * Until a connection that the device may have shown is noted: a process may learn of it late, and tells of it once it
 * has brought no request for a while. Another process cannot be asked whether it is done, so that it is given a time;
 * the notes of this one are waited for.
 */
const SETTLE_MS = TAKEN_LATE_MS + IDLE_NOTED_MS + NOTED_LATE_MS
/** Longer than the devices are asked and the notes settle: what is asked of the database may take its time. */
const DECIDED_MS = HEAD_START_MS + ASK_TIMEOUT_MS + SETTLE_MS + 6 * SECOND_MS
/** Of the connections of others, in words. */
const NAMED_MAX = 3

/**
 * Decides which device the browser of an attempt runs on, and moves the attempt on: proven, or not and why.
 *
 * @param signal ends the proof; the attempt stays where it is
 * @throws AppError `not_found`, `conflict` for an attempt whose device is decided already, or being decided
 */
export async function proveDevice(
  context: ProofContext,
  attemptId: string,
  options: {
    readonly origin: ChangeOrigin
    readonly signal: AbortSignal
    /** Of a browser that holds no key. */
    readonly newKey?: KeySignature | undefined
  },
): Promise<ProofDecision> {
  const { runChange } = context
  const { attempt, lease } = await runChange(options.origin, async (change) =>
    claimProof(change, attemptId),
  )
  const outcome = await search(context, attempt, lease, options.signal)
  return runChange(options.origin, async (change) => {
    await deleteLeasesOfAttempt(change, attemptId)
    const concluded = await conclude(change, attempt, outcome)
    const { newKey } = options
    const boundKeyId = newKey && (await bindBrowserKey(change, concluded, newKey, context.baseUrl))
    return { attempt: concluded, boundKeyId }
  })
}

/**
 * The attempt, and its ports with the lease that they had: nobody else asks the devices about them from now on, and
 * they stay leased until it is decided, for who connects to a port without a lease is noted nowhere.
 */
async function claimProof(change: Change, attemptId: string) {
  const attempt = await lockAttempt(change, attemptId, ['device'])
  const at = change.now()
  const [lease] = await listLeasesOfAttempt(change.tx, attemptId, at)
  if (lease !== undefined && isBeingDecided(lease, at)) {
    throw conflict('The devices are being asked for this sign-in already.')
  }
  await claimLeases(change.tx, attemptId, at)
  const leasedUntil = new Date(at.getTime() + DECIDED_MS)
  // That of a browser that asks at once lasts longer: no process need be told.
  if (lease !== undefined && lease.leasedUntil < leasedUntil) {
    await prolongLeases(change, lease.proofId, leasedUntil)
  }
  return { attempt, lease }
}

type Outcome =
  | { readonly proven: ProvenDevice; readonly evidence: AttemptEvidence }
  | {
      readonly proven: undefined
      readonly reason: NotProven
      readonly evidence: AttemptEvidence
      readonly mixed?: Mixed | undefined
    }

/** Connections from which those of a device that may be the one cannot be told. */
interface Mixed {
  readonly noted: readonly ProbeArrival[]
  /** Whether all that there were are noted. */
  readonly isComplete: boolean
}

async function search(
  context: ProofContext,
  attempt: Attempt,
  lease: ProbeLease | undefined,
  signal: AbortSignal,
): Promise<Outcome> {
  const { db, clock } = context
  const isLate = lease !== undefined && isNearlyOver(lease, clock.now())
  const arrivals = lease === undefined ? [] : await listArrivals(db, lease)
  const counted = arrivals.filter(({ kind }) => kind === 'counted')
  const seen = toArrivalEvidence(counted)
  const [first] = counted
  if (lease === undefined || first === undefined || counted.length < PORTS_PER_PROOF) {
    return { proven: undefined, reason: 'unavailable', evidence: { arrivals: seen } }
  }
  const { personId, ipAddress } = attempt
  const key = await findKeyOfAttempt(db, attempt.id)
  const deviceId = key?.deviceId ?? null
  const candidates = await listCandidates(db, {
    ...{ personId: personId ?? '0', ipAddress, deviceId },
    at: clock.now(),
  })
  const { trustedLocalProxies } = await getSignInPolicy(db)
  const facts = {
    connections: counted.map(toSeenConnection),
    serviceAddresses: await context.listServiceAddresses(),
    secondsSinceFirstSeen: () =>
      Math.max(0, clock.now().getTime() - first.arrivedAt.getTime()) / SECOND_MS,
    trustedLocalProxies,
  }
  const { ask, servicePort } = context
  const headStartMs = candidates[0]?.id === deviceId ? HEAD_START_MS : 0
  const searchOptions = { ask, servicePort, timeoutMs: ASK_TIMEOUT_MS, signal, headStartMs }
  // What has ended by now is known to have ended, as far as this process takes connections.
  const proof = { ...lease, isLate, ports: counted.map(({ port }) => port) }
  await context.settleNotesOf(proof)
  // Last, so that nothing slow is between it and the question.
  const endedBefore = listEnded(await listArrivals(db, proof))
  const { proven, others } = await findProvenDevice(candidates, facts, searchOptions)
  signal.throwIfAborted()
  const evidence = { arrivals: seen, other_devices: others.map(toOtherEvidence) }
  if (proven === undefined) return { proven, reason: toReason(candidates, others), evidence }
  const mixed = proven.browser.isPortAgreed
    ? undefined
    : await findRequestless(context, proof, endedBefore)
  if (mixed !== undefined) {
    const idle = { idle_connections: true, idle_arrivals: toArrivalEvidence(mixed.noted) }
    return { proven: undefined, reason: 'no_match', evidence: { ...evidence, ...idle }, mixed }
  }
  return { proven, evidence: { ...evidence, ...toProvenEvidence(proven) } }
}

/** Whether a process may have taken it for over before it could know that it is prolonged. */
function isNearlyOver({ leasedUntil }: ProbeLease, at: Date): boolean {
  return leasedUntil.getTime() - at.getTime() < SETTLE_MS
}

/** A proof whose devices are asked. */
interface AskedProof extends NotedProof, Pick<ProbeLease, 'attemptId'> {
  /** Its lease was nearly over when that began. */
  readonly isLate: boolean
}

/**
 * Behind a translation of addresses the connections of a device are told from others by nothing but that there are
 * no others. A page of somebody else can have a browser connect without a request; such a connection shows here.
 */
async function findRequestless(
  context: ProofContext,
  proof: AskedProof,
  endedBefore: ReadonlySet<string>,
): Promise<Mixed | undefined> {
  const { db, settleNotesOf } = context
  const answeredAt = new Date(await toTimeSource(db).readTimeMs())
  await sleep(SETTLE_MS)
  // What is due by now is told of in the next turn.
  await turn()
  const isComplete = (await settleNotesOf(proof)) && (await isLeasedStill(context, proof))
  const asking = { endedBefore, answeredAt, isComplete }
  const noted = listShownRequestless(await listArrivals(db, proof), asking)
  return isComplete && noted.length === 0 ? undefined : { noted, isComplete }
}

/** Whether its ports were leased all the while. */
async function isLeasedStill(
  { db, clock }: ProofContext,
  { attemptId, proofId, isLate }: AskedProof,
): Promise<boolean> {
  if (isLate) return false
  const leases = await listLeasesOfAttempt(db, attemptId, clock.now())
  return leases.filter((lease) => lease.proofId === proofId).length === PORTS_PER_PROOF
}

async function conclude(change: Change, attempt: Attempt, outcome: Outcome): Promise<Attempt> {
  const { proven, evidence } = outcome
  if (proven === undefined) {
    if (outcome.mixed !== undefined) await tellMixed(change, attempt, outcome.mixed)
    return deviceNotProven(change, attempt.id, { reason: outcome.reason, evidence })
  }
  const { deviceId, browser } = proven
  const personId = attempt.personId ?? '0'
  if (!browser.isLocalProxy) {
    if (!(await isOsUserAllowed(change, { deviceId, personId }, browser))) {
      return deviceNotProven(change, attempt.id, { reason: 'other_os_user', evidence })
    }
  }
  await tellProof(change, attempt, proven)
  const moved = await deviceProven(change, attempt.id, { deviceId, assurance: 'live', evidence })
  await judgeKeyByProof(change, moved, deviceId)
  // Of a device that nobody has registered it is noted once it is.
  if (moved.stage === 'posture') await admitOsUser(change, moved, deviceId)
  return moved
}

/** What the record of the sign-in says of connections of others. */
async function tellMixed(change: Change, attempt: Attempt, mixed: Mixed): Promise<void> {
  await tell(change, attempt, {
    type: 'agent_detection_failure',
    description: `A device held connections to the ports of the proof, but ${describeMixed(mixed)}. Behind a translation of addresses they cannot be told apart, so that the device may not be the one. Health checks and scanners open such connections: keep them away from these ports.`,
  })
}

function describeMixed({ noted, isComplete }: Mixed): string {
  // There is hardly one that was noted where others could not be.
  if (!isComplete) {
    return 'the service could not note who else connected to its ports, because their lease was over before the devices had been asked, or the database did not answer in time or refused it, so that others may have been open that sent no request of the sign-in'
  }
  const named = noted.slice(0, NAMED_MAX).map(({ ipAddress, port }) => `${ipAddress} to ${port}`)
  const more = noted.length > NAMED_MAX ? ' and others' : ''
  return `while it was asked others were open that sent no request of the sign-in: from ${named.join(', ')}${more}`
}

/** What the record of the sign-in says of the proof. */
async function tellProof(
  change: Change,
  attempt: Attempt,
  { browser, latencyMs }: ProvenDevice,
): Promise<void> {
  const ports = Object.entries(browser.localPorts).map(([port, local]) => `${local} to ${port}`)
  const latency = latencyMs === null ? '' : ` It answered in ${latencyMs} ms.`
  const description = `${browser.browser} (process ${browser.pid}, ${browser.path}, user ${browser.userName || browser.uid}) held the connections from port ${ports.join(', ')}.${latency}`
  await tell(change, attempt, { type: 'device_proof', description })
}

async function tell(
  change: Change,
  { authLogSessionId }: Attempt,
  event: {
    readonly type: 'device_proof' | 'agent_detection_failure'
    readonly description: string
  },
): Promise<void> {
  if (authLogSessionId === null) return
  await extendSession(change, authLogSessionId, {
    columns: {},
    events: [event],
    timeoutSeconds: JOURNAL_TIMEOUT_SECONDS,
  })
}

/**
 * Where all devices of the person are silent it is a matter of reaching them, whatever others at the same address say;
 * else none is the one.
 */
function toReason(candidates: readonly Candidate[], others: readonly OtherDevice[]): NotProven {
  const ownIds = candidates.filter(({ isOwn }) => isOwn).map(({ id }) => id)
  const counted =
    ownIds.length === 0 ? others : others.filter(({ deviceId }) => ownIds.includes(deviceId))
  const isSilent = counted.length > 0 && counted.every(({ reason }) => reason === 'unreachable')
  return isSilent ? 'unreachable' : 'no_match'
}

function toSeenConnection({ port, ipAddress, clientPort, serviceAddress }: ProbeArrival) {
  return { port, clientAddress: ipAddress, clientPort, serviceAddress }
}

function toArrivalEvidence(arrivals: readonly ProbeArrival[]) {
  return arrivals.map(({ port, ipAddress, clientPort, arrivedAt }) => ({
    port,
    address: ipAddress,
    client_port: clientPort,
    arrived_at: arrivedAt.toISOString(),
  }))
}

function toOtherEvidence({ deviceId, reason, path }: OtherDevice) {
  return { device_id: deviceId, reason, path }
}

function toProvenEvidence({ deviceId, browser, latencyMs }: ProvenDevice) {
  return {
    device_id: deviceId,
    browser: browser.browser,
    is_local_proxy: browser.isLocalProxy,
    pid: browser.pid,
    path: browser.path,
    ...toOsUserEvidence(browser),
    local_ports: browser.localPorts,
    is_port_agreed: browser.isPortAgreed,
    latency_ms: latencyMs,
  }
}
