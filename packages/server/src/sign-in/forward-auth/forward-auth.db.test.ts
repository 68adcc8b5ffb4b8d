import { createRemoteJWKSet, customFetch, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BASE_URL } from '../../../test/support/api-app.ts'
import { insertCheck, insertIssue, insertPerson } from '../../../test/support/factories.ts'
import { SITE_PROXY, SiteBrowser } from '../../../test/support/site-browser.ts'
import {
  openSiteWorld,
  OTHER,
  pathOf,
  WIKI,
  WIKI_2,
  type SiteWorld,
} from '../../../test/support/site-world.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { simulateChange } from '../../posture/checks/simulate-change.ts'
import { endSession } from '../sessions/end-sessions.ts'

let world: SiteWorld

beforeAll(async () => {
  world = await openSiteWorld()
})
afterAll(() => world.close())
beforeEach(() => world.renew())

describe('a site behind a proxy', () => {
  it('sends a browser to sign in, knows it by a ticket, and lets it in from then on', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const first = await site.get('/page?x=%41&y=a+b')
    expect(first.status).toBe(302)
    expect(first.location).toMatch(
      /^https:\/\/trust\.example\.com\/sign-in\/start\?rd=https%3A%2F%2Fwiki\.example\.com%2Fpage%3Fx%3D%2541%26y%3Da%2Bb&state=[\w-]{43}$/,
    )
    expect(first.cookie).toMatch(
      /^__Host-heliograph-site=[\w-]{43}; Path=\/; Max-Age=1200; HttpOnly; Secure; SameSite=Lax$/,
    )
    for (const rule of ['strict-transport-security', 'x-frame-options']) {
      expect(first.headers[rule]).toBeUndefined()
    }
    const back = await world.endOf(await world.signIn(first.location ?? ''))
    expect(back).toMatch(
      /^https:\/\/wiki\.example\.com\/page\?x=%41&y=a\+b&heliograph_ticket=[\w-]+$/,
    )
    const redeemed = await site.get(pathOf(back))
    expect([redeemed.status, redeemed.location]).toEqual([302, `https://${WIKI}/page?x=%41&y=a+b`])
    expect(redeemed.cookie).toContain('; Max-Age=28800; HttpOnly; Secure; SameSite=Lax')
    const { status, headers } = await site.get('/page?x=%41&y=a+b')
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'x-heliograph-person-id': world.person.id,
      'x-heliograph-person-email': world.person.email,
      'x-heliograph-person-name': 'Zo%C3%AB 50%25',
      'x-heliograph-device-id': world.deviceId,
      'x-heliograph-device-name': 'mac',
      'x-heliograph-device-auth-state': 'Good',
      'x-heliograph-assurance': 'live',
      'cache-control': 'no-store',
    })
    // Other requests than for pages are let in as well.
    for (const method of ['POST', 'DELETE', 'HEAD', 'PROPFIND']) {
      expect((await site.get('/api', { method, isPage: false })).status).toBe(200)
    }
  })

  it('tells the site by a signed token who it is, for that site alone and for a minute', async () => {
    const site = await world.signedIn()
    const token = String((await site.get('/')).headers['x-heliograph-token'])
    const jwks = createRemoteJWKSet(new URL(`${BASE_URL}/sign-in/jwks`), {
      [customFetch]: async (url) => {
        const answer = await world.api.app.inject(new URL(url).pathname)
        return new Response(answer.body, { status: answer.statusCode })
      },
    })
    const currentDate = world.api.clock.now()
    const options = { issuer: `${BASE_URL}/sign-in`, audience: `https://${WIKI}`, currentDate }
    const { payload } = await jwtVerify(token, jwks, options)
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RS256', typ: 'heliograph-site+jwt' })
    expect(payload).toMatchObject({
      sub: world.person.id,
      email: world.person.email,
      device_id: world.deviceId,
      device_auth_state: 'Good',
      acr: 'urn:heliograph:device:live',
    })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60)
    await expect(
      jwtVerify(token, jwks, { ...options, audience: `https://${OTHER}` }),
    ).rejects.toThrow('aud')
  })

  it('goes back to the first page of the site where the address is very long', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const { location } = await site.get(`/${'%41'.repeat(600)}`)
    expect(location).toContain('?rd=https%3A%2F%2Fwiki.example.com%2F&state=')
  })

  it('sends pages to sign in, and refuses what a script or another method asks for', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    expect((await site.get('/api', { isPage: false })).status).toBe(401)
    expect((await site.get('/form', { method: 'POST' })).status).toBe(401)
    const old = { 'sec-fetch-mode': undefined }
    const asked = async (headers: object) =>
      (await site.get('/', { headers: { ...old, ...headers } })).status
    expect(await asked({ accept: 'text/html,*/*' })).toBe(302)
    expect(await asked({ accept: 'application/json' })).toBe(401)
    expect(await asked({ accept: 'text/html', upgrade: 'websocket' })).toBe(401)
  })

  it('keeps one value for several pages that sign in at once', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const one = await site.get('/one')
    const held = site.cookie
    const two = await site.get('/two')
    expect(site.cookie).toBe(held)
    const first = await world.endOf(await world.signIn(one.location ?? ''))
    const second = await world.endOf(await world.signIn(two.location ?? ''))
    expect((await site.get(pathOf(first))).location).toBe(`https://${WIKI}/one`)
    // It is signed in meanwhile: the ticket is not needed.
    expect(await site.get(pathOf(second))).toMatchObject({
      status: 302,
      location: `https://${WIKI}/two`,
      cookie: undefined,
    })
  })

  it('begins again after a sign-in that was refused, when the person goes back', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const { location } = await site.get('/page')
    const { browser, id } = await world.identify(location ?? '')
    await browser.post(`/sign-in/attempts/${id}/cancel`)
    expect(await browser.get(`/sign-in/start/finish?attempt=${id}`)).toMatchObject({
      status: 303,
      location: `https://${WIKI}/page`,
    })
  })
})

