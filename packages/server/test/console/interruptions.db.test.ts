/*
 * What happens to a page that is open: its session ends, the service is started anew behind it, and its network
 * is slow while somebody clicks twice.
 */
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { createTestKey } from '../support/api-keys.ts'
import { closeHttp, composeProcess } from '../support/composed-api.ts'
import { insertCheck, insertDevice, insertReenrollmentRequest } from '../support/factories.ts'
import { consoleForTests } from './support/open-console.ts'
import { sendAs } from './support/send-as.ts'

const MINUTE_MS = 60_000

const console = consoleForTests()

describe('a page that nobody uses', () => {
  it('says of what it reads by itself that nobody asked for it, until somebody does something', async () => {
    const context = await console.newContext()
    const page = await context.newPage()
    // Only what the scripts of the page take for the time.
    await page.clock.install()
    const marks: (string | undefined)[] = []
    page.on('request', (request) => {
      if (new URL(request.url()).pathname !== '/devices') return
      marks.push(request.headers()['x-heliograph-unattended'])
    })
    await page.goto('/console/devices')
    await page.getByRole('link', { name: 'ada-macbook' }).first().waitFor()
    expect(new Set(marks)).toEqual(new Set([undefined]))
    const rename = async (name: string) => {
      const begun = marks.length
      const { db, runChange } = console.api.services
      await db.updateTable('device').set({ name }).where('id', '=', device).execute()
      await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
        change.markChanged(`devices:${device}`),
      )
      await expect
        .poll(async () => {
          await page.clock.fastForward(1_000)
          return marks.length
        })
        .toBeGreaterThan(begun)
      await page.getByRole('link', { name }).first().waitFor()
      return marks.slice(begun)
    }
    expect(new Set(await rename('ada-1'))).toEqual(new Set([undefined]))
    await page.clock.fastForward(90_000)
    expect(new Set(await rename('ada-2'))).toEqual(new Set(['1']))
    await page.keyboard.press('Shift')
    expect(new Set(await rename('ada-macbook'))).toEqual(new Set([undefined]))
    await context.close()
  })
})
let device: string
let check: string

beforeAll(async () => {
  const { db } = console.api.services
  device = await insertDevice(db, { name: 'ada-macbook', node_key_hash: Buffer.alloc(32, 1) })
  check = await insertCheck(db, { remediation_strategy: 'report_only' })
  await insertReenrollmentRequest(db, device)
})

/** The parts of an action: what is filled in before, and the button that sends it. */
interface Trial {
  readonly path: () => string
  readonly prepare: (page: Page) => Promise<void>
  /** The button, in a dialog where one is open. */
  readonly button: string
  readonly request: RegExp
}

const TRIALS: Readonly<Record<string, Trial>> = {
  'running the checks of a device again': {
    path: () => `/devices/${device}?tab=checks`,
    prepare: async () => undefined,
    button: 'Run all checks',
    request: /check_refreshes$/,
  },
  'saving a note': {
    path: () => `/devices/${device}`,
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Add a note' }).click()
      await page.getByRole('dialog').getByRole('textbox', { name: 'Note' }).fill('Spare')
    },
    button: 'Save',
    request: /devices\/\d+$/,
  },
  'creating a group': {
    path: () => '/groups',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'New group' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('Laptops')
    },
    button: 'Create group',
    request: /device_groups$/,
  },
  'creating a draft': {
    path: () => '/checks/drafts',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'New draft' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('Screen lock')
    },
    button: 'New draft',
    request: /custom_check_drafts$/,
  },
  'saving a strategy': {
    path: () => `/checks/${check}/strategy`,
    prepare: async (page) => {
      await page.getByLabel('Notify only').check()
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('dialog').waitFor()
    },
    button: 'Save the strategy',
    request: /configurations$/,
  },
  'deciding a request': {
    path: () => '/requests?kind=reenrollment',
    prepare: async (page) => {
      await page.getByRole('checkbox').first().check()
      await page.getByRole('button', { name: 'Deny' }).click()
      await page.getByRole('dialog').waitFor()
    },
    button: 'Deny',
    request: /reenrollment_requests\//,
  },
}

describe('on a slow network a button says that it works, and nothing is sent twice', () => {
  let page: Page
  beforeAll(async () => {
    page = await console.openPage('/settings')
  })
  afterAll(() => page.close())

  it.each(Object.entries(TRIALS))('%s', async (_name, { path, prepare, button, request }) => {
    await page.goto(`/console${path()}`)
    let sent = 0
    let letThrough: () => void = () => undefined
    const held = new Promise<void>((resolve) => (letThrough = resolve))
    const hold = async (route: Route) => {
      if (route.request().method() !== 'GET') {
        sent += 1
        await held
      }
      await route.continue()
    }
    await page.route(request, hold)
    await prepare(page)
    const dialog = page.getByRole('dialog')
    const within = (await dialog.count()) > 0 ? dialog : page
    const send = within.getByRole('button', { name: button, exact: true })
    await expect.poll(() => send.isEnabled()).toBe(true)
    // Twice in one go, before the page can have drawn anything.
    await send.evaluate((element: { click: () => void }) => {
      element.click()
      element.click()
    })
    await within.locator('[data-loading]').first().waitFor()
    letThrough()
    await page.getByRole('alert').filter({ hasText: /./ }).first().waitFor()
    expect(sent).toBe(1)
    await page.unroute(request, hold)
  })
})

