/*
 * Sign-ins as people see them: a real browser at a simulated computer, whose agent holds its request to the whole
 * service, on the way to an application and back.
 */
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ATTEMPT_EXPIRY_CHANNEL } from '../../src/sign-in/attempts/attempt-store.ts'
import { notify } from '../../src/platform/db/listener.ts'
import { expectGood, lookAtPages, type LookedAtPages } from './looked-at-pages.ts'
import { openSignInWorld, type Computer, type SignInWorld, type Somebody } from './sign-in-world.ts'
import type { BegunSignIn } from './trial-party.ts'

/** For a step; a machine that does much else takes long. */
const WAIT_MAX_MS = 90_000

let world: SignInWorld
let pages: LookedAtPages

beforeAll(async () => {
  world = await openSignInWorld()
  pages = lookAtPages(world.browser)
})
afterEach(async () => {
  world.sitAt(undefined)
  await Promise.all(world.browser.contexts().map((context) => context.close()))
  expect(pages.complaints).toEqual([])
})
afterAll(() => world.close())

/** Somebody goes to the application in a browser that runs on a computer. */
async function goTo(
  person: Somebody,
  computer: Computer | undefined,
  options: BrowserContextOptions = {},
): Promise<[page: Page, signIn: BegunSignIn]> {
  world.sitAt(computer)
  const signIn = await world.party.begin(person.email)
  const page = await pages.open('about:blank', { locale: 'en-GB', ...options })
  // As patient as every other wait of the tests.
  page.setDefaultTimeout(WAIT_MAX_MS)
  await page.goto(signIn.url)
  return [page, signIn]
}

const heading = (page: Page, text: string) =>
  page.getByRole('heading', { level: 1, name: text }).waitFor()

/** The record of the last sign-in of somebody. */
async function recordOf({ id }: Somebody) {
  return world.services.db
    .selectFrom('auth_log_session')
    .select(['result', 'events', 'device_id as deviceId'])
    .where('person_id', '=', id)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
}

