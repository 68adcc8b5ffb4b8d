/* Lists that were read once and cannot be read again, in a real browser: what is seen stays, and may be out of date. */
import { afterAll, beforeAll, describe, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import type { LiveTopic } from '../../src/schema/live-topics.ts'
import { createContractWorld, type ContractWorld } from '../contract/contract-world.ts'
import { toContractService } from '../contract/contract-service.ts'
import { consoleForTests, expectAccessible, expectFitting } from './support/open-console.ts'

const console = consoleForTests({
  HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
  HELIOGRAPH_LOG_LEVEL: 'error',
})
let world: ContractWorld

beforeAll(async () => {
  world = await createContractWorld(await toContractService(console.api))
  const { call, ids } = world
  await call('PATCH', `/checks/${ids.check}/configurations`, { snooze_disallowed: true })
})
afterAll(() => world.close())

type Ids = ContractWorld['ids']

interface Trial {
  readonly page: (ids: Ids) => string
  /** What the list is read from. */
  readonly list: (ids: Ids) => string
  /** What changes, as it is told to the pages. */
  readonly topic: (ids: Ids) => LiveTopic
}

const TRIALS: Readonly<Record<string, Trial>> = {
  'the changes of a configuration': {
    page: ({ check }) => `/checks/${check}/strategy`,
    list: ({ check }) => `**/checks/${check}/configurations/history*`,
    topic: ({ check }) => `checks:${check}`,
  },
  'the results of a report': {
    page: ({ reportingQuery }) => `/reports/${reportingQuery}`,
    list: ({ reportingQuery }) => `**/reporting/queries/${reportingQuery}/results*`,
    topic: ({ reportingQuery }) => `reporting_queries:${reportingQuery}`,
  },
  'the answers to a live query': {
    page: ({ campaign }) => `/live-queries/${campaign}`,
    list: ({ campaign }) => `**/live_query_campaigns/${campaign}/query_results*`,
    topic: ({ campaign }) => `live_query_campaigns:${campaign}`,
  },
  'the checks of a device': {
    page: ({ device }) => `/devices/${device}?tab=checks`,
    list: ({ device }) => `**/devices/${device}/check_results*`,
    topic: ({ device }) => `devices:${device}`,
  },
  'what happened to a device': {
    page: ({ device }) => `/devices/${device}`,
    list: ({ device }) => `**/devices/${device}/timeline*`,
    topic: ({ device }) => `devices:${device}`,
  },
}

describe('a list that could not be read again says that it may be out of date, until it could', () => {
  it.each(Object.entries(TRIALS))('%s', async (name, trial) => {
    const { ids } = world
    const page = await console.openPage('/settings')
    await page.getByRole('img', { name: /Live/ }).waitFor()
    const list = trial.list(ids)
    const read = page.waitForResponse(list)
    await page.goto(`/console${trial.page(ids)}`)
    await read
    await page.getByRole('img', { name: /Live/ }).waitFor()
    await page.route(list, (route) =>
      route.fulfill({
        status: 503,
        json: { error: 'x', code: 'unavailable', message: 'The database is away.' },
      }),
    )
    await console.api.services.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
      change.markChanged(trial.topic(ids)),
    )
    const bar = page.getByRole('status').filter({ hasText: 'may be out of date' })
    await bar.getByText('The database is away.').waitFor()
    await expectAccessible(page)
    await expectFitting(page, `stale ${name}`.replaceAll(' ', '-'))
    await page.unroute(list)
    // A list that is read again from time to time may have been so already, and the bar be gone.
    await bar
      .getByRole('button', { name: 'Try again' })
      .evaluateAll((buttons: { click: () => void }[]) => {
        for (const button of buttons) button.click()
      })
    await bar.waitFor({ state: 'detached' })
  })
})
