import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BASE_URL } from '../../../test/support/api-app.ts'
import { SignInBrowser } from '../../../test/support/sign-in-browser.ts'
import { SITE_PROXY, SiteBrowser } from '../../../test/support/site-browser.ts'
import {
  openSiteWorld,
  OTHER,
  pathOf,
  WIKI,
  WIKI_2,
  type SiteWorld,
} from '../../../test/support/site-world.ts'
import { SECOND_MS } from '../../platform/clock.ts'

const COOKIE = '__Host-heliograph-site'

let world: SiteWorld

beforeAll(async () => {
  world = await openSiteWorld()
})
afterAll(() => world.close())
beforeEach(() => world.renew())

describe('whoever attacks', () => {
  it('is believed as a proxy only from the address of one', async () => {
    const site = await world.signedIn()
    const stranger = new SiteBrowser(world.api.app, WIKI, '192.0.2.66')
    stranger.cookie = site.cookie
    expect(await stranger.get('/')).toMatchObject({
      status: 403,
      body: expect.stringContaining('HELIOGRAPH_TRUSTED_PROXIES') as string,
    })
    // Not by naming one either.
    const headers = { 'x-forwarded-for': SITE_PROXY, forwarded: `for=${SITE_PROXY}` }
    expect((await stranger.get('/', { headers })).status).toBe(403)
  })

  it.each([
    ['of another host', { 'x-forwarded-host': OTHER }],
    [
      'with another original address',
      { 'x-original-url': `https://${WIKI}/`, 'x-forwarded-host': OTHER },
    ],
    [
      'with the host of the session said by another header',
      { 'x-original-url': `https://${OTHER}/` },
    ],
  ])('gets nothing with a session of one host for a request %s', async (_what, headers) => {
    const site = await world.signedIn()
    const { status } = await site.get('/', { headers, isPage: false })
    expect([401, 403]).toContain(status)
  })

  it('cannot use the cookie of one site at another, of the same application neither', async () => {
    const site = await world.signedIn()
    for (const host of [OTHER, WIKI_2]) {
      const other = new SiteBrowser(world.api.app, host)
      other.cookie = site.cookie
      expect([host, (await other.get('/', { isPage: false })).status]).toEqual([host, 401])
    }
  })

  it.each([
    ['no host', { 'x-forwarded-host': undefined }],
    ['no scheme', { 'x-forwarded-proto': undefined }],
    ['no path', { 'x-forwarded-uri': undefined }],
    ['plain HTTP', { 'x-forwarded-proto': 'http' }],
    ['several hosts', { 'x-forwarded-host': `${WIKI}, ${OTHER}` }],
    ['a host with credentials', { 'x-forwarded-host': `${WIKI}@evil.example` }],
    ['a path that leads out', { 'x-forwarded-uri': '@evil.example/' }],
    ['a path that is none', { 'x-forwarded-uri': 'https://evil.example/' }],
    ['a path that is too long', { 'x-forwarded-uri': `/${'x'.repeat(8_200)}` }],
    ['an original address that is none', { 'x-original-url': 'wiki' }],
    ['an unknown host', { 'x-forwarded-host': 'evil.example' }],
    ['a host that ends in a dot', { 'x-forwarded-host': `${WIKI}.` }],
  ])('gets nowhere with %s', async (_what, headers) => {
    const site = await world.signedIn()
    const nobody = new SiteBrowser(world.api.app, WIKI)
    for (const browser of [site, nobody]) {
      const answer = await browser.get('/', { headers })
      expect([answer.status, answer.location]).toEqual([403, undefined])
    }
  })

  it('is led to no other site by the address of a request', async () => {
    const site = await world.signedIn()
    const to = async (path: string) =>
      new URL((await site.get(`${path}?heliograph_ticket=x`)).location ?? '').origin
    for (const path of [
      '//evil.example/',
      '/\\evil.example',
      '/%0d%0aLocation:%20//evil.example',
    ]) {
      expect([path, await to(path)]).toEqual([path, `https://${WIKI}`])
    }
  })

  it.each([
    'https://evil.example/',
    'http://wiki.example.com/',
    'https://wiki.example.com@evil.example/',
    'https://evil.example\\@wiki.example.com/',
    'https://wiki.example.com.evil.example/',
    '//evil.example/',
    'javascript:alert(1)//wiki.example.com',
    'https://wiki.example.com:444/',
    '',
    `https://wiki.example.com/${'x'.repeat(8_200)}`,
  ])('begins no sign-in that leads to %.60s', async (rd) => {
    const query = new URLSearchParams({ rd, state: 'x'.repeat(43) }).toString()
    const answer = await new SignInBrowser(world.api.app, BASE_URL).get(`/sign-in/start?${query}`)
    expect([answer.status, answer.location]).toEqual([400, undefined])
  })

  it('is not sent to a host that its application lost during the sign-in', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const { location } = await site.get('/')
    const { id, browser } = await world.signIn(location ?? '')
    await world.change({ hosts: ['elsewhere.example.com'] })
    const answer = await browser.get(`/sign-in/start/finish?attempt=${id}`)
    await world.change({ hosts: [WIKI, WIKI_2] })
    expect([answer.status, answer.location]).toEqual([400, undefined])
  })

  it('cannot begin a sign-in without the browser of the site', async () => {
    const rd = `https://${WIKI}/`
    for (const state of ['', 'short', 'x'.repeat(44)]) {
      const query = new URLSearchParams({ rd, state }).toString()
      const answer = await new SignInBrowser(world.api.app, BASE_URL).get(`/sign-in/start?${query}`)
      expect(answer.status).toBe(400)
    }
  })

  it('cannot use a ticket that was stolen, and the one it was stolen from still can', async () => {
    const victim = new SiteBrowser(world.api.app, WIKI)
    const { location } = await victim.get('/')
    const back = pathOf(await world.endOf(await world.signIn(location ?? '')))
    const thief = new SiteBrowser(world.api.app, WIKI)
    await thief.get('/')
    expect((await thief.get(back)).status).toBe(403)
    thief.cookie = undefined
    expect((await thief.get(back)).status).toBe(403)
    expect((await thief.get('/', { isPage: false })).status).toBe(401)
    expect((await victim.get(back)).status).toBe(302)
  })

  it('cannot sign somebody in as somebody else by a link', async () => {
    const attacker = new SiteBrowser(world.api.app, WIKI)
    const { location } = await attacker.get('/')
    const link = pathOf(await world.endOf(await world.signIn(location ?? '')))
    const victim = new SiteBrowser(world.api.app, WIKI)
    await victim.get('/')
    expect((await victim.get(link)).status).toBe(403)
    expect((await victim.get('/', { isPage: false })).status).toBe(401)
  })

  it('cannot use a ticket twice, later, changed, at another site, or as a cookie', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const { location } = await site.get('/')
    const before = site.cookie
    const back = pathOf(await world.endOf(await world.signIn(location ?? '')))
    const ticket = new URL(back, BASE_URL).searchParams.get('heliograph_ticket') ?? ''
    const refused = async (path: string) => expect((await site.get(path)).status).toBe(403)
    await refused(`/?heliograph_ticket=${ticket.slice(0, -1)}${ticket.endsWith('A') ? 'B' : 'A'}`)
    await refused(`${back}&heliograph_ticket=${ticket}`)
    const other = new SiteBrowser(world.api.app, OTHER)
    other.cookie = before
    expect((await other.get(back)).status).toBe(403)
    world.api.clock.advance(61 * SECOND_MS)
    await refused(back)
    world.api.clock.advance(-61 * SECOND_MS)
    site.cookie = `${COOKIE}=${ticket}`
    expect((await site.get('/', { isPage: false })).status).toBe(401)
    site.cookie = before
    expect((await site.get(back)).status).toBe(302)
    // The same browser, as it was before: the cookie that it then had opens nothing, and the ticket is spent.
    site.cookie = before
    await refused(back)
    expect((await site.get('/', { isPage: false })).status).toBe(401)
  })

  it('gets a cookie of its own choice accepted by nobody', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const chosen = `${COOKIE}=${'a'.repeat(43)}`
    site.cookie = chosen
    const { location } = await site.get('/')
    await site.get(pathOf(await world.endOf(await world.signIn(location ?? ''))))
    expect(site.cookie).not.toBe(chosen)
    const attacker = new SiteBrowser(world.api.app, WIKI)
    attacker.cookie = chosen
    expect((await attacker.get('/', { isPage: false })).status).toBe(401)
  })

  it('takes no second ticket out of one sign-in', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const { location } = await site.get('/page')
    const done = await world.signIn(location ?? '')
    expect(await world.endOf(done)).toContain('heliograph_ticket=')
    expect(await world.endOf(done)).toBe(`https://${WIKI}/page`)
    const another = new SignInBrowser(world.api.app, BASE_URL)
    expect((await another.get(`/sign-in/start/finish?attempt=${done.id}`)).status).toBe(404)
  })
})

