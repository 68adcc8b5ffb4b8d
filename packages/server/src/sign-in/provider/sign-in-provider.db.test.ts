import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildAuthorizationUrlWithPAR,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  customFetch,
  discovery,
  fetchUserInfo,
  None,
  PrivateKeyJwt,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ClientAuth,
  type Configuration,
} from 'openid-client'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BASE_URL } from '../../../test/support/api-app.ts'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import { insertDevice, insertPerson } from '../../../test/support/factories.ts'
import {
  startIdentityProvider,
  type TestIdentityProvider,
} from '../../../test/support/identity-provider.ts'
import { SignInBrowser } from '../../../test/support/sign-in-browser.ts'
import { inOrder, proveTestDevice } from '../../../test/support/sign-in-fixtures.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { simulateChange } from '../../posture/checks/simulate-change.ts'
import { deviceProven } from '../attempts/know-device.ts'
import { endSession } from '../sessions/end-sessions.ts'

const REDIRECT = 'https://wiki.example.com/callback'

let api: ServiceApi
let manager: string
let idp: TestIdentityProvider
let upstreamId: string
let person: { readonly id: string; readonly email: string }
let deviceId: string
let count = 0

interface Made {
  readonly id: string
  readonly client_id: string
  readonly client_secret: string | null
}

beforeAll(async () => {
  api = await createServiceApi()
  manager = await api.createKey(['Manage Sign-in'])
  idp = await startIdentityProvider(`${BASE_URL}/sign-in/upstream/callback`)
  const { issuer, clientId, clientSecret } = idp
  const { body } = await api.request<Made>('/sign_in_upstream_providers', {
    method: 'POST',
    key: manager,
    payload: { name: 'IdP', issuer, client_id: clientId, client_secret: clientSecret },
  })
  upstreamId = body.id
})
afterAll(async () => {
  await idp.close()
  await api.close()
})

beforeEach(async () => {
  const email = `ada.${++count}@example.com`
  person = { id: await insertPerson(api.db, { email }), email }
  deviceId = await insertDevice(api.db, {
    ...inOrder(),
    owner_person_id: person.id,
    serial: `C0${count}`,
  })
})

async function make(values: object = {}): Promise<Made> {
  const { status, body } = await api.request<Made>('/sign_in_applications', {
    method: 'POST',
    key: manager,
    payload: { name: `Wiki ${++count}`, redirect_uris: [REDIRECT], ...values },
  })
  expect([status, JSON.stringify(body)]).toEqual([200, JSON.stringify(body)])
  return body
}

/** A relying party: openid-client, whose requests reach the service. */
async function relyOn(
  { client_id: clientId, client_secret: secret }: Made,
  authentication: ClientAuth = secret === null ? None() : ClientSecretBasic(secret),
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
  const config = await discovery(
    new URL(`${BASE_URL}/sign-in`),
    clientId,
    { id_token_signed_response_alg: 'RS256' },
    authentication,
    { [customFetch]: fetchFromService, execute: [allowInsecureRequests] },
  )
  return config
}

interface Asked {
  readonly url: string
  readonly checks: {
    readonly pkceCodeVerifier: string
    readonly expectedState: string
    readonly expectedNonce: string
  }
}

