import type { Foundation, ServicePart } from '../../changes/foundation.ts'
import type { CallerOptions } from '../../platform/http/access.ts'
import { endRegistrations } from '../../posture/devices/end-registrations.ts'
import { revokeSecretsOfPerson } from '../../posture/enrollment/secrets/revoke-secrets-of-person.ts'
import { registerScim } from './register-scim.ts'

/** Provisioning by identity providers. */
export function createScimPart(
  { db, runChange }: Pick<Foundation, 'db' | 'runChange'>,
  callers: CallerOptions,
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
        deprovisioning: { endRegistrations, revokeEnrollmentSecrets: revokeSecretsOfPerson },
        callers,
      }),
  }
}
