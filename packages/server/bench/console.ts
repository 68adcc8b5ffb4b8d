/*
 * The admin console with a large fleet, in a real browser on the real service: how soon the list of devices shows
 * its first rows, how soon a filter shows what it found, whether rows keep up with scrolling, and what open
 * consoles cost the service. All times are taken in the page.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { toConsoleSite } from '../src/organisation/admin-sign-in/console-site.ts'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { launchMeasuredBrowser } from '../test/console/support/launch-browser.ts'
import { createConsoleSession } from '../test/support/console-session.ts'
import { countFrames, timeUntilRows, WATCH_FIRST_ROW } from './console-timing.ts'
import { insertFleet } from './fleet-store.ts'
import { asOwner } from './owner-database.ts'
import { readTreesCpuMs } from './process-cpu.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'
import { percentile } from './statistics.ts'

const DEVICES_MAX = 50_000
const FIRST_VIEWS = 10
const FILTERINGS = 40
const CONSOLES = 10
const CHANGES_PER_SECOND = 5
const FIRST_VIEW_TARGET_MS = 1_500
const FILTER_TARGET_MS = 200
const CPU_SHARE_TARGET = 0.05
const SETTLE_MS = 5_000

/** What ten people look at. */
const OPEN_PAGES = [
  '/',
  '/devices',
  '/devices?query=auth_state%3ABlocked',
  '/issues',
  '/people',
  '/checks',
  '/audit-log',
  '/signals/deliveries',
  '/sign-ins',
  '/devices/1',
] as const

export const consoleInBrowser: Scenario = {
  title: `The console in a browser, ${DEVICES_MAX} devices`,
  run: measure,
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  const devices = Math.round(DEVICES_MAX * run.scale)
  run.progress(`filling a database: ${devices} devices`)
  const service = await startServiceUnderTest(run, {
    prepare: (services) =>
      asOwner(services, (db) =>
        insertFleet(db, {
          devices,
          people: Math.ceil(devices / 2),
          resultsPerDevice: 10,
          issues: devices * 2,
          transitions: devices,
        }),
      ),
  })
  const browser = await launchMeasuredBrowser()
  run.cleanup.add(() => browser.close())
  const open = (): Promise<BrowserContext> => openSignedIn(service, browser)
  return [
    await measureFirstViews(run, service, open),
    await measureFilters(run, service, open),
    await measureScrolling(run, service, open),
    ...(await measureOpenConsoles(run, service, open)),
  ]
}

async function openSignedIn(
  { services, port }: ServiceUnderTest,
  browser: Browser,
): Promise<BrowserContext> {
  const { cookie } = toConsoleSite(services.config.baseUrl)
  const { token } = await createConsoleSession(services.db)
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const url = toUrl({ port }, '')
  await context.addCookies([
    { name: cookie.name, value: token, url, httpOnly: true, sameSite: 'Lax' },
  ])
  return context
}

function toUrl({ port }: Pick<ServiceUnderTest, 'port'>, path: string): string {
  return `http://localhost:${port}/console${path}`
}

type OpenContext = () => Promise<BrowserContext>

/** From the beginning of the navigation of a browser that has never been here to the first rows. */
async function measureFirstViews(
  run: BenchRun,
  service: ServiceUnderTest,
  open: OpenContext,
): Promise<Measurement> {
  const timesMs: number[] = []
  for (let view = 0; view < FIRST_VIEWS; view += 1) {
    run.signal.throwIfAborted()
    run.progress(`first view ${view + 1} of ${FIRST_VIEWS}`)
    const context = await open()
    await context.addInitScript(WATCH_FIRST_ROW)
    const page = await context.newPage()
    await page.goto(toUrl(service, '/devices'))
    await firstLink(page).waitFor()
    timesMs.push(await page.evaluate<number>('window.firstRowAtMs'))
    await context.close()
  }
  return toTimeMeasurement(
    'first view of the devices, nothing cached, p95',
    timesMs,
    FIRST_VIEW_TARGET_MS,
  )
}

/** From a click on a filter, or from Enter in the search, to the rows that it found. */
async function measureFilters(
  run: BenchRun,
  service: ServiceUnderTest,
  open: OpenContext,
): Promise<Measurement> {
  const context = await open()
  const page = await openDevices(service, context)
  const timesMs: number[] = []
  for (let turn = 0; turn < FILTERINGS; turn += 1) {
    run.signal.throwIfAborted()
    run.progress(`filter ${turn + 1} of ${FILTERINGS}`)
    // Each search is another one, so that nothing is answered by what the page has read before.
    const search = `name~"${(700 + turn * 7).toString()}"`
    timesMs.push(await page.evaluate<number>(timeUntilRows(search)))
    await sleep(50)
  }
  await context.close()
  return toTimeMeasurement('filter typed to rows found, p95', timesMs, FILTER_TARGET_MS)
}

