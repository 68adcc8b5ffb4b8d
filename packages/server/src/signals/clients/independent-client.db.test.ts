/*
 * The authorization server as an independent, certified OAuth client sees it, over a real connection.
 */
import { generateKeyPairSync, webcrypto } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { exportJWK } from 'jose'
import * as oauth from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL } from '../../../test/support/api-app.ts'
import {
  createStandardApi,
  type StandardApi,
  type TestClient,
} from '../../../test/support/standard-api.ts'

let api: StandardApi
let origin: string

beforeAll(async () => {
  api = await createStandardApi()
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = api.app.server.address() as AddressInfo
  origin = `http://127.0.0.1:${port}`
})
afterAll(() => api.close())

/** The service calls itself by its base URL; the connection goes to where it listens. */
const toLoopback: oauth.CustomFetch = (url, options) =>
  fetch(url.replace(BASE_URL, origin), options as RequestInit)

async function discover(
  client: TestClient,
  authentication: oauth.ClientAuth,
): Promise<oauth.Configuration> {
  return oauth.discovery(new URL(`${BASE_URL}/ssf`), client.clientId, undefined, authentication, {
    algorithm: 'oauth2',
    [oauth.customFetch]: toLoopback,
  })
}

async function expectWorkingToken(configuration: oauth.Configuration): Promise<void> {
  const tokens = await oauth.clientCredentialsGrant(configuration, { scope: 'ssf.manage' })
  expect([tokens.scope, tokens.expires_in]).toEqual(['ssf.manage', 1_800])
  const read = () =>
    fetch(`${origin}/ssf/streams`, { headers: { authorization: `Bearer ${tokens.access_token}` } })
  expect((await read()).status).toBe(200)
  const introspection = await oauth.tokenIntrospection(configuration, tokens.access_token)
  expect(introspection.active).toBe(true)
  await oauth.tokenRevocation(configuration, tokens.access_token)
  expect((await read()).status).toBe(401)
}

describe('an independent client', () => {
  it('ssf-T139 ssf-T141 finds everything by the issuer and works with client_secret_basic', async () => {
    const { secret } = api.client
    await expectWorkingToken(await discover(api.client, oauth.ClientSecretBasic(secret)))
  })

  it('ssf-T139 works with client_secret_post', async () => {
    const { secret } = api.client
    await expectWorkingToken(await discover(api.client, oauth.ClientSecretPost(secret)))
  })

  it.each(['ES256', 'RS256', 'PS256', 'Ed25519'] as const)(
    'ssf-T139 works with private_key_jwt and %s',
    async (algorithm) => {
      const { privateKey, publicKey } = newKeyPair(algorithm)
      const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] }
      const client = await api.newClient({ jwks })
      const key = await webcrypto.subtle.importKey(
        'pkcs8',
        privateKey.export({ format: 'der', type: 'pkcs8' }),
        WEB_ALGORITHMS[algorithm],
        false,
        ['sign'],
      )
      const authentication = oauth.PrivateKeyJwt({ key, kid: 'one' })
      await expectWorkingToken(await discover(client, authentication))
    },
  )

  it('is refused with a wrong secret', async () => {
    const configuration = await discover(api.client, oauth.ClientSecretBasic('wrong'))
    await expect(oauth.clientCredentialsGrant(configuration)).rejects.toMatchObject({ status: 401 })
  })
})

const WEB_ALGORITHMS = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256' },
  Ed25519: { name: 'Ed25519' },
} as const

function newKeyPair(algorithm: keyof typeof WEB_ALGORITHMS) {
  switch (algorithm) {
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    case 'Ed25519':
      return generateKeyPairSync('ed25519')
    default:
      return generateKeyPairSync('rsa', { modulusLength: 2_048 })
  }
}
