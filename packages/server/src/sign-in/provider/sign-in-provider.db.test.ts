import { fetchUserInfo, PrivateKeyJwt } from 'openid-client'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL } from '../../../test/support/api-app.ts'
import {
  startIdentityProvider,
  type TestIdentityProvider,
} from '../../../test/support/identity-provider.ts'
import {
  REDIRECT,
  relyingPartyForTests,
  type MadeApplication,
} from '../../../test/support/relying-party.ts'
import type { SignInBrowser } from '../../../test/support/sign-in-browser.ts'
import { proveTestDevice } from '../../../test/support/sign-in-fixtures.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { simulateChange } from '../../posture/checks/simulate-change.ts'
import { deviceProven } from '../attempts/know-device.ts'
import { endSession } from '../sessions/end-sessions.ts'
import { findGrantedSession } from '../sessions/granted-session-store.ts'

const world = relyingPartyForTests()
const {
  ask,
  browse,

  exchange,
  finish,
  make,
  reachPage,
  readAttempt,
  relyOn,
  stageOf,
} = world

let idp: TestIdentityProvider
let upstreamId: string
let subjects = 0

beforeAll(async () => {
  idp = await startIdentityProvider(`${BASE_URL}/sign-in/upstream/callback`)
  const { issuer, clientId, clientSecret } = idp
  const { body } = await world.api.request<MadeApplication>('/sign_in_upstream_providers', {
    method: 'POST',
    key: world.manager,
    payload: { name: 'IdP', issuer, client_id: clientId, client_secret: clientSecret },
  })
  upstreamId = body.id
})
afterAll(() => idp.close())

async function uidOf(id: string): Promise<string> {
  const { interaction } = await readAttempt(id)
  return interaction.kind === 'oidc' ? interaction.uid : ''
}

describe('a step-up sign-in', () => {
  it('gives a confidential client the person and the proven device', async () => {
    const config = await relyOn(await make({ serial_claimed: true }))
    const asked = await ask(config, { login_hint: world.person.email })
    const browser = browse()
    const back = await finish(browser, await reachPage(browser, asked.url))
    expect(back.startsWith(REDIRECT)).toBe(true)
    const tokens = await exchange(config, back, asked)
    expect(tokens.claims()).toMatchObject({
      iss: `${BASE_URL}/sign-in`,
      sub: world.person.id,
      preferred_username: world.person.email,
      acr: 'urn:heliograph:device:live',
      amr: ['pop'],
      device_id: world.deviceId,
      device_auth_state: 'Good',
      device_will_block_at: null,
      device_serial: expect.stringMatching(/^C0/) as unknown,
    })
    const info = await fetchUserInfo(config, tokens.access_token, world.person.id)
    expect(info).toMatchObject({ email: world.person.email, device_id: world.deviceId })
  })

  it('works for a public client with PKCE alone, and not without', async () => {
    const config = await relyOn(await make({ token_endpoint_auth_method: 'none' }))
    const asked = await ask(config, { login_hint: world.person.email })
    const browser = browse()
    const back = await finish(browser, await reachPage(browser, asked.url))
    expect((await exchange(config, back, asked)).claims()?.sub).toBe(world.person.id)
    const bare = new URL(asked.url)
    bare.searchParams.delete('code_challenge')
    bare.searchParams.delete('code_challenge_method')
    const { location } = await browse().get(bare.href)
    expect(new URL(location ?? '').searchParams.get('error')).toBe('invalid_request')
  })

  it('tells Okta what it asks for, where the application is Okta', async () => {
    const config = await relyOn(await make({ claims_profile: 'okta' }))
    const asked = await ask(config, { login_hint: world.person.email })
    const browser = browse()
    const back = await finish(browser, await reachPage(browser, asked.url))
    expect((await exchange(config, back, asked)).claims()).toMatchObject({
      device_context: { managed: true, compliant: true, externalId: world.deviceId },
    })
  })

  it('refuses somebody unknown whom only the address of the browser names, and takes one who is pushed', async () => {
    const config = await relyOn(await make())
    const hint = { login_hint: `new.${world.person.email}` }
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
    const asked = await ask(config, { login_hint: `signed.${world.person.email}` })
    const signed = async (key: CryptoKey, ends?: string) => {
      const parameters = Object.fromEntries(new URL(asked.url).searchParams)
      const request = new SignJWT(parameters)
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuer(made.client_id)
        .setAudience(`${BASE_URL}/sign-in`)
        .setIssuedAt()
      if (ends !== undefined) request.setExpirationTime(ends)
      const url = new URL(asked.url)
      const sent = { client_id: made.client_id, request: await request.sign(key) }
      url.search = new URLSearchParams(sent).toString()
      return url.href
    }
    const browser = browse()
    const id = await reachPage(browser, await signed(privateKey, '1m'))
    expect(await stageOf(id)).toBe('device')
    const foreign = await generateKeyPair('ES256')
    const refused = await browse().get(await signed(foreign.privateKey, '1m'))
    expect(refused.location ?? '').not.toMatch(/interaction/)
    // Whoever has seen one that never ends could begin as its person for ever.
    expect(await stageOf(await reachPage(browse(), await signed(privateKey, '3610s')))).toBe(
      'device',
    )
    for (const ends of [undefined, '3630s', '2h']) {
      const { location } = await browse().get(await signed(privateKey, ends))
      expect(location).toContain('error=invalid_request_object')
    }
  })

  it('takes no assertion of a client that is good for more than an hour, by clocks that differ a little', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }
    const made = await make({ token_endpoint_auth_method: 'private_key_jwt', jwks })
    const push = async (lasts: string) => {
      const assertion = await new SignJWT({ jti: lasts })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(made.client_id)
        .setSubject(made.client_id)
        .setAudience(`${BASE_URL}/sign-in`)
        .setExpirationTime(lasts)
        .sign(privateKey)
      const { statusCode } = await world.api.app.inject({
        method: 'POST',
        url: '/sign-in/par',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({
          ...{ client_id: made.client_id, client_assertion: assertion },
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          ...{ redirect_uri: REDIRECT, response_type: 'code', scope: 'openid' },
        }).toString(),
      })
      return statusCode
    }
    expect(await push('1h')).toBe(201)
    expect(await push('3610s')).toBe(201)
    expect(await push('3630s')).toBe(401)
    expect(await push('2h')).toBe(401)
    const key = await world.api.createKey(['Read Sign-in'])
    const refusals = `/sign_in_applications/${made.id}/last_refusals`
    await expect
      .poll(async () => (await world.api.request(refusals, { key })).body)
      .toMatchObject({
        data: [
          {
            field: 'client_assertion',
            remedy: expect.stringContaining('ends within an hour (`exp`)') as unknown,
          },
        ],
      })
  })

  it('takes the person from an ID token that it gave before', async () => {
    const config = await relyOn(await make())
    const first = await ask(config, { login_hint: world.person.email })
    const browser = browse()
    const back = await finish(browser, await reachPage(browser, first.url))
    const { id_token: token = '' } = await exchange(config, back, first)
    const second = await ask(config, { id_token_hint: token })
    const other = browse()
    const again = await finish(other, await reachPage(other, second.url))
    expect((await exchange(config, again, second)).claims()?.sub).toBe(world.person.id)
  })
})

