/*
 * A service with two sites behind a proxy that it trusts, an identity provider for their people, and for each test a
 * person with a device in order.
 */
import { expect } from 'vitest'
import { BASE_URL } from './api-app.ts'
import { createServiceApi, type ServiceApi } from './composed-api.ts'
import { insertDevice, insertPerson } from './factories.ts'
import { startIdentityProvider } from './identity-provider.ts'
import { SignInBrowser } from './sign-in-browser.ts'
import { inOrder, proveTestDevice } from './sign-in-fixtures.ts'
import { SITE_PROXY, SiteBrowser } from './site-browser.ts'

export const WIKI = 'wiki.example.com'
/** A second host of the application of the wiki. */
export const WIKI_2 = 'wiki2.example.com'
/** The host of another application. */
export const OTHER = 'other.example.com'

/** A sign-in that has been granted, with the browser that began it. */
export interface GrantedSignIn {
  readonly id: string
  readonly browser: SignInBrowser
}

export interface SiteWorld {
  readonly api: ServiceApi
  readonly manager: string
  readonly wikiId: string
  readonly person: { readonly id: string; readonly email: string }
  readonly deviceId: string
  /** Another person, with a device in order, signs in from now on. */
  renew(): Promise<void>
  make(values: object): Promise<{ status: number; id: string; message?: string }>
  /** Changes the application of the wiki. */
  change(values: object): Promise<void>
  /** Goes where a site sends a browser, and signs in there as far as the identity provider. */
  identify(start: string): Promise<GrantedSignIn>
  signIn(start: string): Promise<GrantedSignIn>
  /** The address that leads back to the site. */
  endOf(granted: GrantedSignIn): Promise<string>
  /** A browser that has signed in at a site. */
  signedIn(host?: string): Promise<SiteBrowser>
  close(): Promise<void>
}

/** What of an address is behind its origin. */
export const pathOf = (url: string) => url.slice(new URL(url).origin.length)

/** Opens it, with a proxy at this address; close it in `afterAll`. */
export async function openSiteWorld(proxy = SITE_PROXY): Promise<SiteWorld> {
  const api = await createServiceApi({ HELIOGRAPH_TRUSTED_PROXIES: `${proxy},${SITE_PROXY}` })
  const manager = await api.createKey(['Manage Sign-in'])
  const idp = await startIdentityProvider(`${BASE_URL}/sign-in/upstream/callback`)
  const { issuer, clientId, clientSecret } = idp
  let count = 0
  const send = async (method: 'POST' | 'PATCH', path: string, payload: object) => {
    const request = { method, key: manager, payload }
    const { status, body } = await api.request<{ id: string; message?: string }>(path, request)
    return { status, ...body }
  }
  const { id: upstreamId } = await send('POST', '/sign_in_upstream_providers', {
    ...{ name: 'IdP', issuer, client_id: clientId, client_secret: clientSecret },
  })
  const make = async (values: object) =>
    send('POST', '/sign_in_applications', {
      ...{ name: `Site ${++count}`, kind: 'forward_auth', mode: 'broker' },
      ...{ upstream_provider_id: upstreamId, ...values },
    })
  const { id: wikiId } = await make({ hosts: [WIKI, WIKI_2] })
  await make({ hosts: [OTHER] })
  const world: SiteWorld = {
    ...{ api, manager, wikiId, make, person: { id: '', email: '' }, deviceId: '' },
    renew: async () => {
      const email = `ada.${++count}@example.com`
      const person = { id: await insertPerson(api.db, { email, name: 'Zoë 50%' }), email }
      const owned = { ...inOrder(), owner_person_id: person.id, name: 'mac' }
      const deviceId = await insertDevice(api.db, owned)
      idp.account = { subject: `s${count}`, email }
      Object.assign(world, { person, deviceId })
    },
    change: async (values) => {
      const { status } = await send('PATCH', `/sign_in_applications/${wikiId}`, values)
      expect(status).toBe(200)
    },
    identify: async (start) => {
      const browser = new SignInBrowser(api.app, BASE_URL)
      const sent = await browser.get(start)
      const query = new URLSearchParams(await idp.visit(sent.location ?? '')).toString()
      const page = await browser.get(`/sign-in/upstream/callback?${query}`)
      return { id: page.location?.split('/').at(-1) ?? '', browser }
    },
    signIn: async (start) => {
      const identified = await world.identify(start)
      await proveTestDevice(api.runChange, identified.id, world.deviceId)
      await identified.browser.get(`/sign-in/attempts/${identified.id}/events`)
      return identified
    },
    endOf: async ({ id, browser }) => {
      await expect.poll(() => readStage(api, id)).toBe('done')
      const leave = await browser.get(`/sign-in/attempts/${id}/return`)
      return (await browser.get(leave.location ?? '')).location ?? ''
    },
    signedIn: async (host = WIKI) => {
      const site = new SiteBrowser(api.app, host)
      const { location } = await site.get('/')
      const back = await world.endOf(await world.signIn(location ?? ''))
      expect((await site.get(pathOf(back))).status).toBe(302)
      expect((await site.get('/')).status).toBe(200)
      return site
    },
    close: async () => {
      await idp.close()
      await api.close()
    },
  }
  return world
}

async function readStage({ db }: ServiceApi, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('sign_in_attempt')
    .select('stage')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.stage
}
