/*
 * The application of the demo as any application is: a client of the OpenID provider, by openid-client. It says itself
 * who signs in, in a pushed request, because it stands for an identity provider that has done so before.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrlWithPAR,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  discovery,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type AuthorizationCodeGrantChecks,
} from 'openid-client'

/** What the service knows the application by. */
export interface RelyingPartyAccess {
  /** Under which the provider is found. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
}

/** A sign-in that has begun. */
export interface BegunSignIn {
  /** Where the browser goes. */
  readonly url: string
  /** What its answer must agree with. */
  readonly checks: AuthorizationCodeGrantChecks
}

export interface RelyingParty {
  /** Begins the sign-in of somebody with this address. */
  begin(email: string): Promise<BegunSignIn>
  /**
   * The claims of the ID token, once it is verified.
   *
   * @throws the error of openid-client when the provider refused, or the answer is not one to this sign-in
   */
  finish(
    answer: URL,
    checks: AuthorizationCodeGrantChecks,
  ): Promise<Readonly<Record<string, unknown>>>
}

/** Asks the provider what it can do; it must be running. */
export async function createRelyingParty(access: RelyingPartyAccess): Promise<RelyingParty> {
  const { issuer, clientId, clientSecret, redirectUri } = access
  // The demo speaks plain HTTP, on loopback addresses only.
  const config = await discovery(
    new URL(issuer),
    clientId,
    { id_token_signed_response_alg: 'RS256' },
    ClientSecretBasic(clientSecret),
    { execute: [allowInsecureRequests] },
  )
  return {
    begin: async (email) => {
      const pkceCodeVerifier = randomPKCECodeVerifier()
      const [expectedState, expectedNonce] = [randomState(), randomNonce()]
      const url = await buildAuthorizationUrlWithPAR(config, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        code_challenge: await calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        state: expectedState,
        nonce: expectedNonce,
        login_hint: email,
      })
      return { url: url.href, checks: { pkceCodeVerifier, expectedState, expectedNonce } }
    },
    finish: async (answer, checks) => {
      const tokens = await authorizationCodeGrant(config, answer, {
        ...checks,
        idTokenExpected: true,
      })
      return { ...tokens.claims() }
    },
  }
}
