import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHttpApp } from '../../src/platform/http/create-app.ts'
import { SILENT_LOGGER } from '../../src/platform/silent-logger.ts'
import { showAttempt } from '../../src/sign-in/pages/attempt/show-attempt.ts'
import { createPageAssets } from '../../src/sign-in/pages/kit/page-assets.ts'
import { mountPageAssets } from '../../src/sign-in/pages/page-asset-routes.ts'
import { mountPages } from '../../src/sign-in/pages/page-surface.ts'
import { launchBrowser } from '../console/support/launch-browser.ts'
import { ATTEMPT_STAGES, attemptViewAt } from './attempt-views.ts'
import { expectGood, lookAtPages, type LookedAtPages } from './looked-at-pages.ts'

let http: FastifyInstance
let browser: Browser
let pages: LookedAtPages
let baseUrl: string

/** Serves every step of a sign-in as it stands; nothing of it is really asked. */
beforeAll(async () => {
  const assets = createPageAssets()
  http = createHttpApp({
    logger: SILENT_LOGGER,
    baseUrl: 'http://localhost',
    limits: { bodyBytesMax: 1_000 },
  })
  const brand = { name: 'Acme Robotics', logoVersion: null, colour: null }
  mountPageAssets(http, { assets, findLogo: async () => null })
  mountPages(http, { baseUrl: 'http://localhost', assets, readBrand: async () => brand }, [
    {
      method: 'GET',
      path: '/sign-in/attempts/:id',
      handler: async ({ params, language, query }) => {
        const isStaying = query['stay'] === 'yes'
        const view = attemptViewAt(params['id'] ?? '')
        const now = new Date()
        const shown = showAttempt({ view, language, now, isStaying })
        const { title, body, goesOn } = shown
        const content = { title, body, ...(goesOn && { goesOn }) }
        return { kind: 'page', content }
      },
    },
  ])
  await http.listen({ port: 0, host: 'localhost' })
  baseUrl = `http://localhost:${(http.server.address() as AddressInfo).port}`
  browser = await launchBrowser()
  pages = lookAtPages(browser)
})

afterAll(async () => {
  await browser.close()
  await http.close()
})

describe.each(['en-GB', 'de-DE'])('in %s', (locale) => {
  it.each(ATTEMPT_STAGES)('a sign-in at %s hinders nobody and fits every window', async (stage) => {
    const page = await pages.open(`${baseUrl}/sign-in/attempts/${stage}?stay=yes`, { locale })
    await expectGood(page, `${stage}-${locale.slice(0, 2)}`)
    await page.context().close()
    expect(pages.complaints).toEqual([])
  })
})

it('without scripts everything can be read and sent', async () => {
  const page = await pages.open(`${baseUrl}/sign-in/attempts/blocked`, { javaScriptEnabled: false })
  expect(await page.locator('h1').textContent()).toContain('You can sign in as soon as')
  expect(await page.getByRole('button', { name: 'I have fixed it' }).count()).toBe(2)
  // What only a script does is not offered.
  expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
  await page.context().close()
})

it('where it ended well a sign-in goes on by itself, and stays for whoever wants it to', async () => {
  const going = await pages.open(`${baseUrl}/sign-in/attempts/done`)
  await going.waitForURL('**/return')
  await going.context().close()
  const staying = await pages.open(`${baseUrl}/sign-in/attempts/done`)
  await staying.getByRole('button', { name: 'Stay here' }).click()
  expect(await staying.locator('[data-going]:visible').count()).toBe(0)
  await staying.context().close()
})

it('times are told in the zone of the reader', async () => {
  const page = await pages.open(`${baseUrl}/sign-in/attempts/warned`, {
    timezoneId: 'Asia/Tokyo',
    locale: 'en-GB',
  })
  await expect.poll(() => page.locator('time').first().textContent()).not.toContain('UTC')
  await page.context().close()
})
