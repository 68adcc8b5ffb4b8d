/* An application of tests that signs people in through the service: a certified client of OpenID Connect. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { createRelyingParty } from '../../src/cli/demo/try-sign-in/relying-party.ts'

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
  readonly close: () => Promise<void>
}

/** What an application is known by. */
export interface TrialAccess {
  readonly clientId: string
  readonly secret: string
}

/** Starts an application; `register` makes it known to the issuer. */
export async function startTrialParty(
  issuer: string,
  register: (redirectUri: string) => Promise<TrialAccess>,
): Promise<TrialParty> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>Wiki</title><p>Welcome</p>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const callback = `http://localhost:${(server.address() as AddressInfo).port}/callback`
  const { clientId, secret } = await register(callback)
  const access = { issuer, clientId, clientSecret: secret, redirectUri: callback }
  const party = await createRelyingParty(access)
  return {
    close: () => closeServer(server),
    begin: async (email) => {
      const { url, checks } = await party.begin(email)
      return {
        url,
        finish: async (page) => {
          await page.waitForURL(`${callback}**`)
          return party.finish(new URL(page.url()), checks)
        },
      }
    },
  }
}

async function closeServer(server: Server): Promise<void> {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}
