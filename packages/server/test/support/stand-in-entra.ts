/*
 * A stand-in of Entra on a loopback address: it signs hints as Entra does, sends the request that Entra sends, and
 * refuses every answer that Entra would refuse. "External method provider reference", learn.microsoft.com.
 */
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { randomUUID, X509Certificate, createPublicKey } from 'node:crypto'
import {
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  SignJWT,
  type JSONWebKeySet,
  type JWK,
  type JWTPayload,
} from 'jose'

export const TENANT = 'c1a2f0de-3a4b-4c5d-8e6f-0123456789ab'
export const ENTRA_APP = '11111111-2222-4333-8444-555555555555'

/** What a test sets otherwise in a hint. */
export interface HintChanges {
  readonly claims?: JWTPayload
  readonly header?: Readonly<Record<string, unknown>>
  /** Signs by a key that Entra does not have. */
  readonly isForeignKey?: boolean
}

export interface StandInEntra {
  readonly authority: string
  readonly redirectUri: string
  /** The fields of the form that a browser is sent with. */
  request(
    clientId: string,
    username: string,
    changes?: HintChanges,
  ): Promise<Record<string, string>>
  /** Judges an answer as Entra does. @throws Error that names what it refuses */
  judge(
    answer: Readonly<Record<string, string>>,
    expected: {
      readonly request: Readonly<Record<string, string>>
      readonly issuer: string
      readonly keys: JSONWebKeySet
    },
  ): Promise<JWTPayload>
  close(): Promise<void>
}

export async function startStandInEntra(): Promise<StandInEntra> {
  const keys = await generateKeyPair('RS256', { extractable: true })
  const foreign = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'entra', alg: 'RS256', use: 'sig' }
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    const isMetadata = request.url?.endsWith('/.well-known/openid-configuration') === true
    const document = isMetadata
      ? { issuer: `${authority}/${TENANT}/v2.0`, jwks_uri: `${authority}/keys` }
      : { keys: [jwk] }
    response.end(JSON.stringify(document))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const authority = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const redirectUri = `${authority}/common/federation/externalauthprovider`
  const subjects = new Map<string, string>()
  /** Of the accounts, by the name at which each was first asked for. */
  const accounts = new Map<string, string>()
  return {
    authority,
    redirectUri,
    request: async (clientId, username, { claims, header, isForeignKey = false } = {}) => {
      const now = Math.floor(Date.now() / 1_000)
      const subject = randomUUID()
      const objectId = accounts.get(username) ?? randomUUID()
      accounts.set(username, objectId)
      const hint = await new SignJWT({
        iss: `${authority}/${TENANT}/v2.0`,
        aud: ENTRA_APP,
        tid: TENANT,
        oid: objectId,
        sub: subject,
        preferred_username: username,
        iat: now - 5,
        // On purpose: a hint is no token to sign in with.
        exp: now - 1,
        ...claims,
      })
        .setProtectedHeader({ alg: 'RS256', kid: 'entra', typ: 'JWT', ...header })
        .sign(isForeignKey ? foreign.privateKey : keys.privateKey)
      const nonce = randomUUID()
      subjects.set(nonce, subject)
      return {
        scope: 'openid',
        response_type: 'id_token',
        response_mode: 'form_post',
        client_id: clientId,
        redirect_uri: redirectUri,
        nonce,
        state: randomUUID(),
        id_token_hint: hint,
        claims: JSON.stringify({
          id_token: {
            acr: { essential: true, values: ['possessionorinherence'] },
            amr: {
              essential: true,
              values: [
                'face',
                'fido',
                'fpt',
                'hwk',
                'iris',
                'otp',
                'pop',
                'retina',
                'sc',
                'sms',
                'swk',
                'tel',
                'vbm',
              ],
            },
          },
        }),
        'client-request-id': randomUUID(),
      }
    },
    judge: async (answer, { request, issuer, keys: published }) => {
      if (answer['state'] !== request['state']) throw new Error('the state')
      for (const key of published.keys) assertCertified(key)
      const { payload, protectedHeader } = await jwtVerify(
        answer['id_token'] ?? '',
        createLocalJWKSet(published),
        { issuer, audience: request['client_id'] ?? '', algorithms: ['RS256'] },
      )
      if (protectedHeader.kid === undefined) throw new Error('the kid')
      if (payload['nonce'] !== request['nonce']) throw new Error('the nonce')
      if (payload.sub !== subjects.get(request['nonce'] ?? '')) throw new Error('the sub')
      if (payload['acr'] !== 'possessionorinherence') throw new Error('the acr')
      const { amr } = payload as { readonly amr?: unknown }
      if (!Array.isArray(amr) || amr.length !== 1) throw new Error('the amr')
      if (!['hwk', 'pop', 'swk', 'fido'].includes(String(amr[0]))) throw new Error('the method')
      return payload
    },
    close: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}

/** Entra reads the key from the certificate. */
function assertCertified({ x5c, ...jwk }: JWK): void {
  const certificate = new X509Certificate(Buffer.from(x5c?.[0] ?? '', 'base64'))
  const named = createPublicKey({ key: jwk, format: 'jwk' })
  if (!certificate.publicKey.equals(named)) throw new Error('the certificate')
}
