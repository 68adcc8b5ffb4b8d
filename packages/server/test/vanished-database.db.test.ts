/* The host of the database vanishes without a word, and another takes its place. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { CleanupStack } from '../src/platform/cleanup-stack.ts'
import { composeTestApi, type ComposedApi } from './support/composed-api.ts'
import { createTestKey } from './support/api-keys.ts'
import { createTestDatabase } from './support/database.ts'
import { startVanishingProxy, type VanishingProxy } from './support/vanishing-proxy.ts'

/** What an operator calls seconds, on a busy machine too. */
const SECONDS_MS = 15_000
/** Longer than anything waits that is not bounded by what is tested. */
const GONE_MS = 12_000

let cleanup = new CleanupStack()
afterEach(async () => {
  const started = cleanup
  cleanup = new CleanupStack()
  await started.run()
})

interface Service extends Pick<ComposedApi, 'http' | 'parts' | 'services' | 'close'> {
  readonly proxy: VanishingProxy
  readonly headers: { readonly authorization: string }
}

async function startService(): Promise<Service> {
  const database = await createTestDatabase({ poolMax: 1 })
  cleanup.add(() => database.close())
  const proxy = await startVanishingProxy(database.connection)
  cleanup.add(() => proxy.close())
  const environment = {
    DATABASE_URL: proxy.url,
    HELIOGRAPH_REPORTING_DATABASE_URL: '',
    HELIOGRAPH_LOG_LEVEL: 'silent',
    HELIOGRAPH_ROLES: 'api,agents,worker',
  }
  const { http, parts, services, close } = await composeTestApi({ environment })
  const headers = { authorization: `Bearer ${await createTestKey(services, [])}` }
  return { http, parts, services, close, proxy, headers }
}

async function isReady({ http }: Service): Promise<boolean> {
  return (await http.inject({ url: '/readyz' })).statusCode === 200
}

test('a service whose database vanished is unready within seconds, refuses as unavailable, and is well within seconds of the return', async () => {
  const service = await startService()
  cleanup.add(service.close)
  const { http, headers, parts, proxy } = service
  expect(await isReady(service)).toBe(true)
  proxy.vanish()
  const waiting = [1, 2, 3].map(() => http.inject({ url: '/devices', headers }))
  await vi.waitFor(async () => expect(await isReady(service)).toBe(false), SECONDS_MS)
  await vi.waitFor(() => expect(parts.listener.disconnectedForMs()).toBeGreaterThan(0), SECONDS_MS)
  for (const answer of await Promise.all(waiting)) {
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toMatch(/^\d+$/)
    expect(answer.json()).toMatchObject({ code: 'unavailable' })
  }
  await sleep(GONE_MS)
  proxy.comeBack()
  await vi.waitFor(async () => expect(await isReady(service)).toBe(true), SECONDS_MS)
  await vi.waitFor(() => expect(parts.listener.disconnectedForMs()).toBe(0), SECONDS_MS)
  expect((await http.inject({ url: '/devices', headers })).statusCode).toBe(200)
})

test('a service stops in time while its database is gone, whatever waits for it', async () => {
  const service = await startService()
  const { http, headers, proxy } = service
  proxy.vanish()
  const waiting = http.inject({ url: '/devices', headers })
  const beginMs = performance.now()
  await service.close().catch(() => undefined)
  expect(performance.now() - beginMs).toBeLessThan(SECONDS_MS)
  await waiting.catch(() => undefined)
})

test('whoever asks whether the service is ready does not pile up connections', async () => {
  const service = await startService()
  cleanup.add(service.close)
  service.proxy.vanish()
  const before = service.proxy.connectionCount()
  const answers: Promise<boolean>[] = []
  for (let count = 0; count < 10; count += 1) {
    answers.push(isReady(service))
    await setImmediate()
  }
  expect(await Promise.all(answers)).not.toContain(true)
  expect(service.proxy.connectionCount() - before).toBeLessThan(10)
})
