import { describe, expect, test } from 'vitest'
import { createDiscoveryCache, discoverTransmitter, TransmitterError } from '../src/index.ts'

const ORIGIN = 'https://transmitter.example.com'
const ISSUER = `${ORIGIN}/ssf`
const INSERTED = `${ORIGIN}/.well-known/ssf-configuration/ssf`
const APPENDED = `${ISSUER}/.well-known/ssf-configuration`

type Pages = Readonly<Record<string, () => Response | Promise<Response>>>

/** A transmitter that has these pages and no others. */
function createWeb(pages: Pages) {
  const urls: string[] = []
  const web = {
    urls,
    pages,
    fetch: async (url: string) => {
      urls.push(url)
      return (web.pages[url] ?? (() => new Response('nothing here', { status: 404 })))()
    },
  }
  return web
}

const document = (members: object = {}, headers = {}) => {
  return () => Response.json({ issuer: ISSUER, ...members }, { headers })
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.catch((caught: unknown) => caught)
  return error instanceof TransmitterError ? error.code : 'no failure'
}

describe('the discovery document', () => {
  test('is found with the well-known part before the path of the issuer', async () => {
    const { fetch, urls } = createWeb({
      [INSERTED]: document({ jwks_uri: 'x', status_endpoint: null }),
    })
    expect(await discoverTransmitter(ISSUER, { fetch })).toEqual({ issuer: ISSUER, jwks_uri: 'x' })
    expect(urls).toEqual([INSERTED])
  })

  test('is looked for elsewhere where 403 stands for what is not there, which is told where there is none', async () => {
    const { fetch, urls } = createWeb({
      [INSERTED]: () => new Response(null, { status: 403 }),
      [APPENDED]: () => new Response(null, { status: 404 }),
    })
    const found = discoverTransmitter(ISSUER, { fetch })
    await expect(found).rejects.toMatchObject({ code: 'forbidden' })
    expect(urls).toEqual([INSERTED, APPENDED])
  })

  test('is found behind the path of the issuer where some transmitters have it', async () => {
    const { fetch, urls } = createWeb({ [APPENDED]: document() })
    expect(await discoverTransmitter(ISSUER, { fetch })).toEqual({ issuer: ISSUER })
    expect(urls).toEqual([INSERTED, APPENDED])
    const html = createWeb({ [INSERTED]: () => new Response('<html>'), [APPENDED]: document() })
    expect(await discoverTransmitter(ISSUER, { fetch: html.fetch })).toEqual({ issuer: ISSUER })
  })

  test('has one place when the issuer has no path', async () => {
    const { fetch, urls } = createWeb({})
    expect(await codeOf(discoverTransmitter(ORIGIN, { fetch }))).toBe('not_found')
    expect(urls).toHaveLength(1)
  })

  test('of another issuer is refused wherever it is', async () => {
    const other = document({ issuer: `${ORIGIN}/other` })
    for (const pages of [{ [INSERTED]: other }, { [APPENDED]: other }]) {
      const { fetch } = createWeb(pages)
      expect(await codeOf(discoverTransmitter(ISSUER, { fetch }))).toBe('bad_response')
    }
  })

  test.each([
    ['is down', 503, 'unavailable'],
    ['asks to wait', 429, 'rate_limited'],
  ])('is not looked for elsewhere while the transmitter %s', async (_title, status, code) => {
    const headers = { 'retry-after': '7' }
    const { fetch, urls } = createWeb({
      [INSERTED]: () => new Response(null, { status, headers }),
      [APPENDED]: () => new Response(null, { status: 404 }),
    })
    const found = discoverTransmitter(ISSUER, { fetch })
    await expect(found).rejects.toMatchObject({ code, retryAfterMs: 7_000 })
    expect(urls).toEqual([INSERTED])
  })
})

describe('a kept discovery document', () => {
  function createScene(pages: Pages) {
    const web = createWeb(pages)
    const scene = { nowMs: 1_000_000 }
    const cache = createDiscoveryCache(ISSUER, { fetch: web.fetch, nowMs: () => scene.nowMs })
    return { web, scene, cache }
  }

  test('is fetched once for requests at the same time, and again when it is old', async () => {
    const { web, scene, cache } = createScene({
      [INSERTED]: document({}, { 'cache-control': 'max-age=120' }),
    })
    await Promise.all([cache.getConfiguration(), cache.getConfiguration()])
    scene.nowMs += 119_000
    await cache.getConfiguration()
    expect(web.urls).toHaveLength(1)
    scene.nowMs += 2_000
    await cache.getConfiguration()
    expect(web.urls).toHaveLength(2)
  })

  test('serves for a day while no new one can be had', async () => {
    const { web, scene, cache } = createScene({ [INSERTED]: document() })
    await cache.getConfiguration()
    web.pages = { [INSERTED]: () => Promise.reject(new TypeError('down')) }
    scene.nowMs += 20 * 60 * 60_000
    expect(await cache.getConfiguration()).toEqual({ issuer: ISSUER })
    scene.nowMs += 10 * 60 * 60_000
    expect(await codeOf(cache.getConfiguration())).toBe('network')
  })

  test('is waited for no longer than a call allows, whoever began to fetch it', async () => {
    const timeouts: AbortSignal[] = []
    const cache = createDiscoveryCache(ISSUER, {
      fetch: (_url, { signal }) => {
        if (signal instanceof AbortSignal) timeouts.push(signal)
        return new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('given up')))
        })
      },
    })
    expect(await codeOf(cache.getConfiguration({ timeoutMs: 5 }))).toBe('timeout')
    expect(timeouts).toMatchObject([{ aborted: true }])
    const ended = new AbortController()
    const patient = cache.getConfiguration({ signal: ended.signal })
    expect(await codeOf(cache.getConfiguration({ timeoutMs: 5 }))).toBe('timeout')
    expect(timeouts).toMatchObject([{ aborted: true }, { aborted: false }])
    ended.abort()
    expect(await codeOf(patient)).toBe('aborted')
  })

  test('is not lost for the others when one who waits for it gives up', async () => {
    let answer: (response: Response) => void = () => undefined
    const { cache } = createScene({
      [INSERTED]: () => new Promise((resolve) => (answer = resolve)),
    })
    const patient = cache.getConfiguration()
    const impatient = cache.getConfiguration({ signal: AbortSignal.abort() })
    expect(await codeOf(impatient)).toBe('aborted')
    answer(document()())
    expect(await patient).toEqual({ issuer: ISSUER })
  })
})
