import type { Change } from '../../../changes/change.ts'
import {
  updateEnrollmentSecret,
  updateSecretUses,
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

/**
 * Counts a use of an enrollment secret: an enrollment against its maximum, and what was held for an approval
 * towards the alarm alone. Tells admins, by the audit log and an event, when the secret is nearly used up, when
 * it is used up, and once an hour when it is used more often than is usual. To be called as the last thing of
 * an enrollment: it locks the secret until the change commits.
 */
export async function countSecretUse(
  change: Change,
  secretId: string,
  { isEnrollment }: { readonly isEnrollment: boolean },
): Promise<void> {
  const uses = await updateSecretUses(change.tx, secretId, { at: change.at, isEnrollment })
  const alarms = listAlarms(uses, isEnrollment)
  for (const alarm of alarms) recordAlarm(change, secretId, uses, alarm)
  if (alarms.includes('unusual_use')) {
    await updateEnrollmentSecret(change.tx, secretId, { unusualUseAt: change.at })
  }
}

function listAlarms(uses: SecretUses, isEnrollment: boolean): SecretAlarm[] {
  const alarms: SecretAlarm[] = []
  const count = Number(uses.useCount)
  if (isEnrollment && uses.usesMax !== null) {
    const max = Number(uses.usesMax)
    if (count === max) alarms.push('used_up')
    else if (count === toNearlyUsedUp(max)) alarms.push('nearly_used_up')
  }
  // Once in an hour: with the first use beyond.
  if (
    uses.alarmUsesPerHour !== null &&
    Number(uses.hourUses) === Number(uses.alarmUsesPerHour) + 1
  ) {
    alarms.push('unusual_use')
  }
  return alarms
}

const WORDS: Readonly<Record<SecretAlarm, string>> = {
  nearly_used_up: 'is nearly used up',
  used_up: 'is used up',
  unusual_use: 'was used unusually often within an hour',
}

function recordAlarm(
  change: Change,
  secretId: string,
  { name, useCount, usesMax, hourUses }: SecretUses,
  alarm: SecretAlarm,
): void {
  change.recordAudit({
    action: `enrollment_secret.${alarm}`,
    target: { type: 'enrollment_secret', id: secretId },
    description: `found that the enrollment secret ${name} ${WORDS[alarm]}`,
    after: { use_count: useCount, uses_max: usesMax, uses_within_hour: hourUses },
  })
  change.recordEvent({
    type: 'enrollment_secrets.alarm',
    secretId,
    name,
    reason: alarm,
    useCount: Number(useCount),
    usesMax: usesMax === null ? null : Number(usesMax),
    usesWithinHour: Number(hourUses),
  })
}
