import { SignJWT, type CryptoKey, type JWK, type KeyObject } from 'jose'

/**
 * How a client proves who it is at the token endpoint. RFC 6749 section 2.3.1, RFC 7523 section 2.2.
 */
export type ClientAuthentication =
  | { readonly method: 'client_secret_basic'; readonly clientSecret: string }
  | { readonly method: 'client_secret_post'; readonly clientSecret: string }
  | {
      readonly method: 'private_key_jwt'
      /** The private key; `importPKCS8` and `importJWK` of jose give one. */
      readonly key: CryptoKey | KeyObject | JWK
      /** Signature algorithm of the key, such as `RS256` or `ES256`. */
      readonly alg: string
      readonly kid?: string
      /** `aud` of the assertion. Default the token endpoint. */
      readonly audience?: string
    }

/** What a token request carries because of the client's authentication. */
export interface ClientCredential {
  readonly headers: Readonly<Record<string, string>>
  readonly parameters: Readonly<Record<string, string>>
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const ASSERTION_LIFETIME_SECONDS = 60

/** Makes the credential of one token request; an assertion is made anew each time. */
export async function createClientCredential(options: {
  readonly clientId: string
  readonly tokenEndpoint: string
  readonly authentication: ClientAuthentication
  readonly nowMs: number
}): Promise<ClientCredential> {
  const { clientId, authentication } = options
  switch (authentication.method) {
    case 'client_secret_basic': {
      const pair = `${formEncode(clientId)}:${formEncode(authentication.clientSecret)}`
      return { headers: { authorization: `Basic ${btoa(pair)}` }, parameters: {} }
    }
    case 'client_secret_post':
      return {
        headers: {},
        parameters: { client_id: clientId, client_secret: authentication.clientSecret },
      }
    case 'private_key_jwt': {
      const { key, alg, kid, audience = options.tokenEndpoint } = authentication
      const issuedAt = Math.floor(options.nowMs / 1000)
      const assertion = await new SignJWT()
        .setProtectedHeader(kid === undefined ? { alg } : { alg, kid })
        .setIssuer(clientId)
        .setSubject(clientId)
        .setAudience(audience)
        .setJti(crypto.randomUUID())
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ASSERTION_LIFETIME_SECONDS)
        .sign(key)
      return {
        headers: {},
        parameters: {
          client_id: clientId,
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: assertion,
        },
      }
    }
  }
}

/** RFC 6749 appendix B: the parts of a Basic credential are form-encoded before they are joined. */
function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}
