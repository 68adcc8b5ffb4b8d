import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BASE_URL } from '../../../test/support/api-app.ts'
import { SignInBrowser } from '../../../test/support/sign-in-browser.ts'
import { SiteBrowser } from '../../../test/support/site-browser.ts'
import {
  openSiteWorld,
  OTHER,
  pathOf,
  WIKI,
  type SiteWorld,
} from '../../../test/support/site-world.ts'
import { MINUTE_MS } from '../../platform/clock.ts'

let world: SiteWorld

beforeAll(async () => {
  world = await openSiteWorld()
})
afterAll(() => world.close())
beforeEach(() => world.renew())

const LEAVE = '/.heliograph/sign-out'

/** What the page that asks has in its form. */
async function askToLeave(site: SiteBrowser) {
  const { status, location = '', cookie } = await site.get(LEAVE)
  expect([status, cookie]).toEqual([302, undefined])
  expect(location).toMatch(/^https:\/\/trust\.example\.com\/sign-in\/sign-out\/[\w-]+\/[\w-]{72}$/)
  return { location, browser: new SignInBrowser(world.api.app, BASE_URL) }
}

const sessions = async () =>
  world.api.db
    .selectFrom('sign_in_granted_session')
    .select('end_reason as reason')
    .where('person_id', '=', world.person.id)
    .execute()

describe('leaving a site', () => {
  it('is asked for, ends the session, takes the cookie away, and closes the site', async () => {
    const site = await world.signedIn()
    const { location, browser } = await askToLeave(site)
    const page = await browser.get(location)
    expect(page.body).toContain(`Do you want to sign out of ${WIKI}?`)
    expect(String(page.headers['content-security-policy'])).toContain(
      `form-action 'self' https://${WIKI};`,
    )
    // Nothing is ended by looking.
    expect((await site.get('/')).status).toBe(200)
    const left = await browser.post(location)
    expect([left.status, left.location]).toEqual([303, `https://${WIKI}${LEAVE}`])
    expect(await sessions()).toEqual([{ reason: 'logout' }])
    const last = await site.get(pathOf(left.location ?? ''))
    expect([last.status, last.location]).toEqual([302, `${BASE_URL}/sign-in/signed-out`])
    expect(last.cookie).toMatch(/^__Host-heliograph-site=; Path=\/; Max-Age=0; /)
    expect((await browser.get('/sign-in/signed-out')).body).toContain('You have signed out.')
    expect((await site.get('/')).location).toContain('/sign-in/start?')
    const entry = await world.api.db
      .selectFrom('audit_entry')
      .select(['actor_type', 'actor_id'])
      .where('action', '=', 'sign_in_session.ended')
      .where('actor_id', '=', world.person.id)
      .executeTakeFirst()
    expect(entry).toEqual({ actor_type: 'Person', actor_id: world.person.id })
  })

  it('is done once, and again is no fault', async () => {
    const { location, browser } = await askToLeave(await world.signedIn())
    const left = async () => (await browser.post(location)).status
    expect([await left(), await left()]).toEqual([303, 303])
    expect(await sessions()).toEqual([{ reason: 'logout' }])
  })

  it('happens by no form of another site, and by no address that somebody opens', async () => {
    const site = await world.signedIn()
    const { location, browser } = await askToLeave(site)
    expect((await browser.post(location, {}, 'cross-site')).status).toBe(403)
    await browser.get(location)
    // A picture of another site, or a script.
    expect((await site.get(LEAVE, { isPage: false })).status).toBe(200)
    expect((await site.get(LEAVE, { method: 'POST' })).status).toBe(200)
    expect((await site.get('/')).status).toBe(200)
    expect(await sessions()).toEqual([{ reason: null }])
  })

  it('needs the ticket of this site, made for this, within ten minutes', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const start = await site.get('/')
    const back = await world.endOf(await world.signIn(start.location ?? ''))
    const opening = new URL(back).searchParams.get('heliograph_ticket') ?? ''
    await site.get(pathOf(back))
    const { location, browser } = await askToLeave(site)
    const [ticket = '', origin = ''] = location.split('/').toReversed()
    const other = Buffer.from(`https://${OTHER}`).toString('base64url')
    const changed = ticket.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
    const tries = [`${origin}/${opening}`, `${other}/${ticket}`, `${origin}/${changed}`, 'x/y']
    for (const given of tries) {
      expect((await browser.post(`/sign-in/sign-out/${given}`)).status).toBe(400)
      expect((await browser.get(`/sign-in/sign-out/${given}`)).status).toBe(400)
    }
    // Nor does it open the site.
    const stranger = new SiteBrowser(world.api.app, WIKI)
    expect((await stranger.get(`/?heliograph_ticket=${ticket}`)).status).toBe(403)
    world.api.clock.advance(10 * MINUTE_MS)
    expect((await browser.post(location)).status).toBe(400)
    expect(await sessions()).toEqual([{ reason: null }])
  })

  it('leads whoever is not signed in to the page that says so', async () => {
    const site = new SiteBrowser(world.api.app, WIKI)
    const { status, location, cookie } = await site.get(LEAVE)
    expect([status, location, cookie]).toEqual([302, `${BASE_URL}/sign-in/signed-out`, undefined])
  })
})
