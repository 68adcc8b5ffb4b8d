/* A real application: Debian's Apache, which lets nobody see its pages who has not signed in from a device in order. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { reservePort } from '../support/reserve-ports.ts'
import { findCheckBySlug } from '../../src/posture/checks/catalogue-store.ts'
import { requestCheckRefresh } from '../../src/posture/checks/request-check-refresh.ts'
import { HAS_APACHE, startApache } from './apache.ts'
import { lookAtPages, type LookedAtPages } from './looked-at-pages.ts'
import { openSignInWorld, type Computer, type SignInWorld, type Somebody } from './sign-in-world.ts'

const WAIT_MAX_MS = 90_000
const TITLE = HAS_APACHE ? 'Apache' : 'Apache (skipped: it is not installed here)'

describe.skipIf(!HAS_APACHE)(TITLE, () => {
  let world: SignInWorld
  let pages: LookedAtPages
  let ada: Somebody
  let computer: Computer
  let url: string
  let stopApache: (() => Promise<void>) | undefined

  beforeAll(async () => {
    world = await openSignInWorld()
    pages = lookAtPages(world.browser)
    ada = await world.addPerson('Ada')
    computer = await world.addComputer(ada)
    world.sitAt(computer)
    const port = await reservePort()
    url = `http://localhost:${port}`
    const access = await world.register({
      name: 'Apache',
      redirect_uris: [`${url}/callback`],
      backchannel_logout_uri: `http://127.0.0.1:${port}/callback?logout=backchannel`,
    })
    const { baseUrl } = world
    stopApache = await startApache({ port, baseUrl, access, loginHint: ada.email })
  })
  afterAll(async () => {
    await stopApache?.()
    await world.close()
  })

  /** Has the device answer anew whether its firewall is on. */
  async function askFirewall(): Promise<void> {
    await world.services.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      const check = await findCheckBySlug(change.tx, 'firewall')
      await requestCheckRefresh(change, computer.id, check?.id ?? '0')
    })
  }

  it('shows its page to whom the service lets in, knows who it is and how the device is doing, until the device is blocked', async () => {
    const page = await pages.open('about:blank')
    page.setDefaultTimeout(WAIT_MAX_MS)
    await page.goto(`${url}/`)
    await page.getByText('Welcome').waitFor()
    const told = await page.reload()
    expect(told?.status()).toBe(200)
    expect(await told?.allHeaders()).toMatchObject({
      'x-told-person': ada.email,
      'x-told-state': 'Good',
      'x-told-acr': 'urn:heliograph:device:live',
    })
    computer.simulated.setPosture('firewall', 'bad')
    await askFirewall()
    // The service tells Apache that its session has ended; Apache asks the service again, which stops the person.
    await expect
      .poll(async () => {
        await page.goto(`${url}/`)
        return page.url().startsWith(world.baseUrl)
      })
      .toBe(true)
    await page.getByText('You can sign in as soon as one thing is fixed.').waitFor()
    await page.getByRole('button', { name: 'Cancel this sign-in' }).click()
    await page.getByRole('link', { name: 'Back to where I came from' }).click()
    await page.waitForURL(/\/callback\?error=access_denied/)
    expect(await page.getByText('Welcome').count()).toBe(0)
  })
})
