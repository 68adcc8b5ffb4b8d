/*
 * What the provider of ID tokens stores, in the form that its library asks for. Clients are the applications, read
 * anew each time: a change is known to every process at once.
 */
import { errors, type Adapter, type AdapterPayload } from 'oidc-provider'
import type { Foundation } from '../../changes/foundation.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { openApplicationSecret } from '../applications/application-secret.ts'
import {
  findEnabledApplication,
  type SignInApplication,
} from '../applications/application-store.ts'
import {
  consumeProviderState,
  deleteProviderGrant,
  deleteProviderState,
  findProviderSession,
  findProviderState,
  insertProviderState,
  putProviderState,
} from './provider-state-store.ts'

export type ProviderStorageDependencies = Pick<Foundation, 'db' | 'clock' | 'sealer'>

/** What a client may ask for. */
export const SIGN_IN_SCOPES = ['openid', 'email', 'profile'] as const

/** Of what is used once, and stays known afterwards: a second use is a theft. */
const SINGLE_USE: ReadonlySet<string> = new Set(['AuthorizationCode', 'PushedAuthorizationRequest'])

/** The store of one kind of record of the library. */
export function createProviderStorage(
  kind: string,
  dependencies: ProviderStorageDependencies,
): Adapter {
  if (kind === 'Client') return clientStorage(dependencies)
  const { db, clock } = dependencies
  const until = (expiresIn = 0) => new Date(clock.now().getTime() + expiresIn * SECOND_MS)
  const refuse = async () => Promise.reject(new Error(`${kind} records are not found so`))
  return {
    upsert: async (id, payload, expiresIn) => {
      if (kind === 'ReplayDetection') {
        const isFirst = await insertProviderState(
          dependencies,
          { kind, id },
          { ...payload },
          until(expiresIn),
        )
        // Two requests at once: the library has found neither when it looked.
        if (!isFirst) throw new errors.InvalidClientAuth('assertions must be used once')
        return
      }
      await putProviderState(dependencies, { kind, id }, { ...payload }, until(expiresIn))
    },
    find: async (id) =>
      isStorable(id) ? await findProviderState(dependencies, { kind, id }, clock.now()) : undefined,
    findByUid: async (uid) => await findProviderSession(dependencies, uid, clock.now()),
    findByUserCode: refuse,
    consume: async (id) => {
      const isFirst = await consumeProviderState(db, { kind, id }, clock.now())
      if (isFirst || !SINGLE_USE.has(kind)) return
      throw new errors.InvalidGrant('the code has just been used')
    },
    destroy: async (id) => deleteProviderState(db, { kind, id }),
    revokeByGrantId: async (grantId) => deleteProviderGrant(db, grantId),
  }
}

function clientStorage({ db, sealer }: ProviderStorageDependencies): Adapter {
  const refuse = async () => Promise.reject(new Error('clients are changed by the API'))
  return {
    upsert: refuse,
    consume: refuse,
    destroy: refuse,
    revokeByGrantId: refuse,
    findByUid: refuse,
    findByUserCode: refuse,
    find: async (clientId) => {
      if (!isStorable(clientId)) return undefined
      const application = await findEnabledApplication(db, { clientId, kind: 'oidc' })
      return application && toMetadata(application, sealer)
    },
  }
}

/** OpenID Connect Dynamic Client Registration 1.0, section 2. */
function toMetadata(
  application: SignInApplication,
  sealer: ProviderStorageDependencies['sealer'],
): AdapterPayload {
  const { clientId, clientSecretSealed: sealed, redirectUris, backchannelLogoutUri } = application
  const { jwks, jwksUri } = application
  return {
    client_id: clientId,
    client_name: application.name,
    application_type: redirectUris.every((uri) => uri.startsWith('https:')) ? 'web' : 'native',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    redirect_uris: redirectUris,
    post_logout_redirect_uris: application.postLogoutRedirectUris,
    token_endpoint_auth_method: application.tokenEndpointAuthMethod,
    id_token_signed_response_alg: 'RS256',
    scope: SIGN_IN_SCOPES.join(' '),
    ...(sealed === null ? {} : { client_secret: openApplicationSecret(sealer, clientId, sealed) }),
    ...(jwks === null ? {} : { jwks: { keys: [...jwks.keys] } }),
    ...(jwksUri === null ? {} : { jwks_uri: jwksUri }),
    ...(backchannelLogoutUri === null
      ? {}
      : {
          backchannel_logout_uri: backchannelLogoutUri,
          backchannel_logout_session_required: true,
        }),
  }
}

/** Texts that the database cannot hold name nothing in it. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
