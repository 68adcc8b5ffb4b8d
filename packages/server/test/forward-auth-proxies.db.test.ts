/* Forward authentication with real proxies, configured by the guides of docs/sign-in.md. */
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { simulateChange } from '../src/posture/checks/simulate-change.ts'
import {
  hasProxy,
  startReverseProxy,
  type ProxiedRequest,
  type ProxyName,
  type ReverseProxy,
} from './support/reverse-proxy.ts'
import { openSiteWorld, OTHER, pathOf, WIKI, type SiteWorld } from './support/site-world.ts'

const PROXIES: readonly ProxyName[] = ['nginx', 'caddy', 'traefik', 'envoy']

for (const name of PROXIES) {
  const title = hasProxy(name) ? name : `${name} (skipped: it is not installed here)`
  describe.skipIf(!hasProxy(name))(title, () => {
    let world: SiteWorld
    let proxy: ReverseProxy
    let cookie: string

    beforeAll(async () => {
      world = await openSiteWorld('127.0.0.1')
      await world.api.app.listen({ host: '127.0.0.1', port: 0 })
      const { port } = world.api.app.server.address() as AddressInfo
      proxy = await startReverseProxy(name, port)
    })
    afterAll(async () => {
      await proxy.close()
      await world.close()
    })
    beforeEach(async () => {
      await world.renew()
      cookie = ''
    })

    /** Sends what a browser sends that keeps the cookie of the site. */
    async function get(path: string, asked: ProxiedRequest = {}) {
      const answer = await proxy.send(path, { ...asked, headers: { cookie, ...asked.headers } })
      const [set, ...others] = answer.headers['set-cookie'] ?? []
      expect(others).toEqual([])
      cookie = set?.split(';')[0] ?? cookie
      return answer
    }

    async function signIn(): Promise<void> {
      const { headers } = await get('/')
      const back = await world.endOf(await world.signIn(headers.location ?? ''))
      expect((await get(pathOf(back))).status).toBe(302)
    }

    /** What the site was sent. */
    const seenBySite = ({ body }: { readonly body: string }) =>
      (JSON.parse(body) as { headers: Record<string, string> }).headers

    it('lets people leave the site: asks, ends the session, and takes the cookie away', async () => {
      await signIn()
      const asked = await get('/.heliograph/sign-out')
      expect([asked.status, asked.body.includes('wiki')]).toEqual([302, false])
      const form = new URL(asked.headers.location ?? '').pathname
      const left = await world.api.app.inject({
        method: 'POST',
        url: form,
        headers: { 'sec-fetch-site': 'same-origin' },
      })
      expect(left.headers.location).toBe(`https://${WIKI}/.heliograph/sign-out`)
      const last = await get('/.heliograph/sign-out')
      expect([last.status, last.headers.location]).toEqual([
        302,
        expect.stringMatching(/\/sign-in\/signed-out$/) as string,
      ])
      expect(cookie).toBe('__Host-heliograph-site=')
      expect((await get('/')).headers.location).toContain('/sign-in/start?')
    })

    it('sends people to sign in, lets them in, and tells the site who they are', async () => {
      const first = await get('/page?x=%41&y=a+b')
      expect([first.status, first.body.includes('wiki')]).toEqual([302, false])
      expect(first.headers['strict-transport-security']).toBeUndefined()
      const back = await world.endOf(await world.signIn(first.headers.location ?? ''))
      const redeemed = await get(pathOf(back))
      expect([redeemed.status, redeemed.headers.location]).toEqual([
        302,
        `https://${WIKI}/page?x=%41&y=a+b`,
      ])
      const page = await get('/page?x=%41&y=a+b')
      expect([page.status, JSON.parse(page.body)]).toMatchObject([
        200,
        { url: '/page?x=%41&y=a+b' },
      ])
      expect(seenBySite(page)).toMatchObject({
        'x-heliograph-person-email': world.person.email,
        'x-heliograph-person-name': 'Zo%C3%AB 50%25',
        'x-heliograph-device-id': world.deviceId,
        'x-heliograph-device-auth-state': 'Good',
        'x-heliograph-token': expect.stringMatching(/^ey/) as string,
      })
      expect((await get('/form', { method: 'POST' })).status).toBe(200)
    })

    it('stops a device at its next request after it was blocked', async () => {
      await signIn()
      expect((await get('/')).status).toBe(200)
      const { deviceId } = world
      await world.api.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
        simulateChange(change, { deviceId, to: 'blocked' }),
      )
      const stopped = await get('/')
      expect([stopped.status, stopped.body.includes('wiki')]).toEqual([302, false])
      const script = await get('/', { headers: { 'sec-fetch-mode': 'cors' } })
      expect([script.status, script.body.includes('"wiki"')]).toEqual([401, false])
    })

    it('overwrites what a client says of itself', async () => {
      await signIn()
      const names = ['person-id', 'person-email', 'person-name', 'device-id', 'device-name']
      const all = [...names, 'device-auth-state', 'assurance', 'token']
      const headers = Object.fromEntries(all.map((each) => [`X-Heliograph-${each}`, 'forged']))
      const seen = seenBySite(await get('/', { headers }))
      for (const each of all) {
        expect([each, seen[`x-heliograph-${each}`]]).not.toEqual([each, undefined])
        expect([each, seen[`x-heliograph-${each}`]]).not.toEqual([
          each,
          expect.stringContaining('forged'),
        ])
      }
    })

    it('asks about the host that it serves, whatever a client says', async () => {
      await signIn()
      const other = await world.signedIn(OTHER)
      const attempts: ProxiedRequest[] = [
        { headers: { 'x-forwarded-host': OTHER } },
        { headers: { 'x-original-url': `https://${OTHER}/` } },
        { headers: { 'x-forwarded-host': OTHER, 'x-original-url': `https://${OTHER}/` } },
        { target: `https://${WIKI}/`, headers: { host: OTHER } },
        { headers: { host: OTHER } },
      ]
      for (const asked of attempts) {
        const headers = { ...asked.headers, cookie: other.cookie ?? '' }
        // Caddy answers nothing, and 200, where it has no such site.
        const { body } = await proxy.send('/', { ...asked, headers })
        expect([asked, body.includes('"wiki"')]).toEqual([asked, false])
      }
    })

    it('lets nobody in by a method, a long address, or a ticket of somebody else', async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        const { status, body } = await get('/', { method })
        expect([method, status >= 400, body.includes('"wiki"')]).toEqual([method, true, false])
      }
      const long = await get(`/${'x'.repeat(6_000)}`)
      expect([long.status, long.body.includes('"wiki"')]).toEqual([302, false])
      const { headers } = await get('/')
      const back = await world.endOf(await world.signIn(headers.location ?? ''))
      const thief = await proxy.send(pathOf(back))
      expect([thief.status, thief.body.includes('"wiki"')]).toEqual([403, false])
    })

    it('opens a web socket to whoever is signed in alone', async () => {
      expect(await proxy.openSocket('/live', {})).toBe(401)
      await signIn()
      expect(await proxy.openSocket('/live', { cookie })).toBe(name === 'nginx' ? 200 : 101)
    })
  })
}
