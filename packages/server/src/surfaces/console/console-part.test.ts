import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHttpApp } from '../../platform/http/create-app.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import { createConsolePart } from './console-part.ts'

const SCRIPT = 'console.log("here")'

describe('The console', () => {
  let folder: string
  let app: FastifyInstance

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'heliograph-console-'))
    mkdirSync(join(folder, 'assets'))
    writeFileSync(
      join(folder, 'index.html'),
      '<script src="/console/assets/index-1.js" nonce="__CSP_NONCE__"></script>',
    )
    writeFileSync(join(folder, 'assets', 'index-1.js'), SCRIPT)
    writeFileSync(join(folder, 'assets', 'index-1.js.br'), brotliCompressSync(SCRIPT))
    app = fastify()
  })

  afterEach(async () => {
    await app.close()
    rmSync(folder, { recursive: true })
  })

  it('is where the address of the service leads', async () => {
    createConsolePart(folder).mount?.(app)
    const { statusCode, headers } = await app.inject({ url: '/' })
    expect([statusCode, headers['location']]).toEqual([302, '/console/'])
  })

  it('is where a browser is led from an address below it that cannot be read', async () => {
    const http = createHttpApp({
      logger: SILENT_LOGGER,
      baseUrl: 'http://127.0.0.1',
      limits: { bodyBytesMax: 1_000 },
    })
    createConsolePart(folder).mount?.(http)
    const url = '/console/devices/%zz'
    const { statusCode, headers } = await http.inject({ url, headers: { accept: 'text/html' } })
    expect([statusCode, headers['location']]).toEqual([302, '/console/'])
    expect((await http.inject({ url })).json()).toMatchObject({ code: 'invalid_parameter' })
    await http.close()
  })

  it('answers every page with a nonce of its own that the policy names', async () => {
    createConsolePart(folder).mount?.(app)
    const nonces = await Promise.all(
      ['/console/', '/console/devices/12', '/console/sign-in'].map(async (url) => {
        const { statusCode, headers, body } = await app.inject({ url })
        expect(statusCode).toBe(200)
        const nonce = /nonce="([^"]+)"/.exec(body)?.[1]
        const policy = String(headers['content-security-policy'])
        expect(policy).toContain(`script-src 'self' 'nonce-${nonce}'`)
        expect(policy).toContain("default-src 'none'")
        expect(policy).toContain("frame-ancestors 'none'")
        expect(policy).toContain("require-trusted-types-for 'script'")
        expect(policy).not.toContain('unsafe')
        return nonce
      }),
    )
    expect(new Set(nonces).size).toBe(3)
  })

  it('serves its files compressed, for good, and nothing beside them', async () => {
    createConsolePart(folder).mount?.(app)
    const { headers, rawPayload } = await app.inject({
      url: '/console/assets/index-1.js',
      headers: { 'accept-encoding': 'br' },
    })
    expect(headers['content-encoding']).toBe('br')
    expect(headers['cache-control']).toContain('immutable')
    expect(rawPayload).toEqual(brotliCompressSync(SCRIPT))
    for (const url of ['/console/assets/../index.html', '/console/assets/%2e%2e/index.html']) {
      expect((await app.inject({ url })).body, url).not.toContain('__CSP_NONCE__')
    }
    expect((await app.inject({ url: '/console/assets/missing.js' })).statusCode).toBe(404)
  })

  it('says how it is built where it has not been', async () => {
    rmSync(join(folder, 'index.html'))
    createConsolePart(folder).mount?.(app)
    const { statusCode, body } = await app.inject({ url: '/console/' })
    expect(statusCode).toBe(503)
    expect(body).toContain('npm run build')
  })
})
