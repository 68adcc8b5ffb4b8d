import type { Change } from '../../../changes/change.ts'
import type { Sealer } from '../../../platform/secrets/sealed-box.ts'
import {
  createApplication,
  removeApplication,
} from '../../../sign-in/applications/change-application.ts'
import { listApplications } from '../../../sign-in/applications/application-store.ts'

/** What the application of the demo authenticates with. */
export interface TrialCredentials {
  readonly clientId: string
  readonly clientSecret: string
}

const NAME = 'Ledger'
const SESSION_SECONDS = 3_600

/** Makes the application that visitors sign in to; one of an earlier demo in the same folder ends. */
export async function createTrialApplication(
  change: Change,
  sealer: Sealer,
  redirectUri: string,
): Promise<TrialCredentials> {
  const before = await listApplications(change.tx, { limit: 1_000, afterId: undefined })
  for (const { id, name } of before) if (name === NAME) await removeApplication(change, id)
  const { application, secret } = await createApplication(
    change,
    {
      name: NAME,
      kind: 'oidc',
      mode: 'step_up',
      tokenEndpointAuthMethod: 'client_secret_basic',
      redirectUris: [redirectUri],
      postLogoutRedirectUris: [],
      jwks: null,
      jwksUri: null,
      backchannelLogoutUri: null,
      upstreamProviderId: null,
      minimumAssurance: 'approved',
      isSerialClaimed: false,
      claimsProfile: 'standard',
      entraTenantId: null,
      entraAppId: null,
      entraCloud: null,
      hosts: [],
      sessionSeconds: SESSION_SECONDS,
      isEnabled: true,
    },
    { sealer, findTargetProblem: () => undefined },
  )
  return { clientId: application.clientId, clientSecret: secret ?? '' }
}