async function ask(
  config: Configuration,
  parameters: Readonly<Record<string, string>> = {},
  isPushed = false,
): Promise<Asked> {
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

const browse = () => new SignInBrowser(api.app, BASE_URL)
const PAGE = /\/sign-in\/attempts\/[^/]+$/

/** Goes to the page of the attempt, and answers its id. */
async function reachPage(browser: SignInBrowser, url: string): Promise<string> {
  const { location } = await browser.follow(url, PAGE)
  expect(location).toMatch(PAGE)
  return location?.split('/').at(-1) ?? ''
}

/** Proves the device, goes on and answers where the relying party gets the browser back. */
async function finish(browser: SignInBrowser, attemptId: string): Promise<string> {
  await proveTestDevice(api.runChange, attemptId, deviceId)
  await browser.post(`/sign-in/attempts/${attemptId}/continue`)
  const { location } = await browser.follow(`/sign-in/attempts/${attemptId}/return`)
  return location ?? ''
}

const exchange = async (config: Configuration, back: string, { checks }: Asked) =>
  authorizationCodeGrant(config, new URL(back), { ...checks, idTokenExpected: true })

describe('a step-up sign-in', () => {
  it('gives a confidential client the person and the proven device', async () => {
    const config = await relyOn(await make({ serial_claimed: true }))
    const asked = await ask(config, { login_hint: person.email })
    const browser = browse()
    const back = await finish(browser, await reachPage(browser, asked.url))
    expect(back.startsWith(REDIRECT)).toBe(true)
    const tokens = await exchange(config, back, asked)
    expect(tokens.claims()).toMatchObject({
      iss: `${BASE_URL}/sign-in`,
      sub: person.id,
      preferred_username: person.email,
      acr: 'urn:heliograph:device:live',
      amr: ['pop'],
      device_id: deviceId,
      device_auth_state: 'Good',
      device_will_block_at: null,
      device_serial: expect.stringMatching(/^C0/) as unknown,
    })
    const info = await fetchUserInfo(config, tokens.access_token, person.id)
    expect(info).toMatchObject({ email: person.email, device_id: deviceId })
  })

  it('works for a public client with PKCE alone, and not without', async () => {
    const config = await relyOn(await make({ token_endpoint_auth_method: 'none' }))
    const asked = await ask(config, { login_hint: person.email })
    const browser = browse()
    const back = await finish(browser, await reachPage(browser, asked.url))
    expect((await exchange(config, back, asked)).claims()?.sub).toBe(person.id)
    const bare = new URL(asked.url)
    bare.searchParams.delete('code_challenge')
    bare.searchParams.delete('code_challenge_method')
    const { location } = await browse().get(bare.href)
    expect(new URL(location ?? '').searchParams.get('error')).toBe('invalid_request')
  })

  it('tells Okta what it asks for, where the application is Okta', async () => {
    const config = await relyOn(await make({ claims_profile: 'okta' }))
    const asked = await ask(config, { login_hint: person.email })
    const browser = browse()
    const back = await finish(browser, await reachPage(browser, asked.url))
    expect((await exchange(config, back, asked)).claims()).toMatchObject({
      device_context: { managed: true, compliant: true, externalId: deviceId },
    })
  })

  it('refuses somebody unknown whom only the address of the browser names, and takes one who is pushed', async () => {
    const config = await relyOn(await make())
    const hint = { login_hint: `new.${person.email}` }
    const browser = browse()
    const refused = await reachPage(browser, (await ask(config, hint)).url)
    const { location } = await browser.follow(`/sign-in/attempts/${refused}/return`)
    const answer = new URL(location ?? '').searchParams
    expect([answer.get('error'), answer.get('error_description')]).toEqual([
      'access_denied',
      'person_unknown',
    ])
    const pushed = browse()
    const id = await reachPage(pushed, (await ask(config, hint, true)).url)
    expect(await stageOf(id)).toBe('device')
  })

  it('takes requests that the client has signed with its own key', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
    const made = await make({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [jwk] },
    })
    const config = await relyOn(made, PrivateKeyJwt({ key: privateKey, kid: 'one' }))
    const asked = await ask(config, { login_hint: `signed.${person.email}` })
    const signed = async (key: CryptoKey) => {
      const parameters = Object.fromEntries(new URL(asked.url).searchParams)
      const request = await new SignJWT(parameters)
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuer(made.client_id)
        .setAudience(`${BASE_URL}/sign-in`)
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(key)
      const url = new URL(asked.url)
      url.search = new URLSearchParams({ client_id: made.client_id, request }).toString()
      return url.href
    }
    const browser = browse()
    const id = await reachPage(browser, await signed(privateKey))
    expect(await stageOf(id)).toBe('device')
    const foreign = await generateKeyPair('ES256')
    const refused = await browse().get(await signed(foreign.privateKey))
    expect(refused.location ?? '').not.toMatch(/interaction/)
  })

  it('takes the person from an ID token that it gave before', async () => {
    const config = await relyOn(await make())
    const first = await ask(config, { login_hint: person.email })
    const browser = browse()
    const back = await finish(browser, await reachPage(browser, first.url))
    const { id_token: token = '' } = await exchange(config, back, first)
    const second = await ask(config, { id_token_hint: token })
    const other = browse()
    const again = await finish(other, await reachPage(other, second.url))
    expect((await exchange(config, again, second)).claims()?.sub).toBe(person.id)
  })
})

