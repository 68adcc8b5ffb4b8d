/* What pages of records say where there is little to say. */
import { describe, expect, it } from 'vitest'
import { consoleForTests } from './support/open-console.ts'

const console = consoleForTests()

describe('a page of a record', () => {
  it('names the list above it once, where there is no such record', async () => {
    const page = await console.openPage('/devices/999999')
    const main = page.getByRole('main')
    await main.getByText('There is nothing here').waitFor()
    expect(await main.getByRole('link', { name: 'Devices' }).count()).toBe(1)
    expect(await main.getByText('Devices', { exact: true }).count()).toBe(2)
  })

  it('says of a check without days to fix it that it blocks at once', async () => {
    const page = await (await console.newContext()).newPage()
    await page.route(/\/checks\/1$/, async (route) => {
      if (route.request().resourceType() !== 'fetch') return route.continue()
      const response = await route.fetch()
      const check = (await response.json()) as object
      const configuration = { blocking_enabled: true, grace_period_days: 0 }
      const json = { ...check, blocks_auth_configuration: configuration }
      return route.fulfill({ response, json })
    })
    await page.goto('/console/checks/1')
    await page.getByText('None: it blocks at once').waitFor()
  })
})
