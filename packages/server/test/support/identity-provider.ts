/*
 * An OpenID provider on a loopback address: oidc-provider, at which a test says who signs in, and which can be made
 * to answer what no honest provider answers.
 */
import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { decodeJwt, exportJWK, generateKeyPair, importJWK, SignJWT, type JWTPayload } from 'jose'
import { Provider } from 'oidc-provider'
import { newSecret } from '../../src/platform/ids.ts'

/** Somebody whom the provider knows. */
export interface TestAccount {
  readonly subject: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly groups?: readonly string[]
}

/** What of the tokens is another thing than what is so. */
export interface Tampering {
  readonly claims?: (claims: JWTPayload) => JWTPayload | Promise<JWTPayload>
  /** Signs by a shared secret, as whoever knows the client's could. */
  readonly secret?: string
  /** Signs by a key that the provider does not have. */
  readonly isForeignKey?: boolean
}

export interface TestIdentityProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** Who signs in from now on. */
  account: TestAccount
  tampering: Tampering | undefined
  /** How many times somebody was asked to sign in. */
  readonly loginCount: () => number
  /** Goes where the browser is sent, and answers what it comes back with. */
  visit(url: string): Promise<Readonly<Record<string, string>>>
  close(): Promise<void>
}

/** Starts a provider that knows one client; close it in `afterAll`. */
export async function startIdentityProvider(
  redirectUri: string,
  host = '127.0.0.1',
): Promise<TestIdentityProvider> {
  const keyPair = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(keyPair.privateKey)), alg: 'RS256', use: 'sig', kid: 'one' }
  const foreign = await generateKeyPair('RS256')
  const [clientId, clientSecret] = ['heliograph', newSecret(24)]
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`
  let logins = 0
  const state: Pick<TestIdentityProvider, 'account' | 'tampering'> = {
    account: { subject: 'nobody' },
    tampering: undefined,
  }
  const provider = createProvider(issuer, { jwk, clientId, clientSecret, redirectUri, state })
  const forge = async (token: string) => {
    const { claims = (same: JWTPayload) => same, secret, isForeignKey } = state.tampering ?? {}
    const jwt = new SignJWT(await claims(decodeJwt(token)))
    if (secret !== undefined) {
      return jwt.setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret))
    }
    const key = isForeignKey === true ? foreign.privateKey : await importJWK(jwk, 'RS256')
    return jwt.setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(key)
  }
  const handle = provider.callback()
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/') === true) {
      logins += 1
      const login = { accountId: state.account.subject }
      void provider.interactionFinished(request, response, { login })
      return
    }
    if (request.url === '/token' && state.tampering !== undefined) replaceToken(response, forge)
    void handle(request, response)
  })
  return Object.assign(state, {
    ...{ issuer, clientId, clientSecret, loginCount: () => logins },
    visit: (url: string) => follow(url, redirectUri),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}

interface ProviderFacts {
  readonly jwk: object
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
  readonly state: Pick<TestIdentityProvider, 'account'>
}

function createProvider(issuer: string, facts: ProviderFacts): Provider {
  const { jwk, clientId, clientSecret, redirectUri, state } = facts
  return new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        require_auth_time: true,
      },
    ],
    jwks: { keys: [jwk] },
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    cookies: { keys: [newSecret(16)] },
    pkce: { required: () => true },
    findAccount: (_ctx, subject) => {
      const { subject: sub, ...claims } = state.account
      return { accountId: subject, claims: () => ({ ...claims, sub, name: 'Ada' }) }
    },
    loadExistingGrant: async ({ oidc }) => {
      const { client, session } = oidc
      if (client === undefined || session?.accountId === undefined) return undefined
      const grant = new oidc.provider.Grant({
        clientId: client.clientId,
        accountId: session.accountId,
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
}

/** The answer of the token endpoint, with another ID token in it. */
function replaceToken(response: ServerResponse, forge: (token: string) => Promise<string>): void {
  const end = response.end.bind(response) as (body: string) => ServerResponse
  response.end = ((body: string | Buffer) => {
    const answer = JSON.parse(body.toString()) as { id_token: string }
    void forge(answer.id_token).then((id_token) => {
      const text = JSON.stringify({ ...answer, id_token })
      response.setHeader('content-length', Buffer.byteLength(text))
      return end(text)
    })
    return response
  }) as ServerResponse['end']
}

/** Follows redirects as a browser without a session at the provider does. */
async function follow(start: string, redirectUri: string): Promise<Record<string, string>> {
  const jar = new Map<string, string>()
  let url = start
  for (let hops = 0; hops < 10 && !url.startsWith(redirectUri); hops += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const each of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
      jar.set(name, value)
    }
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`${answer.status} ${await answer.text()}`)
    url = new URL(location, url).href
  }
  return Object.fromEntries(new URL(url).searchParams)
}
