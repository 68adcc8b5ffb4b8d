/* An application of tests that signs people in through the service: a certified client of OpenID Connect. */
import type { BrowserContext, Page } from 'playwright-core'
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
} from 'openid-client'

/** A sign-in that an application has begun. */
export interface BegunSignIn {
  /** Where the browser goes. */
  readonly url: string
  /** Waits until the browser comes back, and answers the claims of the ID token. */
  readonly finish: (page: Page) => Promise<Readonly<Record<string, unknown>>>
}

export interface TrialParty {
  /** Begins a sign-in of somebody. The address is pushed: nobody but the application can have said it. */
  readonly begin: (email: string) => Promise<BegunSignIn>
  /** Has the browser find the application, which listens nowhere. */
  readonly serve: (context: BrowserContext) => Promise<void>
}

/** Where the application takes its answers; only browsers of tests find it. */
export const TRIAL_CALLBACK = 'http://localhost:47999/callback'

export async function createTrialParty(
  issuer: string,
  application: { readonly clientId: string; readonly secret: string },
): Promise<TrialParty> {
  const authentication = ClientSecretBasic(application.secret)
  const options = { execute: [allowInsecureRequests] }
  const config = await discovery(
    new URL(issuer),
    application.clientId,
    {},
    authentication,
    options,
  )
  return {
    serve: async (context) => {
      await context.route(`${TRIAL_CALLBACK}**`, async (route) =>
        route.fulfill({ contentType: 'text/html', body: '<title>Wiki</title><p>Welcome</p>' }),
      )
    },
    begin: async (email) => {
      const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()]
      const url = await buildAuthorizationUrlWithPAR(config, {
        ...{ scope: 'openid email profile', redirect_uri: TRIAL_CALLBACK, state, nonce },
        login_hint: email,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return {
        url: url.href,
        finish: async (page) => {
          await page.waitForURL(`${TRIAL_CALLBACK}**`)
          const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state }
          const tokens = await authorizationCodeGrant(config, new URL(page.url()), checks)
          return tokens.claims() ?? {}
        },
      }
    },
  }
}