describe('a hint', () => {
  it('that was tampered with, or is of somebody else, begins no sign-in', async () => {
    const config = await relyOn(await make())
    const first = await ask(config, { login_hint: person.email })
    const browser = browse()
    const back = await finish(browser, await reachPage(browser, first.url))
    const { id_token: token = '' } = await exchange(config, back, first)
    const [header = '', payload = '', signature = ''] = token.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const forged = [
      `${header}.${encode({ ...claims, sub: '999999' })}.${signature}`,
      `${encode({ alg: 'none' })}.${payload}.`,
    ]
    for (const hint of forged) {
      const { url } = await ask(config, { id_token_hint: hint })
      const answer = await browse().follow(url)
      expect(answer.location ?? answer.body).not.toContain('/sign-in/attempts/')
      expect(answer.location ?? answer.body).toMatch(/invalid_request|cannot go on/)
    }
    // Signed by the service, for another application.
    const { url } = await ask(await relyOn(await make()), { id_token_hint: token })
    const answer = await browse().follow(url)
    expect(answer.location ?? answer.body).not.toContain('/sign-in/attempts/')
    expect(answer.location ?? answer.body).toMatch(/invalid_request|cannot go on/)
  })
})

describe('a remembered session', () => {
  it('never skips the device', async () => {
    const config = await relyOn(await make())
    const first = await ask(config, { login_hint: person.email })
    const browser = browse()
    await finish(browser, await reachPage(browser, first.url))
    const second = await ask(config, { login_hint: person.email })
    const id = await reachPage(browser, second.url)
    expect(await stageOf(id)).toBe('device')
    const silent = await ask(config, { login_hint: person.email, prompt: 'none' })
    const { location } = await browser.follow(silent.url)
    expect(new URL(location ?? '').searchParams.get('error')).toMatch(/_required$/)
  })
})

describe('what was asked for', () => {
  it('is refused where it cannot be met, and not asked for again and again', async () => {
    const config = await relyOn(await make())
    const claims = JSON.stringify({
      id_token: { acr: { essential: true, values: ['urn:heliograph:device:hardware'] } },
    })
    const asked = await ask(config, { login_hint: person.email, claims })
    const browser = browse()
    const back = await finish(browser, await reachPage(browser, asked.url))
    expect(new URL(back).searchParams.get('error')).toBe('access_denied')
    const other = browse()
    const id = await reachPage(other, (await ask(config, { login_hint: person.email, claims })).url)
    await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      deviceProven(change, id, { deviceId, assurance: 'hardware', evidence: {} }),
    )
    await other.post(`/sign-in/attempts/${id}/continue`)
    const { location } = await other.follow(`/sign-in/attempts/${id}/return`)
    expect(new URL(location ?? '').searchParams.get('code')).not.toBeNull()
  })
})

