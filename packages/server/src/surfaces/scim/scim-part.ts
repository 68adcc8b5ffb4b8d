import type { Foundation, ServicePart } from '../../changes/foundation.ts'
import { endRegistrations, lockOwnedDevices } from '../../posture/devices/end-registrations.ts'
import { resolvePersonIssues } from '../../posture/issues/resolve-person-issues.ts'
import { revokeSecretsOfPerson } from '../../posture/enrollment/secrets/revoke-secrets-of-person.ts'
import { registerScim, type ScimDependencies } from './register-scim.ts'

/** Provisioning by identity providers. */
export function createScimPart(
  { db, runChange }: Pick<Foundation, 'db' | 'runChange'>,
  { callers, checkPermission }: Pick<ScimDependencies, 'callers' | 'checkPermission'>,
  { baseUrl }: { readonly baseUrl: string },
): ServicePart {
  return {
    name: 'SCIM',
    roles: ['api'],
    mount: (http) =>
      registerScim(http, {
        db,
        runChange,
        baseUrl,
        deprovisioning: {
          lockDevices: lockOwnedDevices,
          endRegistrations,
          resolveIssues: resolvePersonIssues,
          revokeEnrollmentSecrets: revokeSecretsOfPerson,
        },
        callers,
        checkPermission,
      }),
  }
}
