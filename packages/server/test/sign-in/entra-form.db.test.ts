/* The page that takes an answer to Entra, in a real browser under the policy of the pages. */
import { createServer, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createHttpApp } from '../../src/platform/http/create-app.ts'
import { SILENT_LOGGER } from '../../src/platform/silent-logger.ts'
import { toEntraPage } from '../../src/sign-in/entra/entra-routes.ts'
import { createPageAssets } from '../../src/sign-in/pages/kit/page-assets.ts'
import { mountPageAssets } from '../../src/sign-in/pages/page-asset-routes.ts'
import { mountPages } from '../../src/sign-in/pages/page-surface.ts'
import { launchBrowser } from '../console/support/launch-browser.ts'

let browser: Browser
let close: () => Promise<unknown>
let baseUrl: string
let entraUrl: string
const received: string[] = []

beforeAll(async () => {
  const entra = createServer((request: IncomingMessage, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      if (request.method === 'POST') received.push(body)
      response.end('<!doctype html><title>Entra</title>')
    })
  }).listen(0, '127.0.0.1')
  await once(entra, 'listening')
  entraUrl = `http://127.0.0.1:${(entra.address() as AddressInfo).port}/common/federation`
  const http = createHttpApp({
    logger: SILENT_LOGGER,
    baseUrl: 'http://localhost',
    limits: { bodyBytesMax: 65_536 },
  })
  const assets = createPageAssets()
  const brand = { name: 'Example', logoVersion: null, colour: null }
  mountPageAssets(http, { assets, findLogo: async () => null })
  const site = { baseUrl: 'http://localhost', assets, readBrand: async () => brand }
  const fields = { id_token: 'a.b.c', state: 'of entra' }
  mountPages(http, site, [
    {
      method: 'GET',
      path: '/sign-in/answer',
      handler: async () => toEntraPage({ action: entraUrl, fields }),
    },
  ])
  await http.listen({ port: 0, host: '127.0.0.1' })
  baseUrl = `http://localhost:${(http.server.address() as AddressInfo).port}`
  browser = await launchBrowser('127.0.0.1')
  close = async () => {
    await browser.close()
    await http.close()
    entra.close()
  }
})
afterAll(async () => close())

it('goes to Entra by itself, as a form, and breaks no rule of the page', async () => {
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  await page.goto(`${baseUrl}/sign-in/answer`)
  await page.waitForURL(entraUrl)
  expect(Object.fromEntries(new URLSearchParams(received[0]))).toEqual({
    id_token: 'a.b.c',
    state: 'of entra',
  })
  expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([])
})

it('has a button where no script runs', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(`${baseUrl}/sign-in/answer`)
  const count = received.length
  await page.getByRole('button').click()
  await page.waitForURL(entraUrl)
  expect(received).toHaveLength(count + 1)
})