describe('an outcome', () => {
  it('is told once, and to the browser that began the sign-in alone', async () => {
    const config = await relyOn(await make())
    const asked = await ask(config, { login_hint: person.email })
    const browser = browse()
    const id = await reachPage(browser, asked.url)
    const thief = browse()
    await proveTestDevice(api.runChange, id, deviceId)
    expect((await thief.post(`/sign-in/attempts/${id}/continue`)).status).toBe(404)
    expect((await thief.get(`/sign-in/attempts/${id}/return`)).status).toBe(404)
    const foreign = await browser.post(`/sign-in/attempts/${id}/continue`, {}, 'cross-site')
    expect([foreign.status, await stageOf(id)]).toEqual([403, 'posture'])
    await browser.post(`/sign-in/attempts/${id}/continue`)
    const finishUrl = (await browser.get(`/sign-in/attempts/${id}/return`)).location ?? ''
    expect((await thief.get(finishUrl)).status).toBe(404)
    const { location } = await browser.follow(finishUrl)
    expect(location).toContain('code=')
    expect((await browser.get(finishUrl)).status).toBe(404)
    await exchange(config, location ?? '', asked)
    await expect(exchange(config, location ?? '', asked)).rejects.toMatchObject({
      error: 'invalid_grant',
    })
  })

  it('of one sign-in is of no use to another in the same browser', async () => {
    const config = await relyOn(await make())
    const browser = browse()
    const one = await ask(config, { login_hint: person.email })
    const two = await ask(config, { login_hint: person.email })
    const oneId = await reachPage(browser, one.url)
    const twoId = await reachPage(browser, two.url)
    expect(oneId).not.toBe(twoId)
    await proveTestDevice(api.runChange, twoId, deviceId)
    await browser.post(`/sign-in/attempts/${twoId}/continue`)
    const own = (await browser.get(`/sign-in/attempts/${twoId}/return`)).location ?? ''
    const swapped = own.replace(/interaction\/[^/]+/, `interaction/${await uidOf(oneId)}`)
    expect((await browser.get(swapped)).status).toBe(409)
    expect(await stageOf(oneId)).toBe('device')
  })

  it('leads nowhere but to a registered address', async () => {
    const config = await relyOn(await make())
    const { url } = await ask(config, { redirect_uri: 'https://evil.example.com/callback' })
    const { status, location } = await browse().get(url)
    expect([status, location]).toEqual([400, undefined])
  })
})

describe('a session that has ended', () => {
  it('opens nothing any more', async () => {
    const config = await relyOn(await make())
    const asked = await ask(config, { login_hint: person.email })
    const browser = browse()
    const id = await reachPage(browser, asked.url)
    const tokens = await exchange(config, await finish(browser, id), asked)
    const granted = await api.db
      .selectFrom('sign_in_granted_session')
      .select('id')
      .where('attempt_id', '=', id)
      .executeTakeFirstOrThrow()
    await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      endSession(change, granted.id, 'admin'),
    )
    await expect(fetchUserInfo(config, tokens.access_token, person.id)).rejects.toThrow()
  })

  it('has ended in the change in which its device was blocked', async () => {
    const config = await relyOn(await make())
    const asked = await ask(config, { login_hint: person.email })
    const browser = browse()
    const id = await reachPage(browser, asked.url)
    const tokens = await exchange(config, await finish(browser, id), asked)
    await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      simulateChange(change, { deviceId, to: 'blocked' }),
    )
    await expect(fetchUserInfo(config, tokens.access_token, person.id)).rejects.toThrow()
  })
})

