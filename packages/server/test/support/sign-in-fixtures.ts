/*
 * Records for tests of signing in here: an application, and an attempt brought as far as a test needs it by the use
 * cases of the product.
 */
import type { Insertable, Kysely } from 'kysely'
import type { RunChange } from '../../src/changes/change.ts'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { newKeyBytes, newSecret } from '../../src/platform/ids.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { beginAttempt, type BegunAttempt } from '../../src/sign-in/attempts/begin-attempt.ts'
import { identifyPerson } from '../../src/sign-in/attempts/identify-person.ts'
import { deviceProven } from '../../src/sign-in/attempts/know-device.ts'

const AT = new Date('2026-01-02T03:04:05.678Z')

export async function insertApplication(
  db: Kysely<Schema>,
  values: Partial<Insertable<Schema['sign_in_application']>> = {},
): Promise<string> {
  const row: Insertable<Schema['sign_in_application']> = {
    name: newSecret(6),
    kind: 'oidc',
    mode: 'step_up',
    client_id: newSecret(9),
    token_endpoint_auth_method: 'none',
    session_seconds: 3_600,
    created_at: AT,
    updated_at: AT,
    ...values,
  }
  const { id } = await db
    .insertInto('sign_in_application')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** What a machine has that is enrolled, registered to its owner and in order. */
export function inOrder() {
  return {
    auth_state: 'Good',
    compliance: 'compliant',
    evaluated_at: AT,
    registered_at: AT,
    node_key_hash: newKeyBytes(32),
  } as const
}

/** Begins an attempt that comes from an application. */
export async function beginTestAttempt(
  runChange: RunChange,
  applicationId: string | null,
  ipAddress = '192.0.2.1',
): Promise<BegunAttempt> {
  return runChange({ actor: SYSTEM_ACTOR }, (change) =>
    beginAttempt(change, {
      applicationId,
      interaction: { kind: 'oidc', uid: newSecret(9) },
      loginHint: null,
      language: 'en',
      ipAddress,
      userAgent: 'Test',
    }),
  )
}

/** Says who signs in. */
export async function identifyTestPerson(
  runChange: RunChange,
  attemptId: string,
  email: string,
  isProven = true,
) {
  return runChange({ actor: SYSTEM_ACTOR }, (change) =>
    identifyPerson(change, attemptId, { email, amr: ['pwd'], isProven }),
  )
}

/** Says that the device was proven live. */
export async function proveTestDevice(runChange: RunChange, attemptId: string, deviceId: string) {
  return runChange({ actor: SYSTEM_ACTOR }, (change) =>
    deviceProven(change, attemptId, { deviceId, assurance: 'live', evidence: { pid: '7' } }),
  )
}
