import { SYSTEM_ACTOR } from '../changes/audit/audit-entry.ts'
import type { Foundation, ServicePart } from '../changes/foundation.ts'
import { createProviderGateway } from '../organisation/admin-oidc/provider-gateway.ts'
import type { Outbound } from '../platform/net/outbound.ts'
import { deriveKey, type MasterKeys } from '../platform/secrets/master-key.ts'
import type { AskDevices } from '../posture/device-questions/ask-devices.ts'
import type { RerunAnswers } from '../posture/checks/rerun-answers.ts'
import { dueJob, periodicJob } from '../schema/jobs.ts'
import type { ApiRoute } from '../schema/operations.ts'
import { applicationRoutes } from './applications/application-routes.ts'
import type { HeldAttempt } from './attempts/attempt-cookie-input.ts'
import { createAttemptWatch } from './attempts/attempt-events.ts'
import { createRefusalRecorder } from './applications/requests/refusal-recorder.ts'
import { refusalRoutes } from './applications/requests/refusal-routes.ts'
import { requestRoutes } from './applications/requests/request-routes.ts'
import { browserKeyRoutes } from './browser-keys/browser-key-routes.ts'
import { attemptRetentions } from './attempts/attempt-retention-store.ts'
import { attemptRoutes } from './attempts/attempt-routes.ts'
import { ATTEMPT_CHANNEL, ATTEMPT_EXPIRY_CHANNEL } from './attempts/attempt-store.ts'
import { settleDecided } from './registration/settle-decided.ts'
import { abandonAttempts } from './attempts/end-attempt.ts'
import { certificateRoutes } from './certificates/certificate-routes.ts'
import { confirmationRoutes } from './registration/confirmation-routes.ts'
import { ENTRA_CLOUDS } from './entra/entra-clouds.ts'
import { mountEntra, toEntraPage } from './entra/entra-routes.ts'
import { answerEntra } from './entra/entra-sign-in.ts'
import { createEntraHintVerifier } from './entra/verify-entra-hint.ts'
import { mountForwardAuth } from './forward-auth/forward-auth-surface.ts'
import { readBrand } from './pages/brand-read.ts'
import { createPageAssets } from './pages/kit/page-assets.ts'
import { mountPages } from './pages/page-surface.ts'
import { policyRoutes } from './policy/policy-routes.ts'
import { entraAccountRoutes } from './entra-accounts/entra-account-routes.ts'
import { createProviderHolder } from './provider/provider-holder.ts'
import { createProviderPages } from './provider/provider-pages.ts'
import { mountProvider } from './provider/provider-routes.ts'
import { SIGN_IN_KEY_CHANNEL } from './provider/sign-in-key-store.ts'
import { createSignInKeys, type SignInKeys } from './provider/sign-in-keys.ts'
import { endSignedOut } from './sessions/end-sessions.ts'
import { LOGOUT_CHANNEL } from './sessions/granted-session-store.ts'
import { sendLogouts, type SendLogoutsDependencies } from './sessions/send-logouts.ts'
import { sessionRoutes } from './sessions/session-routes.ts'
import { UPSTREAM_CALLBACK_PATH } from './upstreams/upstream-paths.ts'
import { upstreamRoutes } from './upstreams/upstream-routes.ts'

export interface GateSettings {
  readonly baseUrl: string
  readonly signInRetentionDays: number
  /** Addresses and ranges, separated by commas. */
  readonly trustedProxies: string | undefined
}

export type GateFoundation = Foundation & { readonly masterKeys: MasterKeys }

interface GateDependencies {
  readonly outbound: Outbound
  readonly ask: AskDevices
  readonly reruns: RerunAnswers
}

