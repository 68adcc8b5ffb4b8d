/*
 * Devices enroll: the secrets that they come with, the records that they get or find again, their node keys. Owns
 * the order of the steps and that they are one change, with one statement for each table however many devices are
 * new. Whether a machine may take the place of a device that is known is decided in enrollment/reenrollment.
 */
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { holdCheckScope } from '../checks/check-scope-store.ts'
import { lockHardware } from '../devices/hardware-duplicate-store.ts'
import { listKnownHosts, listTwins } from '../enrollment/reenrollment/known-host-store.ts'
import { hashEnrollmentSecret } from '../enrollment/secrets/create-enrollment-secret.ts'
import { admitNew, enrollKnown, toNewcomer } from './admit-candidate.ts'
import { enrollNew, type AdmittedCandidate } from './enroll-new-devices.ts'
import type {
  Arrival,
  Candidate,
  EnrolledCandidate,
  Enrollment,
  EnrollmentAttempt,
  RefusedEnrollment,
} from './enrollment.ts'
import { lockLiveSecrets } from './enrollment-store.ts'
import { readHostDetails } from './host-details.ts'
import { settleEnrollments } from './settle-enrollments.ts'

/**
 * Enrolls devices with live enrollment secrets: creates their records, or finds them again by their host identifiers
 * and replaces their node keys, which ends the old ones. Their checks become pending and are due at once. A secret
 * that is bound to a person registers a device that nobody owns to that person, and never moves one that
 * somebody owns. All of it or nothing; answers what became of each attempt, in their order. Of attempts that are about
 * the same machine, or about the last uses of a secret, each finds what the one before it has left.
 *
 * A machine that claims to be a device whose node key is alive, or to have its hardware, is held until an admin
 * approves; `judgeReenrollment` says what else lets it in. Refused and audited is a machine whose hardware is
 * not that of the device, or left out; refused is the host of a deleted device with a secret that is older than
 * the deletion. A node key is alive for `nodeKeyAliveMs` after its last use.
 *
 * @throws AppError `unavailable` when a device was deleted in between: the agent tries again
 */
export async function enrollDevices(
  change: Change,
  attempts: readonly EnrollmentAttempt[],
  nodeKeyAliveMs: number,
): Promise<Enrollment[]> {
  await holdCheckScope(change.tx)
  const arrivals = attempts.map((attempt) => ({ attempt, change: change.part(attempt.origin) }))
  const enrollments = new Map<Arrival, Enrollment>()
  const overtaken = new Set<Arrival>()
  for (let waiting: readonly Arrival[] = arrivals; waiting.length > 0;) {
    const turn = await enrollInTurn(change, waiting, nodeKeyAliveMs)
    for (const [arrival, enrollment] of turn.enrollments) enrollments.set(arrival, enrollment)
    for (const arrival of turn.overtaken) {
      if (overtaken.has(arrival)) {
        throw new AppError('unavailable', 'The device has just been deleted.')
      }
      overtaken.add(arrival)
    }
    waiting = waiting.filter((arrival) => !enrollments.has(arrival))
  }
  return arrivals.map((arrival) => enrollments.get(arrival) ?? UNKNOWN_SECRET)
}

const UNKNOWN_SECRET = { kind: 'unknown_secret' } as const

interface Turn {
  readonly enrollments: ReadonlyMap<Arrival, Enrollment>
  /** Those of new devices whose host identifier somebody else has just inserted: it is a known one by now. */
  readonly overtaken: readonly Arrival[]
}

