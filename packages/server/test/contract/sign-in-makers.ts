import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { newSecret, newUuid } from '../../src/platform/ids.ts'
import { insertEntraAccount } from '../../src/sign-in/entra-accounts/entra-account-store.ts'
import { insertBrowserKey } from '../../src/sign-in/browser-keys/browser-key-store.ts'
import { requestConfirmation } from '../../src/sign-in/registration/request-confirmation.ts'
import { lockAttempt } from '../../src/sign-in/attempts/move-attempt.ts'

import { beginTestAttempt, identifyTestPerson } from '../support/sign-in-fixtures.ts'
import type { ContractService } from './contract-service.ts'

/** Makers of what signing in here leaves. */
export type SignInMakers = ReturnType<typeof createSignInMakers>

const HOUR_MS = 3_600_000

/** What recipes need that no operation of the API makes: people do, by signing in. */
export function createSignInMakers({ services }: Pick<ContractService, 'services'>) {
  const { db, runChange, clock } = services
  let signInCount = 0
  return {
    newGrantedSession: async (personId: string, deviceId: string): Promise<string> => {
      const grantedAt = clock.now()
      const { id } = await db
        .insertInto('sign_in_granted_session')
        .values({
          id: newUuid(),
          sid: newUuid(),
          application_id: null,
          person_id: personId,
          device_id: deviceId,
          assurance: 'live',
          granted_at: grantedAt,
          expires_at: new Date(grantedAt.getTime() + HOUR_MS),
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return id
    },
    newBrowserKey: async (
      personId: string,
      deviceId: string,
      userAgent: string | null = null,
    ): Promise<string> => {
      const at = clock.now()
      const { id } = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
        insertBrowserKey(change.tx, {
          id: newUuid(),
          personId,
          deviceId,
          userAgent,
          publicJwk: JSON.stringify({ kty: 'EC', crv: 'P-256', x: newSecret(), y: newSecret() }),
          boundAt: at,
          lastUsedAt: at,
          lastProvenAt: at,
        }),
      )
      return id
    },
    newEntraAccount: async (personId: string): Promise<string> => {
      const account = { tenantId: newUuid(), objectId: newUuid(), username: 'ada@example.com' }
      const id = newUuid()
      await runChange({ actor: SYSTEM_ACTOR }, (change) =>
        insertEntraAccount(change.tx, { id, ...account, personId, firstSeenAt: clock.now() }),
      )
      return id
    },
    newSignInApproval: async (email: string, deviceId: string): Promise<string> => {
      signInCount += 1
      // Of one address few may wait at a time.
      const address = `2001:db8::${signInCount.toString(16)}`
      const { attempt } = await beginTestAttempt(runChange, null, address)
      await identifyTestPerson(runChange, attempt.id, email)
      await db
        .updateTable('sign_in_attempt')
        .set({ stage: 'registration', device_id: deviceId })
        .where('id', '=', attempt.id)
        .execute()
      await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
        const locked = await lockAttempt(change, attempt.id, ['registration'])
        const ways = ['admin_approval'] as const
        await requestConfirmation(change, locked, { kind: 'registration', ways, deviceId })
      })
      const { id } = await db
        .selectFrom('device_confirmation')
        .select('id')
        .where('attempt_id', '=', attempt.id)
        .executeTakeFirstOrThrow()
      return id
    },
  }
}
