import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeTestApi, type ComposedApi } from '../../../test/support/composed-api.ts'
import { isRunAs } from '../../platform/db/pool-turns.ts'
import { createHttpApp } from '../../platform/http/create-app.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import { createPageAssets } from './kit/page-assets.ts'
import { mountPages, refuseUnknownPages } from './page-surface.ts'

let api: ComposedApi

beforeAll(async () => {
  api = await composeTestApi({ log: SILENT_LOGGER })
})

afterAll(async () => {
  await api.close()
})

const get = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  api.http.inject({ url, headers })

describe('the privacy centre', () => {
  it('lists every check that runs, for everybody', async () => {
    const { statusCode, headers, body } = await get('/sign-in/privacy')
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('no-store')
    const checks = await api.services.db
      .selectFrom('posture_check')
      .select(['id', 'name'])
      .where('paused_at', 'is', null)
      .execute()
    expect(checks.length).toBeGreaterThan(40)
    for (const { id } of checks) expect(body).toContain(`href="/sign-in/privacy/checks/${id}"`)
  })

  it('shows the very question of a check, and what follows from it', async () => {
    const { id } = await api.services.db
      .selectFrom('posture_check')
      .select('id')
      .where('slug', '=', 'disk-encryption')
      .executeTakeFirstOrThrow()
    const { body } = await get(`/sign-in/privacy/checks/${id}`)
    expect(body).toContain('SELECT b.protection_status FROM bitlocker_info')
    expect(body).toContain('<h3>macOS</h3>')
    expect(body).toContain('A device that fails this check is given some days')
  })

  it.each(['0', 'x', '999999', "1'--"])('has no check %s', async (id) => {
    const { statusCode, body, headers } = await get(`/sign-in/privacy/checks/${id}`)
    expect(statusCode).toBe(404)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(body).toContain('There is nothing at this address.')
  })
})

describe('an address below the sign-in that is none', () => {
  const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const UNKNOWN = ['/sign-in', '/sign-in/', '/sign-in/nowhere', '/sign-in/attempts/12/nowhere']

  it.each(UNKNOWN)('is told to people in a page with a way on: %s', async (url) => {
    const { statusCode, headers, body } = await get(url, BROWSER)
    expect(statusCode).toBe(404)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(headers['cache-control']).toBe('no-store')
    expect(body).toContain('<title>Nothing here · ')
    expect(body).toContain('<h1>There is nothing at this address.</h1>')
    expect(body).toContain('<a class="button button-main" href="/sign-in/me">See my devices</a>')
  })

  it.each(['/sign-in/%zz', '/sign-in/attempts/%e2%28', `/sign-in/attempts/${'a'.repeat(300)}`])(
    'is a page also where it cannot be read: %s',
    async (url) => {
      const { statusCode, headers, body } = await get(url, { ...BROWSER, 'accept-language': 'de' })
      expect(statusCode).toBe(404)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(headers['content-security-policy']).toContain("default-src 'none'")
      expect(headers['content-language']).toBe('de')
      expect(body).toContain(String(headers['request-id']))
      const machine = await get(url)
      expect([400, 404]).toContain(machine.statusCode)
      expect(machine.json()).toMatchObject({ request_id: machine.headers['request-id'] })
    },
  )

  it('is told in the language of the browser', async () => {
    const { headers, body } = await get('/sign-in/nowhere', { ...BROWSER, 'accept-language': 'de' })
    expect(headers['content-language']).toBe('de')
    expect(body).toContain('Unter dieser Adresse gibt es nichts.')
  })

  it('is a page also where only a form is sent to', async () => {
    const { statusCode, headers, body } = await get('/sign-in/me/sign-out', BROWSER)
    expect([statusCode, headers['allow']]).toEqual([405, 'POST'])
    expect(body).toContain('<h1>There is nothing at this address.</h1>')
  })

  it.each(UNKNOWN)('is told to machines as everywhere else: %s', async (url) => {
    for (const asked of [{}, { accept: '*/*' }, { ...BROWSER, 'sec-fetch-mode': 'cors' }]) {
      const { statusCode, headers, json } = await get(url, asked)
      expect(statusCode).toBe(404)
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
      expect(headers['cache-control']).toBe('no-store')
      expect(json()).toMatchObject({ code: 'not_found', request_id: headers['request-id'] })
    }
    expect((await get('/sign-in/token')).json()).toMatchObject({ code: 'method_not_allowed' })
  })

  it('asks the database nothing, and is answered also where nothing has refused it before', async () => {
    const http = fastify()
    let readCount = 0
    const readBrand = async () => {
      readCount += 1
      return { name: 'Analytical Engines', logoVersion: null, colour: null }
    }
    const site = { baseUrl: 'https://trust.example.com', assets: createPageAssets(), readBrand }
    refuseUnknownPages(http, site, '/sign-in')
    for (const headers of [BROWSER, {}]) {
      const { statusCode } = await http.inject({ url: '/sign-in/nowhere', headers })
      expect(statusCode).toBe(404)
    }
    expect(readCount).toBe(0)
    await http.close()
  })
})

