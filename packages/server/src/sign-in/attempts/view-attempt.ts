import type { Foundation } from '../../changes/foundation.ts'
import { listPossibleWays } from '../browser-keys/possible-ways.ts'
import { readBrand } from '../pages/brand-read.ts'
import type { Language } from '../pages/texts/language.ts'
import { findApplicationName, findAttemptPerson } from './attempt-facts-read.ts'
import { listShownIssues } from '../shown-issues/list-shown-issues.ts'
import { findShownDevice } from './shown-device-read.ts'
import type { Attempt } from './attempt-store.ts'
import type {
  AttemptChoices,
  AttemptDevice,
  AttemptIssue,
  AttemptRefusal,
  AttemptView,
} from './attempt-view.ts'
import { readDenialNote } from '../registration/deny-registration.ts'
import type { AttemptEvidence } from '../../schema/tables/sign-in-tables.ts'
import { REFUSALS, type RefusalCode } from './refusals.ts'

/** What is shown of a sign-in now. A refused one of a device of somebody else shows nothing of the device. */
export async function viewOfAttempt(
  { db, clock }: Pick<Foundation, 'db' | 'clock'>,
  attempt: Attempt,
  language?: Language,
): Promise<AttemptView> {
  const { applicationId, personId } = attempt
  const now = clock.now()
  const person = personId === null ? undefined : await findAttemptPerson(db, personId)
  const device = await showDevice(db, attempt)
  // What was fixed during the sign-in is shown as well.
  const readerId = personId ?? undefined
  const wanted = { at: now, resolvedSince: attempt.startedAt, readerId, language }
  const issues =
    device === undefined ? [] : await listShownIssues(db, { deviceId: device.id, ...wanted })
  const brand = await readBrand(db)
  return {
    id: attempt.id,
    stage: attempt.stage,
    applicationName: applicationId === null ? null : await findApplicationName(db, applicationId),
    person: person && { name: person.name, email: person.email },
    device,
    assurance: attempt.assurance ?? undefined,
    issues,
    choices: toChoices(attempt, device, issues, now),
    fallback:
      attempt.stage === 'fallback'
        ? { ladder: await listPossibleWays(db, attempt, now), state: attempt.fallbackState }
        : undefined,
    registration: attempt.stage === 'registration' ? { state: attempt.fallbackState } : undefined,
    refusal:
      attempt.refusalCode === null ? undefined : toRefusal(attempt.refusalCode, attempt.evidence),
    expiresAt: attempt.expiresAt,
    revision: attempt.revision,
    language: attempt.language,
    brand: { name: brand.name, logo: brand.logo, colour: brand.colour },
  }
}

function toChoices(
  { stage, endedAt, expiresAt }: Attempt,
  device: AttemptDevice | undefined,
  issues: readonly AttemptIssue[],
  now: Date,
): AttemptChoices {
  const isUnderWay = endedAt === null && expiresAt > now
  const isAtIssues = isUnderWay && (stage === 'blocked' || stage === 'warned')
  const isClear = device?.authState !== 'Blocked' && issues.every(({ isBlocking }) => !isBlocking)
  return {
    mayContinue: isUnderWay && (stage === 'warned' || (stage === 'blocked' && isClear)),
    mayRecheck: isAtIssues,
    mayRequestExemption:
      isUnderWay && issues.some((issue) => issue.isExemptionAllowed && issue.recheck !== 'passing'),
    maySnooze:
      isAtIssues &&
      device?.isOwn === true &&
      issues.some(({ snoozeDays }) => snoozeDays.length > 0),
    maySayNotMyDevice: isUnderWay && device !== undefined,
    mayCancel: isUnderWay,
  }
}

/** What must not be shown to whoever signs in with it. */
const HIDING: ReadonlySet<string> = new Set([
  'device_of_another_person',
  'device_reassigned',
  'relayed',
  'other_os_user',
])

async function showDevice(
  db: Foundation['db'],
  { deviceId, assurance, refusalCode, personId }: Attempt,
): Promise<AttemptDevice | undefined> {
  if (deviceId === null || assurance === null || HIDING.has(refusalCode ?? '')) return undefined
  const device = await findShownDevice(db, deviceId)
  if (device === undefined) return undefined
  const { ownerId, formerOwnerId, registrationEndedAt, ...shown } = device
  const ownUntil = formerOwnerId !== null && formerOwnerId === personId ? registrationEndedAt : null
  const isOwn = ownerId !== null && ownerId === personId
  return { ...shown, howKnown: assurance, isOwn, ownUntil }
}

function toRefusal(text: string, evidence: AttemptEvidence): AttemptRefusal | undefined {
  if (!Object.hasOwn(REFUSALS, text)) return undefined
  // The keys of the registry are the codes.
  const code = text as RefusalCode
  const { words, remedy } = REFUSALS[code]
  return { code, message: words, note: readDenialNote(evidence), remedy }
}
