/* The device of an admin that is trusted no more while something is typed, in a real browser: nothing typed is lost. */
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { AdminDeviceWorld } from '../support/admin-device-world.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests({ HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1' })

/** Whether sessions need a device that is proven; those here have none. */
const requireDevices = async (isRequired: boolean) =>
  new AdminDeviceWorld(console.api).requireDevices(isRequired)
afterEach(() => requireDevices(false))

const coverOf = (page: Page) => page.getByRole('dialog', { name: 'Your device has to be proven' })

/** The window gets the focus, as when somebody comes back to it. */
async function comeBack(page: Page): Promise<void> {
  await page.evaluate("window.dispatchEvent(new Event('focus'))")
}

/** Saves although the page may be covered by now: what it asks for by itself meets the refusal too. */
async function saveNow(page: Page): Promise<void> {
  const save = page.locator('button', { hasText: 'Create webhook' })
  await save.evaluate((button: { click: () => void }) => button.click())
}

async function writeWebhook(): Promise<Page> {
  const page = await console.openPage('/signals/webhooks/new')
  await page.getByLabel('Name').fill('Alerts')
  await page.getByLabel('URL').fill('http://127.0.0.1:9/hook')
  await page.getByLabel('issues.new').check()
  return page
}

describe('a page on which something is typed, when the device is refused', () => {
  it('stays, covered, and is saved once the device is proven in another window', async () => {
    const page = await writeWebhook()
    await requireDevices(true)
    await saveNow(page)
    await coverOf(page).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'refused-device')
    const opened = page.waitForEvent('popup')
    await coverOf(page).getByRole('link', { name: 'Prove the device in another tab' }).click()
    await (await opened).getByRole('heading', { name: /asks for a trusted device/ }).waitFor()
    await comeBack(page)
    await page.keyboard.press('Escape')
    expect(await coverOf(page).isVisible()).toBe(true)
    await requireDevices(false)
    await comeBack(page)
    await coverOf(page).waitFor({ state: 'hidden' })
    expect(await page.getByLabel('Name').inputValue()).toBe('Alerts')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
  })

  it('is left for the proof by who wants that', async () => {
    const page = await writeWebhook()
    await requireDevices(true)
    await saveNow(page)
    await coverOf(page).getByRole('button', { name: 'Leave without saving' }).click()
    await page.waitForURL(/trusted-device\?next=/)
  })

  it('keeps its form when it is refused while the record is read again', async () => {
    const other = await console.otherAdmin()
    const { id } = await other.send<{ readonly id: string }>('POST', '/webhooks', {
      ...{ name: 'Before', url: 'http://127.0.0.1:9/hook', events: ['issues.new'] },
    })
    const page = await console.openPage(`/signals/webhooks/${id}/edit`)
    await page.getByRole('textbox', { name: 'Name' }).fill('Mine')
    await page.getByRole('img', { name: /^Live:/ }).waitFor()
    await page.route(`**/webhooks/${id}`, async (route) =>
      route.fulfill({
        status: 403,
        json: { code: 'trusted_device_required', message: 'The device is not trusted.' },
      }),
    )
    await other.send('PATCH', `/webhooks/${id}`, { description: 'Theirs' })
    await page.getByRole('status').filter({ hasText: 'The device is not trusted.' }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Mine')
  })
})

describe('a page on which nothing is typed, when the device is refused', () => {
  it('leads to the proof at once, which knows where to go afterwards', async () => {
    const page = await console.openPage('/devices')
    await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
    await requireDevices(true)
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await page.waitForURL(/trusted-device\?next=%2Fconsole%2F/)
  })
})

describe('the sign-in of somebody whose device is not proven', () => {
  it('says who they are, and leads to the proof and nowhere else', async () => {
    await requireDevices(true)
    const page = await (await console.newContext()).newPage()
    await page.goto('/console/sign-in?next=http://127.0.0.1:9/elsewhere')
    await page.getByText('Your device is to be proven next.').waitFor()
    const goOn = page.getByRole('link', { name: 'Go on' })
    expect(await goOn.getAttribute('href')).toBe('/console/')
    await goOn.click()
    await page.getByRole('heading', { name: /asks for a trusted device/ }).waitFor()
  })
})