/** Down the list for as long as a phase lasts, a screen in three frames: which frames show a place without a row. */
async function measureScrolling(
  run: BenchRun,
  service: ServiceUnderTest,
  open: OpenContext,
): Promise<Measurement> {
  run.progress('scrolling')
  const context = await open()
  const page = await openDevices(service, context)
  const { frames, blankFrames, rows, seconds } = await page.evaluate<ScrolledFrames>(
    countFrames(run.seconds),
  )
  await context.close()
  return {
    what: 'scrolling through the devices, frames with a place that has no row',
    target: 'none',
    measured: { value: blankFrames, unit: 'frames' },
    limit: undefined,
    ratio: undefined,
    isReached: blankFrames === 0,
    details: { frames, frames_per_s: frames / seconds, rows, rows_per_s: rows / seconds },
  }
}

interface ScrolledFrames {
  readonly frames: number
  readonly blankFrames: number
  readonly rows: number
  readonly seconds: number
}

/** What the service and its database use while ten consoles are open, less what they use without. */
async function measureOpenConsoles(
  run: BenchRun,
  service: ServiceUnderTest,
  open: OpenContext,
): Promise<Measurement[]> {
  const idle = await readCpuShare(run, service, 0)
  const changing = await readCpuShare(run, service, CHANGES_PER_SECOND)
  const contexts: BrowserContext[] = []
  for (const path of OPEN_PAGES.slice(0, CONSOLES)) {
    run.progress(`opening ${path}`)
    const context = await open()
    contexts.push(context)
    const page = await context.newPage()
    await page.goto(toUrl(service, path))
    await page.getByRole('heading', { level: 1 }).first().waitFor()
  }
  await sleep(SETTLE_MS)
  const quietOpen = await readCpuShare(run, service, 0)
  const changingOpen = await readCpuShare(run, service, CHANGES_PER_SECOND)
  for (const context of contexts) await context.close()
  return [
    toShareMeasurement('ten open consoles, nothing changes', quietOpen, idle),
    toShareMeasurement(
      `ten open consoles, ${CHANGES_PER_SECOND} devices change each second`,
      changingOpen,
      changing,
    ),
  ]
}

/** The share of a core that the service and its database use while devices change. */
async function readCpuShare(
  run: BenchRun,
  { pid, services }: ServiceUnderTest,
  changesPerSecond: number,
): Promise<number> {
  run.progress(`processor time, ${changesPerSecond} changes a second`)
  const startMs = performance.now()
  const before = await readTreesCpuMs([pid])
  const endMs = startMs + 3 * run.seconds * 1_000
  for (let id = 1; performance.now() < endMs; id += 1) {
    run.signal.throwIfAborted()
    if (changesPerSecond > 0) {
      await services.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
        change.markChanged(`devices:${String(id)}`),
      )
    }
    await sleep(1_000 / Math.max(1, changesPerSecond))
  }
  return ((await readTreesCpuMs([pid])) - before) / (performance.now() - startMs)
}

async function openDevices(service: ServiceUnderTest, context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  await page.goto(toUrl(service, '/devices'))
  await firstLink(page).waitFor()
  return page
}

const firstLink = (page: Page) => page.getByTestId('rows').getByRole('link').first()

function toTimeMeasurement(
  what: string,
  timesMs: readonly number[],
  targetMs: number,
): Measurement {
  const p95 = percentile(timesMs, 0.95)
  return {
    what,
    target: `< ${targetMs} ms`,
    measured: { value: p95, unit: 'ms' },
    limit: undefined,
    ratio: undefined,
    isReached: p95 < targetMs,
    details: {
      count: timesMs.length,
      p50_ms: percentile(timesMs, 0.5),
      max_ms: Math.max(...timesMs),
    },
  }
}

function toShareMeasurement(what: string, open: number, without: number): Measurement {
  const share = open - without
  return {
    what: `${what}, service and database`,
    target: `< ${CPU_SHARE_TARGET * 100} % of a core`,
    measured: { value: share * 100, unit: '% of a core' },
    limit: undefined,
    ratio: undefined,
    isReached: share < CPU_SHARE_TARGET,
    details: { with_consoles_percent: open * 100, without_percent: without * 100 },
  }
}
