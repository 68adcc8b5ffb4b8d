/*
 * The pages of a person as they are: the whole service, a simulated computer that fails checks, and a real browser, in
 * both languages, both themes and every width.
 */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findFixDevice } from '../../src/sign-in/person-pages/fix/fix-device-read.ts'
import {
  fixLinkExpiry,
  fixPath,
  holderOf,
  signFixLink,
} from '../../src/sign-in/person-pages/fix/fix-link.ts'
import { expectGood, lookAtPages, type LookedAtPages } from './looked-at-pages.ts'
import { openSignInWorld, type Computer, type SignInWorld } from './sign-in-world.ts'

/** For a step; a machine that does much else takes long. */
const WAIT_MAX_MS = 90_000

let world: SignInWorld
let pages: LookedAtPages
let page: Page
let computer: Computer

beforeAll(async () => {
  world = await openSignInWorld()
  pages = lookAtPages(world.browser)
  const ada = await world.addPerson('Ada')
  computer = await world.addComputer(ada, ['firewall', 'automatic-updates'])
  world.sitAt(computer)
  page = await pages.open(`${world.baseUrl}/sign-in/me`, { locale: 'en-GB' })
  page.setDefaultTimeout(WAIT_MAX_MS)
  await page.getByLabel('Your email address at work').fill(ada.email)
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByText('Signed in as').waitFor()
})

afterAll(() => world.close())

const issueOf = async (slug: string) =>
  world.services.db
    .selectFrom('issue as i')
    .innerJoin('posture_check as c', 'c.id', 'i.check_id')
    .select(['i.id', 'i.check_id as checkId'])
    .where('i.device_id', '=', computer.id)
    .where('c.slug', '=', slug)
    .executeTakeFirstOrThrow()

describe.each([
  ['en', 'The firewall of macOS is switched off.'],
  ['de', 'Die Firewall von macOS ist ausgeschaltet.'],
])('in the language %s', (language, found) => {
  const goTo = async (path: string) => page.goto(`${world.baseUrl}${path}?language=${language}`)
  const expectGoodAt = async (path: string, name: string) => {
    await goTo(path)
    await expectGood(page, `own-${name}-${language}`)
    expect(pages.complaints).toEqual([])
  }

  it('the devices of the person hinder nobody', async () => {
    await expectGoodAt('/sign-in/me', 'devices')
  })

  it('a device says what was found in words, and hinders nobody', async () => {
    await goTo(`/sign-in/me/devices/${computer.id}`)
    await page.getByText(found).waitFor()
    for (const summary of await page.locator('summary').all()) await summary.click()
    await expectGood(page, `own-device-${language}`)
  })

  it('the page of a link hinders nobody', async () => {
    const { id } = await issueOf('firewall')
    const expiresAt = fixLinkExpiry(new Date())
    const { db, masterKeys } = world.services
    const device = await findFixDevice(db, computer.id)
    if (device === undefined) throw new Error('There is no such device.')
    const link = { issueId: id, deviceId: computer.id, holder: holderOf(device), expiresAt }
    await expectGoodAt(fixPath(signFixLink(link, masterKeys)), 'fix')
  })

  it('the privacy centre hinders nobody', async () => {
    await expectGoodAt('/sign-in/privacy', 'privacy')
  })

  it('a check with the own answer hinders nobody', async () => {
    const { checkId } = await issueOf('firewall')
    await expectGoodAt(`/sign-in/privacy/checks/${checkId}`, 'check')
    expect(await page.getByText(found).count()).toBe(2)
  })

  it('the data of the person hinder nobody', async () => {
    await expectGoodAt('/sign-in/privacy/my-data', 'my-data')
  })

  it('whoever is not signed in, or is at no page, is hindered by nothing', async () => {
    const context = await world.browser.newContext({ reducedMotion: 'reduce' })
    const other = await context.newPage()
    await other.goto(`${world.baseUrl}/sign-in/me?language=${language}`)
    await expectGood(other, `own-sign-in-${language}`)
    await other.goto(`${world.baseUrl}/sign-in/privacy/checks/0?language=${language}`)
    await expectGood(other, `own-nothing-${language}`)
    await context.close()
  })
})

it('an exemption is asked for, shown as open, and withdrawn', async () => {
  await page.goto(`${world.baseUrl}/sign-in/me/devices/${computer.id}?language=de`)
  const { id } = await issueOf('automatic-updates')
  const issue = page.locator(`[data-part="issue-${id}"]`)
  await issue.getByText('Ausnahme beantragen').click()
  await issue.getByRole('textbox').fill('Es geht nicht.')
  await issue.getByRole('button', { name: 'Antrag senden' }).click()
  await issue.getByText('Ein Admin hat noch nicht entschieden.').waitFor()
  await expectGood(page, 'own-exemption-de')
  await issue.getByRole('button', { name: 'Meinen Antrag zurückziehen' }).click()
  await issue.getByText('Ausnahme beantragen').waitFor()
})

it('what does not block yet is put off, and shown again by choice', async () => {
  await page.goto(`${world.baseUrl}/sign-in/me/devices/${computer.id}?language=de`)
  const { id } = await issueOf('automatic-updates')
  const issue = page.locator(`[data-part="issue-${id}"]`)
  await issue.getByText('Nicht jetzt: später erinnern').click()
  await expectGood(page, 'own-snooze-de')
  await issue.getByRole('button', { name: 'In 3 Tagen' }).click()
  await issue.getByText('Sie werden wieder erinnert:').waitFor()
  await expectGood(page, 'own-snoozed-de')
  await issue.getByRole('button', { name: 'Jetzt wieder erinnern' }).click()
  await issue.getByText('Sie werden wieder erinnert:').waitFor({ state: 'detached' })
  expect(pages.complaints).toEqual([])
})

/** Leaves the page of the test before, which may still ask. */
const leave = async () => page.goto('about:blank')

it('a page that could not be followed for a while is followed again', async () => {
  await leave()
  let askedCount = 0
  await page.route('**/events', async (route) => {
    askedCount += 1
    await (askedCount === 1 ? route.fulfill({ status: 503 }) : route.continue())
  })
  const answered = page.waitForResponse((answer) => answer.url().endsWith('/events') && answer.ok())
  await page.goto(`${world.baseUrl}/sign-in/me/devices/${computer.id}`)
  await answered
  expect(askedCount).toBeGreaterThanOrEqual(2)
  await page.unroute('**/events')
})

it.each([
  ['a failure', { status: 503, contentType: 'text/html', body: '<main>Nothing goes.</main>' }],
  ['no page', { status: 200, contentType: 'text/html', body: 'Nothing is here.' }],
])('a page keeps what it shows where %s is answered, and looks again', async (_what, failure) => {
  await leave()
  const address = `${world.baseUrl}/sign-in/me/devices/${computer.id}`
  let askedCount = 0
  await page.route(address, async (route) => {
    if (route.request().isNavigationRequest()) return route.continue()
    askedCount += 1
    return askedCount === 1 ? route.fulfill(failure) : route.continue()
  })
  await page.goto(address)
  // What is shown anew in its place would not have it.
  await page.evaluate(`document.querySelector('main').setAttribute('data-kept', '')`)
  await expect.poll(() => askedCount, { timeout: WAIT_MAX_MS }).toBeGreaterThanOrEqual(2)
  expect(await page.locator('html').getAttribute('data-live')).not.toBeNull()
  expect(await page.locator('main[data-kept] h1').count()).toBe(1)
  await page.unroute(address)
  expect(pages.complaints).toEqual([])
})