describe('the language of a page', () => {
  it('is what the browser asks for', async () => {
    const { body, headers } = await get('/sign-in/privacy', { 'accept-language': 'de-CH,de;q=0.9' })
    expect(headers['content-language']).toBe('de')
    expect(body).toContain('Das ist alles, was Ihre Geräte gefragt werden.')
    const names = [...body.matchAll(/checks\/\d+">([^<]+)</g)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(40)
    expect(names).toEqual(names.toSorted((one, other) => one.localeCompare(other, 'de')))
  })

  it('is what was chosen, from then on', async () => {
    const chosen = await get('/sign-in/privacy?language=de')
    expect(chosen.headers['content-language']).toBe('de')
    expect([chosen.headers['set-cookie']].flat()[0]).toMatch(
      /^heliograph-language=de; Path=\/sign-in; .*HttpOnly/,
    )
    const { headers } = await get('/sign-in/privacy', { cookie: 'heliograph-language=de' })
    expect(headers['content-language']).toBe('de')
    expect(headers['set-cookie']).toBeUndefined()
  })

  it('is never one that there is no catalogue of', async () => {
    for (const language of ['xx', '../de', 'constructor']) {
      const { headers } = await get(`/sign-in/privacy?language=${language}`)
      expect(headers['content-language']).toBe('en')
      expect(headers['set-cookie']).toBeUndefined()
    }
  })
})

describe('what pages load', () => {
  it('never changes under its name, and comes compressed', async () => {
    const { body } = await get('/sign-in/privacy')
    const paths = body.match(/\/sign-in\/assets\/[\w/.-]+/g) ?? []
    expect(paths).toHaveLength(4)
    for (const path of paths.filter((each) => /\.(?:css|js)$/.test(each))) {
      const { statusCode, headers } = await get(path)
      expect([path, statusCode, headers['cache-control']]).toEqual([
        path,
        200,
        'public, max-age=31536000, immutable',
      ])
    }
    const script = paths.find((path) => path.endsWith('.js')) ?? ''
    const { headers } = await get(script, { 'accept-encoding': 'gzip, br' })
    expect(headers['content-encoding']).toBe('br')
    expect((await get(script, { 'accept-encoding': 'br;q=0' })).headers['content-encoding']).toBe(
      undefined,
    )
  })

  it.each(['pages.js', 'colours/zzzzzz.css', 'colours/ffffff;}.css', 'logo', '..%2Fkit%2Fpage.ts'])(
    'is not %s',
    async (name) => {
      expect((await get(`/sign-in/assets/${name}`)).statusCode).toBe(404)
    },
  )

  it('is the name, the colour and the logo of the organisation where the policy has them', async () => {
    const picture = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    await api.services.db
      .insertInto('sign_in_policy')
      .values({
        ...POLICY,
        brand_name: 'Acme <b>',
        brand_colour: '#FF00AA',
        brand_logo: JSON.stringify({
          type: 'image/svg+xml',
          data: Buffer.from(picture).toString('base64'),
        }),
      })
      .execute()
    const { body } = await get('/sign-in/privacy')
    expect(body).toContain('<span>Acme &lt;b></span>')
    expect(body).toContain('/sign-in/assets/colours/ff00aa.css')
    const [, logoPath = ''] = /<img src="([^"]+)" alt/.exec(body) ?? []
    const logo = await get(logoPath)
    expect(logo.headers['content-type']).toBe('image/svg+xml')
    // Opened by itself, nothing in it runs.
    expect(logo.headers['content-security-policy']).toContain('sandbox')
  })
})

const POLICY = {
  fallbacks: [] as never[],
  browser_key_days: 7,
  first_registration: 'on_first_use',
  further_registration: 'registered_device_or_admin',
  unreachable_device: 'refuse',
  last_known_minutes: 60,
  upstream_outage: 'refuse',
  break_glass_group_id: null,
  recheck_age_minutes: 15,
  certificate_header: null,
  updated_at: new Date(),
} as const

it('a page has the turns of signing in, also for what goes on after its answer', async () => {
  const http = createHttpApp({
    logger: SILENT_LOGGER,
    baseUrl: 'https://trust.example.com',
    limits: { bodyBytesMax: 1_000 },
  })
  const brand = { name: 'Analytical Engines', logoVersion: null, colour: null }
  const site = {
    baseUrl: 'https://trust.example.com',
    assets: createPageAssets(),
    readBrand: async () => brand,
  }
  const later = Promise.withResolvers<boolean>()
  const kinds: boolean[] = []
  const handler = async () => {
    kinds.push(isRunAs('sign-ins'))
    setTimeout(() => later.resolve(isRunAs('sign-ins')), 10)
    return { kind: 'data' as const, content: {} }
  }
  mountPages(http, site, [{ method: 'POST', path: '/sign-in/page', handler }])
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    origin: site.baseUrl,
    'sec-fetch-site': 'same-origin',
  }
  const sent = { method: 'POST', url: '/sign-in/page', headers, payload: 'a=b' } as const
  expect((await http.inject(sent)).statusCode).toBe(200)
  expect([...kinds, await later.promise]).toEqual([true, true])
  await http.close()
})