describe('a person signs in', () => {
  it('from a computer that is in order, and is asked nothing', async () => {
    const ada = await world.addPerson('Ada')
    const computer = await world.addComputer(ada)
    const [page, signIn] = await goTo(ada, computer)
    const claims = await signIn.finish(page)
    expect(claims).toMatchObject({
      sub: ada.id,
      device_id: computer.id,
      device_auth_state: 'Good',
      acr: 'urn:heliograph:device:live',
      amr: ['pop'],
    })
    expect(await recordOf(ada)).toMatchObject({ result: 'Success', deviceId: computer.id })
  })

  it('from one that will be blocked: is told until when, and may go on', async () => {
    const bob = await world.addPerson('Bob')
    const computer = await world.addComputer(bob, ['automatic-updates'])
    const [page, signIn] = await goTo(bob, computer)
    await heading(page, 'You can continue.')
    await expectGood(page, 'real-warned')
    await page.getByRole('button', { name: 'Continue' }).click()
    const claims = await signIn.finish(page)
    expect(claims).toMatchObject({ device_auth_state: 'Will Block' })
    expect(Date.parse(String(claims['device_will_block_at']))).toBeGreaterThan(Date.now())
  })

  it('from one that is blocked: fixes it, and is through at once', async () => {
    const eve = await world.addPerson('Eve')
    const computer = await world.addComputer(eve, ['firewall'])
    const [page, signIn] = await goTo(eve, computer)
    await heading(page, 'You can sign in as soon as one thing is fixed.')
    await expectGood(page, 'real-blocked')
    const again = page.getByRole('button', { name: 'I have fixed it' })
    // Nothing is fixed by saying so.
    await Promise.all([
      page.waitForResponse((answer) => answer.url().endsWith('/recheck')),
      again.click(),
    ])
    await page.getByText('Your device has answered: it is still so.').waitFor()
    await expect.poll(() => again.isEnabled()).toBe(true)
    // An agent pauses after it has answered, for as long as nobody takes to fix something: then it is held again.
    const reads = computer.agent.counters.distributedReads
    await expect.poll(() => computer.agent.counters.distributedReads).toBeGreaterThan(reads)
    computer.simulated.setPosture('firewall', 'good')
    const fixedAt = performance.now()
    await again.click()
    // The notice stands for two seconds: a busy machine may look too late for it.
    await Promise.any([
      heading(page, 'Everything is in order.'),
      page.waitForURL((url) => url.pathname === '/callback'),
    ])
    const knownMs = Math.round(performance.now() - fixedAt)
    const claims = await signIn.finish(page)
    const throughMs = Math.round(performance.now() - fixedAt)
    process.stdout.write(
      `from "I have fixed it" to the good news ${knownMs} ms, to the application ${throughMs} ms (2,000 of them a notice to read)\n`,
    )
    expect(claims).toMatchObject({ device_auth_state: 'Good' })
  })

  it('with a computer that nobody has registered yet: it is theirs from then on', async () => {
    const dan = await world.addPerson('Dan')
    const computer = await world.addComputer(undefined)
    const [page, signIn] = await goTo(dan, computer)
    await heading(page, `Is ${computer.name} yours?`)
    await expectGood(page, 'real-registration')
    await page.getByRole('button', { name: 'Yes, register it to me' }).click()
    expect(await signIn.finish(page)).toMatchObject({ device_id: computer.id })
    const device = await world.services.db
      .selectFrom('device')
      .select('owner_person_id as ownerId')
      .where('id', '=', computer.id)
      .executeTakeFirst()
    expect(device).toEqual({ ownerId: dan.id })
  })

  it('with a second computer, which is confirmed from the first', async () => {
    const gil = await world.addPerson('Gil')
    const first = await world.addComputer(gil)
    const second = await world.addComputer(undefined)
    const [page, signIn] = await goTo(gil, second)
    await page.getByText('A message to whoever decides').click()
    await page.getByLabel('It is read if an admin has to decide.').fill('My new computer')
    await page.getByRole('button', { name: 'Yes, register it to me' }).click()
    await heading(page, 'Waiting for a confirmation …')
    const asked = await world.services.db
      .selectFrom('registration_request')
      .select('requester_message as message')
      .where('device_id', '=', second.id)
      .executeTakeFirst()
    expect(asked).toEqual({ message: 'My new computer' })
    await expectGood(page, 'real-confirmation')
    const code =
      (await page.getByText('Type this number there:').locator('strong').textContent()) ?? ''

    world.sitAt(first)
    const own = await pages.open(`${world.baseUrl}/sign-in/me`, { locale: 'en-GB' })
    own.setDefaultTimeout(WAIT_MAX_MS)
    await own.getByLabel('Your email address at work').fill(gil.email)
    await own.getByRole('button', { name: 'Go on' }).click()
    await own.getByRole('heading', { name: `Register ${second.name} to you?` }).waitFor()
    await expectGood(own, 'real-requests')
    const type = async (text: string) => {
      await own.getByLabel('The number that the other page shows').fill(text)
      await own.getByRole('button', { name: 'Yes, that is me' }).click()
    }
    await type(code === '000000' ? '000001' : '000000')
    await own.getByRole('alert').waitFor()
    await type(code)
    expect(await signIn.finish(page)).toMatchObject({ device_id: second.id })
    await own.reload()
    expect(await own.getByRole('link', { name: second.name }).count()).toBe(1)
  })
})

describe('a person is not signed in', () => {
  it('who leaves: the record says so', async () => {
    const hal = await world.addPerson('Hal')
    const [page] = await goTo(hal, await world.addComputer(hal, ['firewall']))
    await heading(page, 'You can sign in as soon as one thing is fixed.')
    const address = page.url()
    await page.goto('about:blank')
    const { db } = world.services
    const expiresAt = new Date()
    await db
      .updateTable('sign_in_attempt')
      .set({ expires_at: expiresAt })
      .where('person_id', '=', hal.id)
      .execute()
    await db
      .transaction()
      .execute(async (tx) => notify(tx, ATTEMPT_EXPIRY_CHANNEL, expiresAt.toISOString()))
    await expect.poll(async () => (await recordOf(hal)).result).toBe('Fail')
    await page.goto(address)
    await heading(page, 'This sign-in took too long and has ended.')
    await expectGood(page, 'real-abandoned')
  })

  it('whose computer is offline, or is none of theirs', async () => {
    const ian = await world.addPerson('Ian')
    const computer = await world.addComputer(ian)
    const [elsewhere] = await goTo(ian, undefined)
    await elsewhere.getByText('device_unknown').waitFor()
    await expectGood(elsewhere, 'real-refused')
    computer.agent.stop()
    const [page] = await goTo(ian, computer)
    await page.getByText('Your device does not answer.').waitFor()
    await page.getByRole('link', { name: 'Back to where I came from' }).click()
    await page.waitForURL(/callback\?error=access_denied/)
  })
})
