/* The key of a browser whose device a client certificate tells: the real page in a real browser. */
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SILENT_LOGGER } from '../../src/platform/silent-logger.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { AskDevices } from '../../src/posture/device-questions/ask-devices.ts'
import { createRerunAnswers } from '../../src/posture/checks/rerun-answers.ts'
import { certificateRoutes } from '../../src/sign-in/certificates/certificate-routes.ts'
import { attemptPageRoutes } from '../../src/sign-in/pages/attempt/attempt-page-routes.ts'
import { createPageAssets } from '../../src/sign-in/pages/kit/page-assets.ts'
import { mountPageAssets } from '../../src/sign-in/pages/page-asset-routes.ts'
import { mountPages } from '../../src/sign-in/pages/page-surface.ts'
import { updateSignInPolicy } from '../../src/sign-in/policy/policy-store.ts'
import { launchBrowser } from '../console/support/launch-browser.ts'
import { issueClientCertificate, type TestCertificate } from '../support/client-certificates.ts'
import { openProofWorld, type ProofWorld } from '../support/proof-world.ts'

let world: ProofWorld
let browser: Browser
let certificate: TestCertificate
let device: string

/** Every device that is asked holds the certificate. */
const ask: AskDevices = async (questions) =>
  questions.map(({ deviceId }) => ({
    ...{ deviceId, status: 'answered', answeredAt: null, latencyMs: 7 },
    rows: [{ sha1: certificate.sha1 }],
  }))

beforeAll(async () => {
  certificate = await issueClientCertificate('ada-mbp', new Date())
  const assets = createPageAssets()
  const brand = { name: 'Acme Robotics', logoVersion: null, colour: null }
  world = await openProofWorld({
    hostname: 'localhost',
    mount: (http) => {
      const context = {
        get baseUrl() {
          return world.baseUrl
        },
        get db() {
          return world.database.db
        },
        get runChange() {
          return world.runChange
        },
        ...{ ask, clock: systemClock, log: SILENT_LOGGER, reruns: createRerunAnswers() },
      }
      mountPageAssets(http, { assets, findLogo: async () => null })
      const site = { baseUrl: 'http://localhost', assets, readBrand: async () => brand }
      mountPages(http, site, [...attemptPageRoutes(context), ...certificateRoutes(context)])
    },
  })
  browser = await launchBrowser()
  await updateSignInPolicy(
    world.database.db,
    {
      fallbacks: ['certificate'],
      certificateHeader: JSON.stringify({ name: 'X-Client-Cert', proxies: ['127.0.0.1'] }),
    },
    new Date(),
  )
  // It does not answer the live proof.
  device = await world.addDevice()
})
afterAll(async () => {
  await browser.close()
  await world.close()
})

/** Signs in by the certificate. */
async function signIn(context: BrowserContext): Promise<string> {
  const attempt = await world.begin()
  const [name = '', value = ''] = attempt.cookie.split('=')
  await context.addCookies([{ name, value, url: world.baseUrl, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()
  await page.goto(`${world.baseUrl}/sign-in/attempts/${attempt.id}`)
  const button = page.getByRole('button', { name: 'Use a certificate' })
  await button.click()
  await expect.poll(async () => (await world.attempt(attempt.id))?.stage).toBe('done')
  // The page is shown anew when the browser has kept its key.
  await button.waitFor({ state: 'detached' })
  await page.close()
  return attempt.id
}

it('is made by the page, kept by the browser, and shown and renewed at the next sign-in', async () => {
  const context = await browser.newContext({ locale: 'en-GB' })
  // As the proxy in front of the service does.
  await context.route('**/certificate', (route) =>
    route.continue({
      headers: { ...route.request().headers(), 'x-client-cert': certificate.base64 },
    }),
  )
  const first = await world.attempt(await signIn(context))
  const listKeys = async () =>
    world.database.db.selectFrom('browser_key').selectAll().orderBy('bound_at').execute()
  const [bound] = await listKeys()
  expect(bound).toMatchObject({ id: first?.browserKeyId, device_id: device })
  const second = await world.attempt(await signIn(context))
  expect(second).toMatchObject({ browserKeyId: bound?.id })
  const keys = await listKeys()
  expect(keys).toHaveLength(1)
  expect(keys[0]?.public_jwk).not.toEqual(bound?.public_jwk)
  await context.close()
})
