/*
 * Applications that sign people in by the OpenID provider of the service: made by the API, and relied on by a client
 * library of the field whose requests reach the service. Owns no expectation but that a page is reached.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildAuthorizationUrlWithPAR,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  customFetch,
  discovery,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ClientAuth,
  type Configuration,
} from 'openid-client'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { BASE_URL } from './api-app.ts'
import { createServiceApi, type ServiceApi } from './composed-api.ts'
import { insertDevice, insertPerson } from './factories.ts'
import { SignInBrowser } from './sign-in-browser.ts'
import { inOrder, proveTestDevice } from './sign-in-fixtures.ts'

export const REDIRECT = 'https://wiki.example.com/callback'
const PAGE = /\/sign-in\/attempts\/[^/]+$/

/** An application as the API answers it. */
export interface MadeApplication {
  readonly id: string
  readonly client_id: string
  readonly client_secret: string | null
}

/** A request to sign in, and what its answer is held against. */
export interface AskedSignIn {
  readonly url: string
  readonly checks: {
    readonly pkceCodeVerifier: string
    readonly expectedState: string
    readonly expectedNonce: string
  }
}

/** The service for the tests of a file, and for each test somebody new with a device in order. */
export function relyingPartyForTests() {
  let api: ServiceApi
  let manager: string
  let person: { readonly id: string; readonly email: string }
  let deviceId: string
  let count = 0
  beforeAll(async () => {
    api = await createServiceApi()
    manager = await api.createKey(['Manage Sign-in'])
  })
  afterAll(() => api.close())
  beforeEach(async () => {
    const email = `ada.${++count}@example.com`
    person = { id: await insertPerson(api.db, { email }), email }
    deviceId = await insertDevice(api.db, {
      ...inOrder(),
      owner_person_id: person.id,
      serial: `C0${count}`,
    })
  })
  const readAttempt = async (id: string) =>
    api.db.selectFrom('sign_in_attempt').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  return {
    get api() {
      return api
    },
    /** A key that may set signing in up. */
    get manager() {
      return manager
    },
    get person() {
      return person
    },
    get deviceId() {
      return deviceId
    },
    make: async (values: object = {}): Promise<MadeApplication> => {
      const { status, body } = await api.request<MadeApplication>('/sign_in_applications', {
        method: 'POST',
        key: manager,
        payload: { name: `Wiki ${++count}`, redirect_uris: [REDIRECT], ...values },
      })
      expect([status, JSON.stringify(body)]).toEqual([200, JSON.stringify(body)])
      return body
    },
    relyOn: async (
      { client_id: clientId, client_secret: secret }: MadeApplication,
      authentication: ClientAuth = secret === null ? None() : ClientSecretBasic(secret),
    ) => discover(api, clientId, authentication),
    ask,
    browse: () => new SignInBrowser(api.app, BASE_URL),
    reachPage,
    /** Proves the device, goes on and answers where the relying party gets the browser back. */
    finish: async (browser: SignInBrowser, attemptId: string): Promise<string> => {
      await proveTestDevice(api.runChange, attemptId, deviceId)
      await browser.post(`/sign-in/attempts/${attemptId}/continue`)
      const { location } = await browser.follow(`/sign-in/attempts/${attemptId}/return`)
      return location ?? ''
    },
    exchange: async (config: Configuration, back: string, { checks }: AskedSignIn) =>
      authorizationCodeGrant(config, new URL(back), { ...checks, idTokenExpected: true }),
    readAttempt,
    stageOf: async (id: string) => (await readAttempt(id)).stage,
    endReasonOf: async (id: string): Promise<string | null> => {
      const sessions = api.db.selectFrom('sign_in_granted_session').where('attempt_id', '=', id)
      return (await sessions.select('end_reason').executeTakeFirstOrThrow()).end_reason
    },
  }
}

/** openid-client, whose requests reach the service. */
async function discover(
  api: ServiceApi,
  clientId: string,
  authentication: ClientAuth,
): Promise<Configuration> {
  const fetchFromService = async (url: string, init: object): Promise<Response> => {
    const { method, headers, body } = init as {
      method: string
      headers: Record<string, string>
      body?: URLSearchParams | string | null
    }
    const { pathname, search } = new URL(url)
    const answer = await api.app.inject({
      method: method as 'GET' | 'POST',
      url: `${pathname}${search}`,
      headers,
      ...(body === undefined || body === null ? {} : { payload: body.toString() }),
    })
    return new Response(answer.body, {
      status: answer.statusCode,
      headers: answer.headers as Record<string, string>,
    })
  }
  return discovery(
    new URL(`${BASE_URL}/sign-in`),
    clientId,
    { id_token_signed_response_alg: 'RS256' },
    authentication,
    { [customFetch]: fetchFromService, execute: [allowInsecureRequests] },
  )
}

async function ask(
  config: Configuration,
  parameters: Readonly<Record<string, string>> = {},
  isPushed = false,
): Promise<AskedSignIn> {
  const checks = {
    pkceCodeVerifier: randomPKCECodeVerifier(),
    expectedState: randomState(),
    expectedNonce: randomNonce(),
  }
  const wanted = {
    redirect_uri: REDIRECT,
    scope: 'openid email profile',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...parameters,
  }
  const url = isPushed
    ? await buildAuthorizationUrlWithPAR(config, wanted)
    : buildAuthorizationUrl(config, wanted)
  return { url: url.href, checks }
}

/** Goes to the page of the attempt, and answers its id. */
async function reachPage(browser: SignInBrowser, url: string): Promise<string> {
  const { location } = await browser.follow(url, PAGE)
  expect(location).toMatch(PAGE)
  return location?.split('/').at(-1) ?? ''
}