describe('a hint', () => {
  it('that was tampered with, or is of somebody else, begins no sign-in', async () => {
    const config = await relyOn(await make())
    const first = await ask(config, { login_hint: world.person.email })
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
    const first = await ask(config, { login_hint: world.person.email })
    const browser = browse()
    await finish(browser, await reachPage(browser, first.url))
    const second = await ask(config, { login_hint: world.person.email })
    const id = await reachPage(browser, second.url)
    expect(await stageOf(id)).toBe('device')
    const silent = await ask(config, { login_hint: world.person.email, prompt: 'none' })
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
    const asked = await ask(config, { login_hint: world.person.email, claims })
    const browser = browse()
    const refused = await reachPage(browser, asked.url)
    const back = new URL(await finish(browser, refused)).searchParams
    expect([back.get('error'), back.get('error_description')]).toEqual([
      'access_denied',
      'request_unmet',
    ])
    expect(await stageOf(refused)).toBe('refused')
    expect(await findGrantedSession(world.api.db, { attemptId: refused })).toBeUndefined()
    const stranger = JSON.stringify({ id_token: { sub: { value: '0' } } })
    const elsewhere = await ask(config, { login_hint: world.person.email, claims: stranger })
    const away = await finish(browser, await reachPage(browser, elsewhere.url))
    expect(new URL(away).searchParams.get('error_description')).toBe('request_unmet')
    const other = browse()
    const id = await reachPage(
      other,
      (await ask(config, { login_hint: world.person.email, claims })).url,
    )
    await world.api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      deviceProven(change, id, { deviceId: world.deviceId, assurance: 'hardware', evidence: {} }),
    )
    await other.post(`/sign-in/attempts/${id}/continue`)
    const { location } = await other.follow(`/sign-in/attempts/${id}/return`)
    expect(new URL(location ?? '').searchParams.get('code')).not.toBeNull()
  })
})