describe('a fault', () => {
  it('of the database lets nobody in', async () => {
    const site = await world.signedIn()
    const rename = async (from: string, to: string) =>
      sql`alter table ${sql.table(from)} rename to ${sql.id(to)}`.execute(world.api.db)
    await rename('sign_in_granted_session', 'gone')
    const { status, body, headers } = await site.get('/')
    await rename('gone', 'sign_in_granted_session')
    expect([status, body]).toEqual([500, 'The request cannot be judged.\n'])
    expect(headers['x-heliograph-person-email']).toBeUndefined()
    expect((await site.get('/')).status).toBe(200)
  })

  it('of the database lets nobody in while it takes no connections, and everybody again afterwards', async () => {
    const site = await world.signedIn()
    await world.api.db.connection().execute(async (kept) => {
      const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(kept)
      const limit = async (connections: number) =>
        sql`alter database ${sql.id(rows[0]?.name ?? '')} connection limit ${sql.lit(connections)}`.execute(
          kept,
        )
      await limit(0)
      try {
        await sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`.execute(kept)
        for (const isPage of [true, false]) {
          const { status, body, location, headers } = await site.get('/', { isPage })
          expect([isPage, status >= 500, body, location]).toEqual([
            ...[isPage, true, 'The request cannot be judged.\n', undefined],
          ])
          expect(Object.keys(headers).filter((name) => /^x-heliograph/.test(name))).toEqual([])
        }
      } finally {
        await limit(-1)
      }
    })
    await expect.poll(async () => (await site.get('/')).status).toBe(200)
  })
})

describe('an application', () => {
  it('does not take the host of another one', async () => {
    const made = await world.make({ hosts: ['new.example.com', WIKI] })
    expect([made.status, made.message]).toEqual([409, expect.stringContaining(WIKI)])
    const mine = await world.make({ hosts: ['mine.example.com'] })
    const { status } = await world.api.request(`/sign_in_applications/${mine.id}`, {
      method: 'PATCH',
      key: world.manager,
      payload: { hosts: [OTHER] },
    })
    expect(status).toBe(409)
  })
})
