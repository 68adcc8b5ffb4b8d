import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  expectAccessible,
  expectFitting,
  openConsole,
  type ConsoleTest,
} from './support/open-console.ts'

let console: ConsoleTest
beforeAll(async () => {
  console = await openConsole()
})
afterEach(() => expect(console.complaints).toEqual([]))
afterAll(() => console.close())

describe('the frame of the console', () => {
  it('leads to its pages by the navigation, by keys and by the palette', async () => {
    const page = await console.openPage('/devices')
    await page.getByRole('heading', { name: 'Devices' }).waitFor()
    await page.getByRole('link', { name: 'Checks' }).click()
    await page.getByRole('heading', { name: 'Checks', level: 1 }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('p')
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Search or jump to …').fill('jwks')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Signing keys', level: 1 }).waitFor()
  })

  it('fits wide and narrow windows and hinders nobody', async () => {
    const page = await console.openPage('/devices')
    await page.getByRole('heading', { name: 'Devices' }).waitFor()
    await expectAccessible(page)
    await expectFitting(page, 'devices')
  })

  it('shows nothing without a session', async () => {
    const page = await console.openPage('/devices', null)
    await page.waitForURL(/\/console\/sign-in\?next=/)
  })
})
