/*
 * The live proof with a real browser: its page opens the ports, and a simulated device answers with the connections
 * that the browser has on this machine.
 */
import {
  createDeviceFactory,
  createRandom,
  listLocalConnections,
  type Platform,
  type SimulatedDevice,
} from '@heliograph/simulator'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Attempt } from '../src/sign-in/attempts/attempt-store.ts'
import { toKeyRequest } from '../src/sign-in/browser-keys/browser-key-input.ts'
import { createPageAssets } from '../src/sign-in/pages/kit/page-assets.ts'
import { mountPageAssets } from '../src/sign-in/pages/page-asset-routes.ts'
import { launchBrowser, launchProfile } from './console/support/launch-browser.ts'
import { openProofWorld, type AnswerRow, type ProofWorld } from './support/proof-world.ts'

let world: ProofWorld
let browser: Browser
let profiles: string
const devices = createDeviceFactory(() => Date.now())

beforeAll(async () => {
  const assets = createPageAssets()
  world = await openProofWorld({
    hostname: 'localhost',
    mount: (http) => {
      mountPageAssets(http, { assets, findLogo: async () => null })
      http.get('/sign-in/attempts/:id', async (request, reply) => {
        const { id } = request.params as { readonly id: string }
        const attempt = await world.attempt(id)
        const stage = attempt?.stage ?? 'gone'
        const proof = attempt?.stage === 'device' ? toProofData(attempt) : ''
        const script = `<script type="module" src="/sign-in/assets/${assets.nameOf('proof.js')}"></script>`
        return reply.type('text/html').send(`<p id="stage"${proof}>${stage}</p>${script}`)
      })
    },
  })
  browser = await launchBrowser()
  profiles = await mkdtemp(join(tmpdir(), 'profiles-'))
})
afterAll(async () => {
  await browser.close()
  await rm(profiles, { recursive: true, force: true })
  devices.close()
  await world.close()
})
beforeEach(async () => {
  world.answers.clear()
  await world.database.db.deleteFrom('device').execute()
})

/** On the machine of the person the browser is installed as systems install it, wherever the one of the test lies. */
const INSTALLED = { path: '/usr/lib/chromium/chromium', fileUid: 0, fileMode: '0755' }

function listBrowserConnections() {
  const isOfTest = ({ path }: { readonly path: string }) => path.includes('/node_modules/')
  return listLocalConnections().map((connection) =>
    isOfTest(connection) ? { ...connection, ...INSTALLED } : connection,
  )
}

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

/** What the page of a sign-in tells its script. */
function toProofData(attempt: Attempt): string {
  const path = `/sign-in/attempts/${attempt.id}`
  const { challenge, owner } = toKeyRequest(attempt, world.baseUrl) ?? { challenge: '', owner: '' }
  return ` data-proof="${path}/proof" data-key="${path}/browser-key" data-challenge="${challenge}" data-owner="${owner}"`
}

/** Opens the page of a new sign-in and waits until its device is decided. */
async function signIn() {
  const context = await browser.newContext()
  try {
    return await signInWith(context)
  } finally {
    await context.close()
  }
}

/** A browser that keeps its profile in a folder. */
async function signInFrom(profile: string) {
  const context = await launchProfile(profile)
  try {
    return await signInWith(context)
  } finally {
    await context.close()
  }
}

async function signInWith(context: BrowserContext) {
  const attempt = await world.begin()
  const [name = '', value = ''] = attempt.cookie.split('=')
  await context.addCookies([{ name, value, url: world.baseUrl, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()
  await page.goto(`${world.baseUrl}/sign-in/attempts/${attempt.id}`)
  await vi.waitFor(async () => expect(await page.textContent('#stage')).not.toBe('device'))
  await page.close()
  return world.attempt(attempt.id)
}

it.each(['linux', 'darwin', 'windows'] as const)(
  'proves the device on which the browser runs, on %s, by what its osquery says',
  async (platform) => {
    const [id, device] = await addSimulated(platform)
    device.showBrowser(listBrowserConnections)
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
  device.showBrowser(listBrowserConnections)
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

const listKeys = async () => world.database.db.selectFrom('browser_key').selectAll().execute()

it('binds a key to the browser, which then has its device asked first', async () => {
  const [id, device] = await addSimulated('linux')
  device.showBrowser(listBrowserConnections)
  const profile = join(profiles, 'own')
  await signInFrom(profile)
  const [key] = await listKeys()
  expect(key).toMatchObject({ device_id: id, person_id: world.person.id, ended_at: null })
  // Without the key this one, which was in contact last, would be asked too.
  await world.addDevice()
  world.asked.length = 0
  const attempt = await signInFrom(profile)
  expect(attempt).toMatchObject({ stage: 'posture', deviceId: id, browserKeyId: key?.id })
  expect(world.asked).toEqual([id])
  expect((await listKeys()).map(({ public_jwk }) => public_jwk)).not.toEqual([key?.public_jwk])
})

it('ends the key of a profile that was copied, whoever uses it first', async () => {
  const [, device] = await addSimulated('linux')
  device.showBrowser(listBrowserConnections)
  const [own, copy] = [join(profiles, 'copied'), join(profiles, 'copy')]
  await signInFrom(own)
  await cp(own, copy, { recursive: true, filter: (path) => !/Singleton/.test(path) })
  await signInFrom(copy)
  expect((await listKeys()).map(({ end_reason }) => end_reason)).toEqual([null])
  await signInFrom(own)
  const ends = (await listKeys()).map(({ end_reason }) => end_reason)
  // Proven live, the browser has a key of its own again.
  expect(ends.toSorted()).toEqual(['copied', null])
})
