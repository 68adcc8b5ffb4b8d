/*
 * Devices enroll: the secrets that they come with, the records that they get or find again, their node keys. Owns
 * the order of the steps and that they are one change, with one statement for each table however many devices are
 * new. Whether a machine may take the place of a device that is known is decided in enrollment/reenrollment.
 */
import type { Change } from '../../changes/change.ts'
import { LEFT_FOR_LATER } from '../../platform/group-committer.ts'
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
 * the same machine, or about the last uses of a secret, each is to find what the one before it has left: only the first
 * is taken, and the others are left for a later change. So is one under a host identifier that somebody else has just
 * inserted. Locks are taken in one order, those of the secrets that are used last.
 *
 * A machine that claims to be a device whose node key is alive, or to have its hardware, is held until an admin
 * approves; `judgeReenrollment` says what else lets it in. Refused and audited is a machine whose hardware is
 * not that of the device, or left out; refused is the host of a deleted device with a secret that is older than
 * the deletion. A node key is alive for `nodeKeyAliveMs` after its last use.
 */
export async function enrollDevices(
  change: Change,
  attempts: readonly EnrollmentAttempt[],
  nodeKeyAliveMs: number,
): Promise<(Enrollment | typeof LEFT_FOR_LATER)[]> {
  await holdCheckScope(change.tx)
  const arrivals = attempts.map((attempt) => ({ attempt, change: change.part(attempt.origin) }))
  const { candidates, refused } = await listCandidates(change, arrivals)
  const judged = await judge(change, takeIndependent(candidates), nodeKeyAliveMs)
  const created = await enrollNew(change, judged.admitted)
  const enrolled = [...judged.enrolled, ...created.enrolled]
  const outcomes = [...judged.refused, ...created.refused]
  const held = outcomes.flatMap(([candidate, { kind }]) =>
    kind === 'approval_needed' ? [candidate] : [],
  )
  await settleEnrollments(change, enrolled, held)
  const enrollments = new Map<Arrival, Enrollment>([
    ...refused,
    ...outcomes.map(([{ arrival }, outcome]) => [arrival, outcome] as const),
    ...enrolled.map((item) => [item.candidate.arrival, toEnrolled(item)] as const),
  ])
  return arrivals.map((arrival) => enrollments.get(arrival) ?? LEFT_FOR_LATER)
}

const UNKNOWN_SECRET = { kind: 'unknown_secret' } as const

interface Judged {
  readonly admitted: readonly AdmittedCandidate[]
  readonly enrolled: readonly EnrolledCandidate[]
  readonly refused: readonly (readonly [Candidate, RefusedEnrollment])[]
}

/** Which candidates may become new devices; those of known devices are enrolled. */
async function judge(
  { tx }: Change,
  candidates: readonly Candidate[],
  nodeKeyAliveMs: number,
): Promise<Judged> {
  await lockHardware(
    tx,
    candidates.map(({ details }) => details),
  )
  const hosts = await listKnownHosts(tx, candidates.map(hostOf))
  const knownByHost = new Map(hosts.map((device) => [device.hostIdentifier, device]))
  const newcomers = candidates.map((candidate) =>
    toNewcomer(candidate, knownByHost.get(hostOf(candidate))),
  )
  const twins = await listTwins(tx, newcomers)
  const admitted: AdmittedCandidate[] = []
  const enrolled: EnrolledCandidate[] = []
  const refused: (readonly [Candidate, RefusedEnrollment])[] = []
  for (const newcomer of newcomers) {
    const { candidate, known } = newcomer
    const place = { newcomer, twins: twins.get(newcomer) ?? [], nodeKeyAliveMs }
    const outcome =
      known === undefined ? await admitNew(place) : await enrollKnown({ ...place, known })
    if ('device' in outcome) enrolled.push(outcome)
    else if (outcome.kind === 'admitted') admitted.push({ candidate, admission: outcome })
    else refused.push([candidate, outcome])
  }
  return { admitted, enrolled, refused }
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
  arrivals: readonly Arrival[],
): Promise<{
  readonly candidates: readonly Candidate[]
  readonly refused: ReadonlyMap<Arrival, RefusedEnrollment>
}> {
  const hashed = arrivals.map((arrival) => {
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