describe('nginx', () => {
  const nginx = (path: string, host = WIKI) => ({
    'x-original-url': `https://${host}${path}`,
    'x-original-method': 'GET',
    'x-forwarded-method': undefined,
    'x-forwarded-proto': undefined,
    'x-forwarded-host': undefined,
    'x-forwarded-uri': undefined,
  })

  it('is answered 401 with the address that it redirects to', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const get = async (path: string) => site.get(path, { headers: nginx(path) })
    const first = await get('/page')
    expect(first.status).toBe(401)
    const back = await world.endOf(await world.signIn(first.location ?? ''))
    expect(await get(pathOf(back))).toMatchObject({ status: 401, location: `https://${WIKI}/page` })
    expect((await get('/page')).status).toBe(200)
  })

  it('does not have a script redirected', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const answer = await site.get('/', { headers: nginx('/'), isPage: false })
    expect([answer.status, answer.location]).toEqual([401, undefined])
  })
})

describe('Envoy', () => {
  const envoy = { 'x-forwarded-uri': undefined, 'x-forwarded-host': undefined, host: WIKI }
  const url = (path: string) => `/sign-in/auth/envoy${path}`

  it('asks with the address, the host and the method of the request', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const get = async (path: string) => site.get(path, { headers: envoy, url: url(path) })
    const first = await get('/page?x=1')
    expect(first.status).toBe(302)
    const back = await world.endOf(await world.signIn(first.location ?? ''))
    expect(await get(pathOf(back))).toMatchObject({
      status: 302,
      location: `https://${WIKI}/page?x=1`,
    })
    expect((await get('/page?x=1')).status).toBe(200)
    expect((await get('/')).status).toBe(200)
    const cookie = site.cookie ?? ''
    for (const method of ['POST', 'PUT', 'DELETE', 'PROPFIND'] as const) {
      const inject = { method, url: url('/api'), remoteAddress: SITE_PROXY, payload: 'x' }
      const answer = await world.api.app.inject({ ...inject, headers: { host: WIKI, cookie } })
      expect([method, answer.statusCode]).toEqual([method, 200])
      const nobody = await world.api.app.inject({ ...inject, headers: { host: WIKI } })
      expect([method, nobody.statusCode]).toEqual([method, 401])
    }
  })
})

