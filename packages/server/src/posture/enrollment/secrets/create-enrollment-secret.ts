/*
 * The secrets that devices enroll with: created, listed and revoked here. Several are live at once so
 * that they can be rotated; the enrollment in osquery/ verifies them, and count-secret-use.ts counts.
 */
import { createHash } from 'node:crypto'
import type { Change } from '../../../changes/change.ts'
import { invalidBody } from '../../../platform/app-error.ts'
import { newSecret } from '../../../platform/ids.ts'
import { parseName } from '../../../platform/parse-text.ts'
import type { Sealer } from '../../../platform/secrets/sealed-box.ts'
import {
  getEnrollmentSecretForUpdate,
  insertEnrollmentSecret,
  updateEnrollmentSecret,
  type EnrollmentSecret,
} from './enrollment-secret-store.ts'
import { enrollmentSecretContext } from './open-enrollment-secret.ts'

export interface NewEnrollmentSecret {
  readonly name: string
  /** Devices that enroll with the secret are registered to this person. */
  readonly personId: string | null
  readonly expiresAt: Date | null
  /** Enrollments that it is good for; any number when left out. */
  readonly usesMax?: number | null
  /** Uses within an hour from which on admins are told, null for never; 100 when left out. */
  readonly alarmUsesPerHour?: number | null
}

/** More than a helpdesk enrolls by hand, fewer than somebody who goes through the list of devices. */
export const ALARM_USES_PER_HOUR_DEFAULT = 100

/** SHA-256 of an enrollment secret, by which it is looked up. White space around it is dropped. */
export function hashEnrollmentSecret(secret: string): Buffer {
  return createHash('sha256').update(secret.trim()).digest()
}

/**
 * Creates an enrollment secret and its audit entry; the plain text is in the answer.
 *
 * @throws AppError `invalid_body` for an empty or overlong name, and for an end that has passed
 */
export async function createEnrollmentSecret(
  change: Change,
  sealer: Sealer,
  input: NewEnrollmentSecret,
): Promise<{ readonly id: string; readonly name: string; readonly secret: string }> {
  if (input.expiresAt !== null && input.expiresAt <= change.at) {
    throw invalidBody([{ path: 'expires_at', message: 'Must be in the future.' }])
  }
  const secret = newSecret(32)
  const secretHash = hashEnrollmentSecret(secret)
  const row = await insertEnrollmentSecret(change.tx, {
    name: parseName(input.name, 'name'),
    secretHash,
    secretSealed: sealer.seal(secret, enrollmentSecretContext(secretHash)),
    personId: input.personId,
    createdAt: change.at,
    updatedAt: change.at,
    expiresAt: input.expiresAt,
    usesMax: input.usesMax ?? null,
    alarmUsesPerHour:
      input.alarmUsesPerHour === undefined ? ALARM_USES_PER_HOUR_DEFAULT : input.alarmUsesPerHour,
  })
  change.recordAudit({
    action: 'enrollment_secret.created',
    target: { type: 'enrollment_secret', id: row.id },
    description: `created the enrollment secret ${row.name}`,
    after: {
      name: row.name,
      person_id: row.personId,
      expires_at: row.expiresAt?.toISOString() ?? null,
      uses_max: row.usesMax,
      alarm_uses_per_hour: row.alarmUsesPerHour,
    },
  })
  return { id: row.id, name: row.name, secret }
}

/**
 * Ends an enrollment secret: no device enrolls with it any more; enrolled devices stay. Idempotent.
 *
 * @throws AppError `not_found`
 */
export async function revokeEnrollmentSecret(
  change: Change,
  id: string,
): Promise<EnrollmentSecret> {
  const secret = await getEnrollmentSecretForUpdate(change.tx, id)
  if (secret.revokedAt !== null) return secret
  change.recordAudit({
    action: 'enrollment_secret.revoked',
    target: { type: 'enrollment_secret', id: secret.id },
    description: `revoked the enrollment secret ${secret.name}`,
  })
  return updateEnrollmentSecret(change.tx, id, { revokedAt: change.at, updatedAt: change.at })
}
