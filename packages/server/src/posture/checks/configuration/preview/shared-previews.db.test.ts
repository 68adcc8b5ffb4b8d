import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestApi,
  type TestAnswer,
  type TestApi,
  type TestRefusal,
} from '../../../../../test/support/api-app.ts'
import { createPosture, FAIL, type Posture } from '../../../../../test/support/posture-fixtures.ts'
import { checkConfigurationRoutes } from '../check-configuration-routes.ts'
import { configurationPreviewRoutes } from './preview-routes.ts'
import { createPreviewer, WAITING_MAX } from './shared-previews.ts'

const FRESH_MS = 10_000

interface Preview extends TestRefusal {
  readonly as_of: string
  readonly moving_count: number
  readonly moves: readonly { readonly device_id: string }[]
  readonly next_after: string | null
}

let api: TestApi
let posture: Posture
let key: string
let checkId: string

beforeAll(async () => {
  api = await createTestApi(({ db, clock, runChange, addPublisher }) => {
    posture = createPosture(db)
    addPublisher(posture.announce)
    return [
      ...checkConfigurationRoutes({ db, runChange }),
      ...configurationPreviewRoutes(createPreviewer({ db, clock, freshMs: FRESH_MS })),
    ]
  })
  key = await api.createKey(['Manage Checks'])
  checkId = await posture.insertCheck({ remediation_strategy: 'report_only' })
  for (let count = 0; count < 3; count += 1) await addFailingDevice()
})
afterAll(() => api.close())

const addFailingDevice = async () =>
  posture.report(await posture.insertDevice(), { [checkId]: FAIL })

const preview = (payload: object, query = '') =>
  api.request<Preview>(`/checks/${checkId}/configurations/preview${query}`, {
    method: 'POST',
    key,
    payload,
  })
const BLOCKING = { remediation_strategy: 'block_immediately' }

describe('a preview', () => {
  it('stands for some seconds, so that its pages are those of one', async () => {
    const first = (await preview(BLOCKING, '?per_page=2')).body
    await addFailingDevice()
    api.clock.advance(FRESH_MS - 1)
    const second = (await preview(BLOCKING, `?after=${first.next_after}`)).body
    expect([first.moves.length, second.moves.length, second.next_after]).toEqual([2, 1, null])
    expect(second.as_of).toBe(first.as_of)
    api.clock.advance(1)
    const anew = (await preview(BLOCKING)).body
    expect([anew.moving_count, anew.as_of]).toEqual([4, api.clock.now().toISOString()])
  })

  it('is another one for another body, and once the configuration was changed', async () => {
    const first = (await preview({ ...BLOCKING, rollout_percent: 100 })).body
    const other = (await preview({ ...BLOCKING, rollout_percent: 0 })).body
    expect([first.moving_count, other.moving_count]).toEqual([4, 0])
    await api.request(`/checks/${checkId}/configurations`, {
      method: 'PATCH',
      key,
      payload: BLOCKING,
    })
    expect((await preview({ ...BLOCKING, rollout_percent: 100 })).body.moving_count).toBe(0)
  })

  it('is derived one at a time; of those who ask for others at once, few wait', async () => {
    api.clock.advance(FRESH_MS)
    const ask = (percent: number) => preview({ rollout_percent: percent })
    const percents = Array.from({ length: 12 }, (_, index) => index)
    const refused: TestAnswer<Preview>[] = []
    const blocker = await api.db.startTransaction().execute()
    // No preview ends before those who are too many have their answer.
    await sql`lock table issue in access exclusive mode`.execute(blocker)
    const asked = percents.map(async (percent) => {
      const answer = await ask(percent)
      if (answer.status !== 200) refused.push(answer)
    })
    const tooMany = percents.length - 1 - WAITING_MAX
    await expect.poll(() => refused.length).toBe(tooMany)
    await blocker.rollback().execute()
    await Promise.all(asked)
    expect(refused).toHaveLength(tooMany)
    for (const { status, body, headers } of refused) {
      expect([status, body.code, Number(headers['retry-after'])]).toEqual([429, 'rate_limited', 2])
    }
    api.clock.advance(FRESH_MS)
    const same = await Promise.all(percents.map(() => ask(50)))
    expect(new Set(same.map(({ status, body }) => `${status} ${body.as_of}`)).size).toBe(1)
    expect(same[0]?.status).toBe(200)
  })
})
