import { pino } from 'pino'
import { afterAll, describe, expect, it } from 'vitest'
import { createHttpApp } from '../../platform/http/create-app.ts'
import { DEVICE_TYPES } from './device-read.ts'
import { registerProductImages } from './product-image-routes.ts'

const app = createHttpApp({
  logger: pino({ level: 'silent' }),
  baseUrl: 'https://trust.example.com',
  limits: { bodyBytesMax: 1_000 },
})
registerProductImages(app)
afterAll(() => app.close())

const PLATFORMS = Object.keys(DEVICE_TYPES)

describe('GET /product-images/{platform}.svg', () => {
  it.each(PLATFORMS)('serves a drawing for %s to everybody, to be kept for a day', async (name) => {
    const { statusCode, headers, body } = await app.inject(`/product-images/${name}.svg`)
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('image/svg+xml; charset=utf-8')
    expect(headers['cache-control']).toBe('public, max-age=86400')
    expect(headers['content-security-policy']).toBe("default-src 'none'")
    expect(body).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="0 0 96 96"/)
    expect(body).not.toMatch(/script|href|style/)
  })

  it('draws every platform differently', async () => {
    const answers = await Promise.all(
      PLATFORMS.map((name) => app.inject(`/product-images/${name}.svg`)),
    )
    expect(new Set(answers.map(({ body }) => body)).size).toBe(PLATFORMS.length)
  })

  it('answers 304 without a body when the client has the drawing', async () => {
    const url = '/product-images/linux.svg'
    const { etag } = (await app.inject(url)).headers
    const { statusCode, body } = await app.inject({
      url,
      headers: { 'if-none-match': String(etag) },
    })
    expect(statusCode).toBe(304)
    expect(body).toBe('')
  })

  it('serves no other names', async () => {
    expect((await app.inject('/product-images/toaster.svg')).statusCode).toBe(404)
    expect((await app.inject('/product-images/..%2fdarwin.svg')).statusCode).toBe(404)
  })
})
