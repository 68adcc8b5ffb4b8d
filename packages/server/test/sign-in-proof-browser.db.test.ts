/*
 * The live proof with a real browser: its page opens the ports, and a simulated device answers with the connections that
 * the browser has on this machine.
 */
import {
  createDeviceFactory,
  createRandom,
  listLocalConnections,
  type Platform,
  type SimulatedDevice,
} from '@heliograph/simulator'
import { chromium, type Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { createPageAssets } from '../src/sign-in/pages/kit/page-assets.ts'
import { mountPageAssets } from '../src/sign-in/pages/page-asset-routes.ts'
import { openProofWorld, type AnswerRow, type ProofWorld } from './support/proof-world.ts'

let world: ProofWorld
let browser: Browser
const devices = createDeviceFactory(() => Date.now())

beforeAll(async () => {
  const assets = createPageAssets()
  world = await openProofWorld({
    hostname: 'localhost',
    mount: (http) => {
      mountPageAssets(http, { assets, findLogo: async () => null })
      http.get('/sign-in/attempts/:id', async (request, reply) => {
        const { id } = request.params as { readonly id: string }
        const stage = (await world.attempt(id))?.stage ?? 'gone'
        const proof = stage === 'device' ? ` data-proof="/sign-in/attempts/${id}/proof"` : ''
        const script = `<script type="module" src="/sign-in/assets/${assets.nameOf('proof.js')}"></script>`
        return reply.type('text/html').send(`<p id="stage"${proof}>${stage}</p>${script}`)
      })
    },
  })
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost',
    ],
  })
})
afterAll(async () => {
  await browser.close()
  devices.close()
  await world.close()
})
beforeEach(async () => {
  world.answers.clear()
  await world.database.db.deleteFrom('device').execute()
})

/** A device of the person that answers as a simulated one does. */
async function addSimulated(platform: Platform): Promise<[id: string, device: SimulatedDevice]> {
  const device = devices.create(platform, createRandom(7))
  const id = await world.addDevice({ platform })
  world.answers.set(id, (sql): readonly AnswerRow[] => {
    const answer = device.tables.query(sql)
    if (answer.outcome === 'error') throw new Error(answer.message)
    return answer.rows
  })
  return [id, device]
}

/** Opens the page of a new sign-in and waits until its device is decided. */
async function signIn() {
  const attempt = await world.begin()
  const context = await browser.newContext()
  const [name = '', value = ''] = attempt.cookie.split('=')
  await context.addCookies([{ name, value, url: world.baseUrl, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()
  await page.goto(`${world.baseUrl}/sign-in/attempts/${attempt.id}`)
  await vi.waitFor(async () => expect(await page.textContent('#stage')).not.toBe('device'))
  await context.close()
  return world.attempt(attempt.id)
}

it.each(['linux', 'darwin', 'windows'] as const)(
  'proves the device on which the browser runs, on %s, by what its osquery says',
  async (platform) => {
    const [id, device] = await addSimulated(platform)
    device.showBrowser(() => listLocalConnections())
    const attempt = await signIn()
    expect(attempt).toMatchObject({ stage: 'posture', deviceId: id, assurance: 'live' })
    expect(attempt?.evidence).toMatchObject({
      is_port_agreed: true,
      browser: platform === 'linux' ? 'Chromium' : 'Chrome',
    })
  },
)

it('tells the device on which it runs from another one of the person', async () => {
  await addSimulated('linux')
  const [id, device] = await addSimulated('linux')
  device.showBrowser(() => listLocalConnections())
  expect((await signIn())?.deviceId).toBe(id)
})

it('refuses a browser on a machine that is none of the devices of the person', async () => {
  await addSimulated('darwin')
  expect(await signIn()).toMatchObject({ stage: 'refused', refusalCode: 'device_unknown' })
})

it('says that a device is offline which does not answer', async () => {
  await world.addDevice()
  expect((await signIn())?.refusalCode).toBe('device_unreachable')
})
