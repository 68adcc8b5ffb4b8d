import type { Change } from '../../../changes/change.ts'
import {
  updateEnrollmentSecret,
  updateSecretUses,
  type NewSecretUses,
  type SecretUses,
} from './enrollment-secret-store.ts'

/** Why admins are told of an enrollment secret. */
export type SecretAlarm = 'nearly_used_up' | 'used_up' | 'unusual_use'

/** The share of the maximum of uses from which on a secret is nearly used up. */
const NEARLY_USED_UP = 0.9

/** How many enrollments are left of a secret that has a maximum is told from this use on. */
export function toNearlyUsedUp(usesMax: number): number {
  return Math.ceil(usesMax * NEARLY_USED_UP)
}

/** A use of an enrollment secret, and the change in which it was used. */
export interface SecretUse {
  readonly secretId: string
  /** False for one that was held for an approval. */
  readonly isEnrollment: boolean
  readonly change: Change
}

/**
 * Counts uses of enrollment secrets: an enrollment against its maximum, and what was held for an approval
 * towards the alarm alone. Tells admins, by the audit log and an event, when a secret is nearly used up, when
 * it is used up, and once an hour when it is used more often than is usual. To be called as the last thing of
 * enrollments: it locks the secrets until the change commits.
 */
export async function countSecretUses(
  { at, tx }: Change,
  uses: readonly SecretUse[],
): Promise<void> {
  const bySecret = Map.groupBy(uses, ({ secretId }) => secretId)
  if (bySecret.size === 0) return
  const counted = await updateSecretUses(tx, [...bySecret].map(toNewUses), at)
  for (const after of counted) {
    const { id } = after
    for (const { use, counts } of countEach(after, bySecret.get(id) ?? [])) {
      const alarms = listAlarms(counts, use.isEnrollment)
      for (const alarm of alarms) recordAlarm(use.change, counts, alarm)
      if (alarms.includes('unusual_use')) {
        await updateEnrollmentSecret(tx, id, { unusualUseAt: at })
      }
    }
  }
}

function toNewUses([secretId, uses]: [string, readonly SecretUse[]]): NewSecretUses {
  return { secretId, usesCount: uses.length, enrollmentsCount: countEnrollments(uses) }
}

function countEnrollments(uses: readonly SecretUse[]): number {
  return uses.filter(({ isEnrollment }) => isEnrollment).length
}

/** What the secret had been used for after each of its uses, as if they had been counted one by one. */
function countEach(
  after: SecretUses,
  uses: readonly SecretUse[],
): { readonly use: SecretUse; readonly counts: SecretUses }[] {
  return uses.map((use, index) => {
    const later = uses.slice(index + 1)
    const useCount = after.useCount - countEnrollments(later)
    return { use, counts: { ...after, useCount, hourUses: after.hourUses - later.length } }
  })
}

function listAlarms(uses: SecretUses, isEnrollment: boolean): SecretAlarm[] {
  const alarms: SecretAlarm[] = []
  const { useCount, usesMax, hourUses, alarmUsesPerHour } = uses
  if (isEnrollment && usesMax !== null) {
    if (useCount === usesMax) alarms.push('used_up')
    else if (useCount === toNearlyUsedUp(usesMax)) alarms.push('nearly_used_up')
  }
  // Once in an hour: with the first use beyond.
  if (alarmUsesPerHour !== null && hourUses === alarmUsesPerHour + 1) alarms.push('unusual_use')
  return alarms
}

const WORDS: Readonly<Record<SecretAlarm, string>> = {
  nearly_used_up: 'is nearly used up',
  used_up: 'is used up',
  unusual_use: 'was used unusually often within an hour',
}

function recordAlarm(
  change: Change,
  { id, name, useCount, usesMax, hourUses }: SecretUses,
  alarm: SecretAlarm,
): void {
  change.recordAudit({
    action: `enrollment_secret.${alarm}`,
    target: { type: 'enrollment_secret', id },
    description: `found that the enrollment secret ${name} ${WORDS[alarm]}`,
    after: {
      use_count: String(useCount),
      uses_max: usesMax === null ? null : String(usesMax),
      uses_within_hour: String(hourUses),
    },
  })
  change.recordEvent({
    type: 'enrollment_secrets.alarm',
    secretId: id,
    name,
    reason: alarm,
    useCount,
    usesMax,
    usesWithinHour: hourUses,
  })
}