describe('an outcome', () => {
  it('is told once, and to the browser that began the sign-in alone', async () => {
    const config = await relyOn(await make())
    const asked = await ask(config, { login_hint: world.person.email })
    const browser = browse()
    const id = await reachPage(browser, asked.url)
    const thief = browse()
    await proveTestDevice(world.api.runChange, id, world.deviceId)
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

  it('is recorded by the service alone', async () => {
    const { url } = await ask(await relyOn(await make()), { login_hint: world.person.email })
    const id = await reachPage(browse(), url)
    const { auth_log_session_id: log } = await readAttempt(id)
    const key = await world.api.createKey(['Record Sign-ins'])
    const told = [
      await world.api.request(`/auth_logs/${log}`, { method: 'PATCH', key, payload: {} }),
      await world.api.request(`/auth_logs/${log}/close`, {
        method: 'POST',
        key,
        payload: { result: 'Success' },
      }),
    ]
    expect(told.map(({ status }) => status)).toEqual([409, 409])
    expect(
      (await world.api.request<{ result: unknown }>(`/auth_logs/${log}`)).body.result,
    ).toBeNull()
  })

  it('of one sign-in is of no use to another in the same browser', async () => {
    const config = await relyOn(await make())
    const browser = browse()
    const one = await ask(config, { login_hint: world.person.email })
    const two = await ask(config, { login_hint: world.person.email })
    const oneId = await reachPage(browser, one.url)
    const twoId = await reachPage(browser, two.url)
    expect(oneId).not.toBe(twoId)
    await proveTestDevice(world.api.runChange, twoId, world.deviceId)
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
    const asked = await ask(config, { login_hint: world.person.email })
    const browser = browse()
    const id = await reachPage(browser, asked.url)
    const tokens = await exchange(config, await finish(browser, id), asked)
    const granted = await world.api.db
      .selectFrom('sign_in_granted_session')
      .select('id')
      .where('attempt_id', '=', id)
      .executeTakeFirstOrThrow()
    await world.api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      endSession(change, granted.id, 'admin'),
    )
    await expect(fetchUserInfo(config, tokens.access_token, world.person.id)).rejects.toThrow()
  })

  it('sends nobody back with a code, where it ended on the way there', async () => {
    const config = await relyOn(await make())
    const browser = browse()
    const { url } = await ask(config, { login_hint: world.person.email })
    const id = await reachPage(browser, url)
    await proveTestDevice(world.api.runChange, id, world.deviceId)
    await browser.post(`/sign-in/attempts/${id}/continue`)
    await world.api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      simulateChange(change, { deviceId: world.deviceId, to: 'blocked' }),
    )
    const { location } = await browser.follow(`/sign-in/attempts/${id}/return`)
    const answer = new URL(location ?? '').searchParams
    expect([answer.get('code'), answer.get('error_description')]).toEqual([null, 'session_ended'])
  })

  it('has ended in the change in which its device was blocked', async () => {
    const config = await relyOn(await make())
    const asked = await ask(config, { login_hint: world.person.email })
    const browser = browse()
    const id = await reachPage(browser, asked.url)
    const tokens = await exchange(config, await finish(browser, id), asked)
    await world.api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      simulateChange(change, { deviceId: world.deviceId, to: 'blocked' }),
    )
    await expect(fetchUserInfo(config, tokens.access_token, world.person.id)).rejects.toThrow()
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
    const email = `new.${world.person.email}`
    idp.account = { subject: `s${++subjects}`, email, email_verified: true }
    const config = await relyOn(await upstreamMake())
    const asked = await ask(config)
    const browser = browse()
    const id = await throughUpstream(browser, asked.url)
    expect(await stageOf(id)).toBe('device')
    const { personId } = await world.api.db
      .selectFrom('sign_in_attempt')
      .innerJoin('person', 'person.id', 'person_id')
      .select('person.id as personId')
      .where('person.email', '=', email)
      .executeTakeFirstOrThrow()
    await world.api.db
      .updateTable('device')
      .set({ owner_person_id: personId })
      .where('id', '=', world.deviceId)
      .execute()
    const back = await finish(browser, id)
    expect((await exchange(config, back, asked)).claims()?.['email']).toBe(email)
  })

  it('takes no answer in another browser, and none of somebody else than was named', async () => {
    idp.account = { subject: `s${++subjects}`, email: world.person.email, email_verified: true }
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

it('says in a page that a sign-in is over, wherever on the way', async () => {
  const browser = browse()
  for (const path of [
    'interaction/none',
    'interaction/none/finish',
    'upstream/callback?state=no',
  ]) {
    const { status, body } = await browser.get(`${BASE_URL}/sign-in/${path}`)
    expect([path, status, body.includes('/sign-in/assets/pages-')]).toEqual([path, 404, true])
  }
})