describe('a broker sign-in', () => {
  const upstreamMake = async () =>
    make({ mode: 'broker', upstream_provider_id: Number(upstreamId) })

  /** Goes upstream and back, to the page of the attempt. */
  async function throughUpstream(browser: SignInBrowser, url: string): Promise<string> {
    const { location } = await browser.follow(url)
    const answer = await idp.visit(location ?? '')
    const back = new URL(`${BASE_URL}/sign-in/upstream/callback`)
    for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value)
    return reachPage(browser, back.href)
  }

  it('knows the person by the upstream provider, and creates who is new', async () => {
    const email = `new.${person.email}`
    idp.account = { subject: `s${count}`, email, email_verified: true }
    const config = await relyOn(await upstreamMake())
    const asked = await ask(config)
    const browser = browse()
    const id = await throughUpstream(browser, asked.url)
    expect(await stageOf(id)).toBe('device')
    const { personId } = await api.db
      .selectFrom('sign_in_attempt')
      .innerJoin('person', 'person.id', 'person_id')
      .select('person.id as personId')
      .where('person.email', '=', email)
      .executeTakeFirstOrThrow()
    await api.db
      .updateTable('device')
      .set({ owner_person_id: personId })
      .where('id', '=', deviceId)
      .execute()
    const back = await finish(browser, id)
    expect((await exchange(config, back, asked)).claims()?.['email']).toBe(email)
  })

  it('takes no answer in another browser, and none of somebody else than was named', async () => {
    idp.account = { subject: `s${count}`, email: person.email, email_verified: true }
    const config = await relyOn(await upstreamMake())
    const browser = browse()
    const { location } = await browser.follow((await ask(config)).url)
    const answer = await idp.visit(location ?? '')
    const back = new URL(`${BASE_URL}/sign-in/upstream/callback`)
    for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value)
    expect((await browse().get(back.href)).status).toBe(404)
    back.searchParams.set('state', `${answer['state'] ?? ''}x`)
    const id = await reachPage(browser, back.href)
    expect(await stageOf(id)).toBe('refused')
    const other = browse()
    const named = await ask(config, { login_hint: 'grace@example.com' })
    expect(await stageOf(await throughUpstream(other, named.url))).toBe('refused')
  })
})

it('says in a page what is wrong with a request, and where to begin again', async () => {
  const { status, body, headers } = await browse().get(`${BASE_URL}/sign-in/authorize?client_id=no`)
  expect(status).toBe(400)
  expect(body).toContain('/sign-in/assets/pages-')
  expect(body).toContain('begin where you came from')
  expect(String(headers['content-security-policy'])).toContain("default-src 'none'")
})

describe('signing out', () => {
  it('ends the session of the ID token that asks for it', async () => {
    const config = await relyOn(
      await make({ post_logout_redirect_uris: ['https://wiki.example.com/bye'] }),
    )
    const asked = await ask(config, { login_hint: person.email })
    const browser = browse()
    const id = await reachPage(browser, asked.url)
    const tokens = await exchange(config, await finish(browser, id), asked)
    const url = buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token ?? '',
      post_logout_redirect_uri: 'https://wiki.example.com/bye',
    })
    const page = await browser.get(url.href)
    expect(page.status).toBe(200)
    // A page as all others are: with their look, their policy, and the form of the library.
    expect(page.body).toContain('/sign-in/assets/pages-')
    expect(page.body).not.toMatch(/<script(?![^>]*src=)/)
    expect(page.body).toMatch(/name="xsrf" value="[^"]+"/)
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("form-action 'self' https://wiki.example.com")
    expect(await endReasonOf(id)).toBe('logout')
  })

  it('without an ID token ends that of the application which the person comes from, and no other', async () => {
    const applications = [await make(), await make()] as const
    const browser = browse()
    const attempts: string[] = []
    for (const application of applications) {
      const { url } = await ask(await relyOn(application), { login_hint: person.email })
      const id = await reachPage(browser, url)
      await finish(browser, id)
      attempts.push(id)
    }
    const address = `${BASE_URL}/sign-in/end_session`
    const { body } = await browser.get(`${address}?client_id=${applications[0].client_id}`)
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(body) ?? []
    await browser.post(`${address}/confirm`, { xsrf, logout: 'yes' })
    expect(await Promise.all(attempts.map(endReasonOf))).toEqual(['logout', null])
  })
})

const readAttempt = async (id: string) =>
  api.db.selectFrom('sign_in_attempt').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const stageOf = async (id: string) => (await readAttempt(id)).stage

async function uidOf(id: string): Promise<string> {
  const { interaction } = await readAttempt(id)
  return interaction.kind === 'oidc' ? interaction.uid : ''
}

async function endReasonOf(id: string): Promise<string | null> {
  const sessions = api.db.selectFrom('sign_in_granted_session').where('attempt_id', '=', id)
  return (await sessions.select('end_reason').executeTakeFirstOrThrow()).end_reason
}