describe('a session that ends', () => {
  it('leads to the sign-in, whose address knows the way back', async () => {
    const page = await console.openPage(`/devices/${device}?tab=checks`)
    await page.getByRole('img', { name: /Live/ }).waitFor()
    const { services, http } = console.api
    const { id } = await services.db
      .selectFrom('admin_session')
      .select('id')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
    const key = await createTestKey(services, ['Manage Admins'])
    const ended = await http.inject({
      method: 'DELETE',
      url: `/admin_sessions/${id}`,
      headers: { authorization: `Bearer ${key}` },
    })
    expect(ended.statusCode).toBeLessThan(300)
    await page.waitForURL(/sign-in\?next=/)
    expect(new URL(page.url()).searchParams.get('next')).toBe(
      `/console/devices/${device}?tab=checks`,
    )
  })
})

describe('a service that is away', () => {
  it('is told of once, however often something is tried', async () => {
    const page = await console.openPage(`/devices/${device}?tab=checks`)
    await page.route('**/*', (route) =>
      route.request().method() === 'GET' ? route.continue() : route.abort(),
    )
    const run = page.getByRole('main').getByRole('button', { name: 'Run all checks' })
    for (let tries = 0; tries < 2; tries += 1) {
      const failed = page.waitForEvent('requestfailed')
      await run.click()
      await failed
      await page.getByText('This could not be done').first().waitFor()
      await expect.poll(() => run.isEnabled()).toBe(true)
    }
    expect(await page.getByText('This could not be done').count()).toBe(1)
  })
})

describe('a browser without a network', () => {
  it('says so of what is saved at once, and sends nothing later that was cancelled', async () => {
    const page = await console.openPage(`/devices/${device}`)
    await page.getByRole('button', { name: /^(Add a|Edit the) note$/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Note' }).fill('Given up')
    await page.getByRole('img', { name: /Live/ }).waitFor()
    await page.context().setOffline(true)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect
      .poll(() => dialog.getByRole('alert').allInnerTexts())
      .toEqual([expect.stringContaining('The service cannot be reached.')])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.method()))
    await page.context().setOffline(false)
    await expect.poll(() => sent.includes('GET')).toBe(true)
    await page.getByRole('img', { name: /Live/ }).waitFor()
    expect(sent).not.toContain('PATCH')
  })
})

describe('how long ago something was', () => {
  /** A page whose time its tests set, at the settings, and the path of an application that was made just now. */
  async function openSettings(
    name: string,
  ): Promise<{ readonly page: Page; readonly path: string }> {
    const page = await (await console.newContext()).newPage()
    await page.clock.install()
    await page.goto('/console/settings')
    await page.getByRole('heading', { level: 1, name: 'Settings', exact: true }).waitFor()
    const application = { name, redirect_uris: ['https://wiki.example.com/callback'] }
    const { id } = await sendAs<{ readonly id: string }>(
      page,
      'POST',
      '/sign_in_applications',
      application,
    )
    return { page, path: `/console/settings/sign-in/applications/${id}?tab=setup` }
  }

  it('is right at once on a page that follows one without times', async () => {
    const { page, path } = await openSettings('Wiki')
    await page.clock.fastForward(10 * MINUTE_MS)
    await page.evaluate(`history.pushState(null, '', '${path}')`)
    const time = page.locator('time').first()
    await time.waitFor()
    expect(await time.innerText()).toMatch(/^1\d min\. ago$/)
  })

  it('is never said to be still to come when it was after the page last looked at its clock', async () => {
    const { page } = await openSettings('Handbook')
    await page.goto('/console/settings/sign-in')
    await page.getByRole('link', { name: 'Handbook' }).waitFor()
    await page.clock.fastForward(12_000)
    const at = new Date(Date.now() + 10_000).toISOString()
    await page.route('**/sign_in_applications?**', async (route) => {
      const answer = await route.fetch()
      const body = (await answer.json()) as { readonly data: readonly object[] }
      const data = body.data.map((each) => ({ ...each, created_at: at }))
      await route.fulfill({ json: { ...body, data } })
    })
    await sendAs(page, 'POST', '/sign_in_applications', {
      ...{ name: 'Mail', redirect_uris: ['https://mail.example.com/callback'] },
    })
    await page.getByRole('link', { name: 'Mail' }).waitFor()
    const row = page.getByRole('row').filter({ hasText: 'Mail' })
    expect(await row.locator('time').allInnerTexts()).toContain('just now')
  })

  it('is right at once in a window that comes to the front', async () => {
    const { page, path } = await openSettings('Intranet')
    await page.goto(path)
    const time = page.locator('time').first()
    await time.waitFor()
    // Timers of a window in the background hardly run.
    await page.clock.setSystemTime(Date.now() + 30 * MINUTE_MS)
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    expect(await time.innerText()).toMatch(/^3\d min\. ago$/)
  })
})

describe('a service that is started anew', () => {
  it('leaves a list and what is being written as they are, and the list goes on by itself', async () => {
    const [list, form] = [
      await console.openPage('/devices'),
      await console.openPage(`/checks/${check}/strategy`),
    ]
    await list.getByRole('link', { name: 'ada-macbook' }).waitFor()
    await form.getByLabel('Block at once').check()
    const { http, services, parts } = console.api
    for (const { endWaiting } of parts.list) endWaiting?.()
    http.server.closeAllConnections()
    await closeHttp(http)
    await list.getByRole('img', { name: /is cut/ }).waitFor()
    expect(await list.getByRole('link', { name: 'ada-macbook' }).isVisible()).toBe(true)
    await insertDevice(services.db, { name: 'bo-laptop' })
    const again = await composeProcess(services)
    await again.supervisor.start()
    await again.http.listen({ port: Number(new URL(console.baseUrl).port), host: 'localhost' })
    await list.getByRole('link', { name: 'bo-laptop' }).waitFor()
    expect(await form.getByLabel('Block at once').isChecked()).toBe(true)
    await form.getByRole('heading', { name: 'What saving would do' }).waitFor()
    await Promise.all([list.close(), form.close()])
    await again.supervisor.stop()
  })
})