describe('a session at a site', () => {
  it('is stopped at the next request after its device was blocked', async () => {
    const site = await world.signedIn()
    await world.api.runChange({ actor: SYSTEM_ACTOR }, async (each) =>
      simulateChange(each, { deviceId: world.deviceId, to: 'blocked' }),
    )
    expect((await site.get('/', { isPage: false })).status).toBe(401)
    expect((await site.get('/')).location).toContain('/sign-in/start?')
  })

  it('is stopped when the time of a grace period is over, whoever has noticed', async () => {
    const site = await world.signedIn()
    const until = new Date(world.api.clock.now().getTime() + MINUTE_MS)
    await set('device', { auth_state: 'Will Block', will_block_at: until })
    expect((await site.get('/')).headers['x-heliograph-device-auth-state']).toBe('Will Block')
    await set('device', { will_block_at: world.api.clock.now() })
    expect((await site.get('/', { isPage: false })).status).toBe(401)
  })

  it.each([
    [
      'the device has another owner',
      async () =>
        set('device', {
          owner_person_id: await insertPerson(world.api.db, { email: 'b@example.com' }),
        }),
    ],
    ['the device is registered no more', async () => set('device', { registered_at: null })],
    ['the device is enrolled no more', async () => set('device', { node_key_hash: null })],
    [
      'the device is gone',
      async () => world.api.db.deleteFrom('device').where('id', '=', world.deviceId).execute(),
    ],
    ['the person is gone', async () => set('person', { deprovisioned_at: new Date() })],
  ])('is stopped when %s', async (_what, happen) => {
    const site = await world.signedIn()
    await happen()
    expect((await site.get('/', { isPage: false })).status).toBe(401)
  })

  it('is stopped when an issue of the person blocks every device', async () => {
    const site = await world.signedIn()
    const blocksAt = new Date(world.api.clock.now().getTime() + MINUTE_MS)
    const issueId = await insertIssue(world.api.db, {
      check_id: await insertCheck(world.api.db),
      person_id: world.person.id,
      blocks_device_at: blocksAt,
    })
    expect((await site.get('/')).status).toBe(200)
    const changes = { blocks_device_at: world.api.clock.now() }
    await world.api.db.updateTable('issue').set(changes).where('id', '=', issueId).execute()
    expect((await site.get('/', { isPage: false })).status).toBe(401)
  })

  it('is stopped when an admin ends it, when its time is over, and when its application is off', async () => {
    const site = await world.signedIn()
    const { id, expires_at: expiresAt } = await world.api.db
      .selectFrom('sign_in_granted_session')
      .selectAll()
      .where('person_id', '=', world.person.id)
      .executeTakeFirstOrThrow()
    const status = async () => (await site.get('/', { isPage: false })).status
    await set('sign_in_granted_session', { expires_at: world.api.clock.now() }, id)
    expect(await status()).toBe(401)
    await set('sign_in_granted_session', { expires_at: expiresAt }, id)
    expect(await status()).toBe(200)
    await world.change({ hosts: ['elsewhere.example.com'] })
    expect(await status()).toBe(403)
    await world.change({ hosts: [`${WIKI}:443`, WIKI_2] })
    expect(await status()).toBe(200)
    await world.change({ minimum_assurance: 'hardware' })
    expect(await status()).toBe(401)
    await world.change({ minimum_assurance: 'live' })
    expect(await status()).toBe(200)
    await world.api.runChange({ actor: SYSTEM_ACTOR }, async (each) =>
      endSession(each, id, 'admin'),
    )
    expect(await status()).toBe(401)
  })

  it('of the break-glass group needs no device', async () => {
    const site = await world.signedIn()
    await world.api.db
      .updateTable('sign_in_granted_session')
      .set({ assurance: 'none', device_id: null })
      .where('person_id', '=', world.person.id)
      .execute()
    const { status, headers } = await site.get('/')
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'x-heliograph-device-id': 'none',
      'x-heliograph-device-auth-state': 'none',
      'x-heliograph-assurance': 'none',
    })
  })

  async function set(
    table: 'device' | 'person' | 'sign_in_granted_session',
    values: object,
    id?: string,
  ) {
    const ids = {
      device: world.deviceId,
      person: world.person.id,
      sign_in_granted_session: id ?? '',
    }
    await world.api.db.updateTable(table).set(values).where('id', '=', ids[table]).execute()
  }
})