/** Takes the first of the arrivals, and whichever are not about the same as one before them. */
async function enrollInTurn(
  change: Change,
  waiting: readonly Arrival[],
  nodeKeyAliveMs: number,
): Promise<Turn> {
  const { tx } = change
  const { candidates, refused } = await listCandidates(change, waiting)
  // Also for those whose turn comes later: locks are taken in one order.
  await lockHardware(
    tx,
    candidates.map(({ details }) => details),
  )
  const hosts = await listKnownHosts(tx, candidates.map(hostOf))
  const knownByHost = new Map(hosts.map((device) => [device.hostIdentifier, device]))
  const taken = takeIndependent(candidates).map((candidate) =>
    toNewcomer(candidate, knownByHost.get(hostOf(candidate))),
  )
  const twins = await listTwins(tx, taken)
  const admitted: AdmittedCandidate[] = []
  const enrolled: EnrolledCandidate[] = []
  const outcomes = new Map<Candidate, RefusedEnrollment>()
  for (const newcomer of taken) {
    const { candidate, known } = newcomer
    const place = { newcomer, twins: twins.get(newcomer) ?? [], nodeKeyAliveMs }
    const outcome =
      known === undefined ? await admitNew(place) : await enrollKnown({ ...place, known })
    if ('device' in outcome) enrolled.push(outcome)
    else if (outcome.kind === 'admitted') admitted.push({ candidate, admission: outcome })
    else outcomes.set(candidate, outcome)
  }
  const created = await enrollNew(change, admitted)
  for (const [candidate, outcome] of created.refused) outcomes.set(candidate, outcome)
  enrolled.push(...created.enrolled)
  const held = taken.flatMap(({ candidate }) =>
    outcomes.get(candidate)?.kind === 'approval_needed' ? [candidate] : [],
  )
  await settleEnrollments(change, enrolled, held)
  return {
    enrollments: new Map<Arrival, Enrollment>([
      ...refused,
      ...[...outcomes].map(([{ arrival }, outcome]) => [arrival, outcome] as const),
      ...enrolled.map((item) => [item.candidate.arrival, toEnrolled(item)] as const),
    ]),
    overtaken: created.overtaken.map(({ arrival }) => arrival),
  }
}

function toEnrolled({ device, nodeKey }: EnrolledCandidate): Enrollment {
  return { kind: 'enrolled', deviceId: device.id, nodeKey }
}

function hostOf({ arrival }: Candidate): string {
  return arrival.attempt.request.hostIdentifier
}

/** The arrivals with a live secret and a platform that has checks; the others are refused. */
async function listCandidates(
  { at, tx }: Change,
  waiting: readonly Arrival[],
): Promise<{
  readonly candidates: readonly Candidate[]
  readonly refused: ReadonlyMap<Arrival, RefusedEnrollment>
}> {
  const hashed = waiting.map((arrival) => {
    return { arrival, hash: hashEnrollmentSecret(arrival.attempt.request.secret) }
  })
  const secrets = await lockLiveSecrets(
    tx,
    hashed.map(({ hash }) => hash),
    at,
  )
  const candidates: Candidate[] = []
  const refused = new Map<Arrival, RefusedEnrollment>()
  for (const { arrival, hash } of hashed) {
    const secret = secrets.get(hash.toString('hex'))
    const details = readHostDetails(arrival.attempt.request)
    if (secret === undefined) refused.set(arrival, UNKNOWN_SECRET)
    else if (details === undefined) refused.set(arrival, { kind: 'unsupported_platform' })
    else candidates.push({ arrival, secret, details })
  }
  return { candidates, refused }
}

/**
 * The candidates of which none has the host identifier or hardware of one before it, and that all find a use left of
 * their secret unless none is left at all.
 */
function takeIndependent(candidates: readonly Candidate[]): Candidate[] {
  const met = new Set<string>()
  const usesBySecret = new Map<string, number>()
  return candidates.filter((candidate) => {
    const { details, secret } = candidate
    const marks = [
      `host ${hostOf(candidate)}`,
      ...(details.serial === null ? [] : [`serial ${details.serial.toLowerCase()}`]),
      ...(details.hardwareUuid === null ? [] : [`uuid ${details.hardwareUuid.toLowerCase()}`]),
    ]
    const uses = usesBySecret.get(secret.id) ?? 0
    const hasUse = secret.usesLeft === null || secret.usesLeft === 0 || uses < secret.usesLeft
    const isIndependent = hasUse && marks.every((mark) => !met.has(mark))
    // Those that come later of the same machine wait for this one also when it waits itself.
    for (const mark of marks) met.add(mark)
    if (isIndependent) usesBySecret.set(secret.id, uses + 1)
    return isIndependent
  })
}