/** Signing in here: applications, upstream providers, the policy, attempts and what they grant. */
export function createGatePart(
  foundation: GateFoundation,
  { baseUrl, signInRetentionDays, trustedProxies }: GateSettings,
  { outbound, ask, reruns }: GateDependencies,
): ServicePart {
  const { db, runChange, clock, sealer, log } = foundation
  const gateway = createProviderGateway(outbound, `${baseUrl}${UPSTREAM_CALLBACK_PATH}`, clock)
  const findTargetProblem = (url: string) => gateway.findTargetProblem(url)
  const keys = createSignInKeys({ db, runChange, clock, sealer })
  const watch = createAttemptWatch()
  const refusals = createRefusalRecorder({ db, clock, log })
  const site = { baseUrl, assets: createPageAssets(), readBrand: async () => readBrand(db) }
  const verifyHint = createEntraHintVerifier(outbound.client, clock)
  const cookieKeys = cookieKeysOf(foundation.masterKeys)
  const remembering = { baseUrl, cookieKeys }
  const upstream = { db, runChange, clock, sealer, log, gateway, remembering }
  const clouds = ENTRA_CLOUDS
  const entra = { db, runChange, clock, log, baseUrl, keys, verifyHint, clouds, refusals }
  return {
    name: 'sign-in gate',
    roles: ['api'],
    operations: listOperations({ ...upstream, baseUrl, findTargetProblem }),
    mount: (http) => {
      const openProvider = createProviderHolder(
        {
          ...{ db, clock, sealer, baseUrl, outbound, cookieKeys, pages: createProviderPages(site) },
          endSignedOut: async (signedOut) =>
            runChange({ actor: SYSTEM_ACTOR }, async (change) => endSignedOut(change, signedOut)),
          refusals,
          onFault: (error) => log.error({ err: error }, 'a sign-in failed'),
        },
        keys,
      )
      mountProvider(http, site, { db, runChange, baseUrl, upstream, openProvider })
      mountEntra(http, site, entra)
      mountForwardAuth(http, site, { ...foundation, baseUrl, keys, upstream, trustedProxies })
      const attempts = { db, runChange, clock, log, baseUrl, watch, reruns }
      const toEntra = async (held: HeldAttempt) => toEntraPage(await answerEntra(entra, held))
      mountPages(http, site, [
        ...attemptRoutes({ ...attempts, answerEntra: toEntra }),
        ...certificateRoutes({ ...attempts, ask }),
      ])
    },
    channels: {
      [ATTEMPT_CHANNEL]: (payload) => {
        watch.hear(payload)
        void settleDecided({ db, runChange, clock, log }, payload)
      },
      [SIGN_IN_KEY_CHANNEL]: () => keys.forget(),
    },
    onReconnect: () => {
      keys.forget()
      watch.hearAll()
    },
    endWaiting: watch.end,
    stop: refusals.settle,
    jobs: listJobs({ db, runChange, clock, log, baseUrl, keys, outbound }),
    retention: attemptRetentions(signInRetentionDays),
  }
}

function listOperations(
  context: Parameters<typeof applicationRoutes>[0] &
    Parameters<typeof upstreamRoutes>[0] &
    Pick<Foundation, 'clock'>,
): ApiRoute[] {
  return [
    ...applicationRoutes(context),
    ...requestRoutes(context),
    ...refusalRoutes(context),
    ...upstreamRoutes(context),
    ...policyRoutes(context),
    ...sessionRoutes(context),
    ...entraAccountRoutes(context),
    ...browserKeyRoutes(context),
    ...confirmationRoutes(context),
  ]
}

function listJobs(
  context: SendLogoutsDependencies & { readonly keys: SignInKeys } & Pick<Foundation, 'runChange'>,
) {
  return [
    dueJob('sign-in attempts', () => abandonAttempts(context), {
      channel: ATTEMPT_EXPIRY_CHANNEL,
    }),
    dueJob('sign-in logouts', () => sendLogouts(context), { channel: LOGOUT_CHANNEL }),
    periodicJob('sign-in keys', () => context.keys.rotate()),
  ]
}

/** Cookies of before a change of the master key are good until they end. */
function cookieKeysOf({ current, previous }: MasterKeys): Buffer[] {
  return [current, ...previous].map((key) => deriveKey(key, 'sign-in cookies'))
}
