import type { Foundation, ServicePart } from '../changes/foundation.ts'
import { createRateLimitStore } from '../platform/rate-limits/rate-limit-store.ts'
import { periodicJob } from '../schema/jobs.ts'
import { fixedRetention } from '../schema/retention.ts'
import { createBoundedWork } from '../platform/bounded-work.ts'
import { createPasswordHasher } from '../platform/secrets/password-hasher.ts'
import type { DatabaseNetwork } from '../platform/db/database-network.ts'
import type { Outbound } from '../platform/net/outbound.ts'
import { deriveKey, type MasterKeys } from '../platform/secrets/master-key.ts'
import { adminSessionRoutes } from './admin-sign-in/admin-session-routes.ts'
import { invitationRoutes } from './admin-sign-in/invitation-routes.ts'
import { passkeyRoutes } from './admin-sign-in/passkey-routes.ts'
import { passwordRoutes } from './admin-sign-in/password-routes.ts'
import { createChallenges } from './admin-sign-in/webauthn-challenge.ts'
import { createWebAuthn } from './admin-sign-in/webauthn.ts'
import type { DeviceTrust } from './admin-sign-in/device-trust.ts'
import { toConsoleSite, type ConsoleSite } from './admin-sign-in/console-site.ts'
import { sessionRoutes } from './admin-sign-in/session-routes.ts'
import { createProviderGateway } from './admin-oidc/provider-gateway.ts'
import { identityProviderRoutes } from './admin-oidc/identity-provider-routes.ts'
import { providerSessionRoutes } from './admin-oidc/provider-session-routes.ts'
import { adminRoutes } from './admins/admin-routes.ts'
import { apiKeyRoutes } from './api-keys/api-key-routes.ts'
import { createKeyUsageRecorder, type KeyUsageRecorder } from './api-keys/key-usage-recorder.ts'
import { permissionUseRoutes } from './api-keys/permission-use-routes.ts'
import { savedViewRoutes } from './saved-views/saved-view-routes.ts'
import { createFeatureSwitches, type FeatureSwitches } from './settings/feature-switches.ts'
import { retentionRoutes } from './retention/retention-routes.ts'
import {
  organisationRoutes,
  type OrganisationRouteDependencies,
} from './settings/organisation-routes.ts'
import { ORGANISATION_CHANNEL } from './settings/organisation-store.ts'

export interface OrganisationPart extends ServicePart {
  readonly site: ConsoleSite
  readonly features: FeatureSwitches
  readonly keyUsage: KeyUsageRecorder
}

export type OrganisationFoundation = Omit<OrganisationRouteDependencies, 'deviceTrust'> &
  Pick<Foundation, 'clock' | 'sealer'> & {
    readonly masterKeys: MasterKeys
    readonly network: Pick<DatabaseNetwork, 'closed'>
  }

export interface OrganisationOptions {
  readonly baseUrl: string
  readonly outbound: Outbound
  readonly deviceTrust: DeviceTrust
}

/** Each takes 19 MiB and one of the few threads that files and names need too. */
const PASSWORD_HASHES = { runningMax: 2, waitingMax: 32 } as const

/** The organisation with its admins and their sessions, features and API keys. */
export function createOrganisationPart(
  foundation: OrganisationFoundation,
  { baseUrl, outbound, deviceTrust }: OrganisationOptions,
): OrganisationPart {
  const { db, clock, runChange, sealer, reevaluateAllDevices, masterKeys } = foundation
  const site = toConsoleSite(baseUrl)
  const challengeKey = deriveKey(masterKeys.current, 'WebAuthn challenges')
  const challenges = createChallenges(challengeKey, clock)
  const webAuthn = createWebAuthn(site, challenges)
  const rateLimiter = createRateLimitStore(db, clock)
  const signIn = { db, runChange, site, webAuthn, rateLimiter, deviceTrust }
  const hasher = createPasswordHasher(createBoundedWork(PASSWORD_HASHES))
  const gateway = createProviderGateway(outbound, `${site.origin}/console/sign-in/provider`, clock)
  const provider = { ...foundation, ...signIn, gateway }
  const features = createFeatureSwitches(db)
  const keyUsage = createKeyUsageRecorder(db, clock, foundation.network.closed)
  return {
    name: 'organisation',
    roles: ['api'],
    site,
    features,
    keyUsage,
    retention: [
      fixedRetention('admin sessions'),
      fixedRetention('key permission uses'),
      fixedRetention('sign-in links'),
      fixedRetention('used challenges'),
    ],
    operations: [
      ...adminRoutes({ db, runChange }),
      ...invitationRoutes({ runChange }, site),
      ...sessionRoutes(signIn),
      ...passkeyRoutes(signIn),
      ...passwordRoutes({ ...signIn, ...{ clock, sealer, hasher, challenges } }),
      ...identityProviderRoutes(provider),
      ...providerSessionRoutes(provider),
      ...adminSessionRoutes({ db, runChange }),
      ...apiKeyRoutes({ ...foundation, baseUrl }),
      ...permissionUseRoutes({ db, clock }),
      ...organisationRoutes({ db, runChange, reevaluateAllDevices, deviceTrust }),
      ...retentionRoutes(db),
      ...savedViewRoutes({ db, runChange }),
    ],
    channels: { [ORGANISATION_CHANNEL]: () => features.forget() },
    onReconnect: () => features.forget(),
    jobs: [periodicJob('key usage', () => keyUsage.flush())],
    stop: () => keyUsage.stop(),
  }
}
