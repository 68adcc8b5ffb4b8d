import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  countsOf,
  createCampaignsApi,
  type CampaignsApi,
} from '../../../test/support/campaigns-api.ts'
import { insertDevice } from '../../../test/support/factories.ts'
import { onOtherStripe, readStripe } from '../../../test/support/other-stripe.ts'
import { insertOwedAnswers, type StorableAnswer } from './live-answer-store.ts'
import { listOpenCampaignIds } from './open-campaign-store.ts'

const GROUP = 20
const AT = new Date('2026-01-02T03:04:05Z')

let campaigns: CampaignsApi
beforeAll(async () => {
  campaigns = await createCampaignsApi()
})
afterAll(() => campaigns.close())

const toAnswers = (campaign_id: string, deviceIds: readonly string[]) =>
  deviceIds.map((device_id): StorableAnswer => ({
    device_id,
    campaign_id,
    revision: 1,
    state: 'successful',
    rows: [],
    row_count: 0,
    error_message: null,
    warning_message: null,
  }))

it('two groups of answers to one live query do not wait for the commit of each other, and are counted exactly', async () => {
  const { db } = campaigns.api
  const { mac, windows, linux } = campaigns.devices
  const deviceIds: string[] = []
  for (let count = 0; count < 2 * GROUP; count += 1) {
    deviceIds.push(await insertDevice(db, { platform: 'linux' }))
  }
  const { id } = await campaigns.create()
  const [first, second] = [deviceIds.slice(0, GROUP), deviceIds.slice(GROUP)]
  await db.transaction().execute(async (one) => {
    await insertOwedAnswers(one, toAnswers(id, first), AT)
    await onOtherStripe(db, await readStripe(one), async (other) => {
      await sql`set local lock_timeout = '5s'`.execute(other)
      await insertOwedAnswers(other, toAnswers(id, second), AT)
    })
  })
  expect(countsOf(await campaigns.show(id))).toEqual([3, 2 * GROUP, 0])
  expect(await listOpenCampaignIds(db)).toEqual([id])

  for (const device of [mac, windows, linux]) await campaigns.answer(device, id, 1)
  expect(countsOf(await campaigns.show(id))).toEqual([0, 2 * GROUP + 3, 0])
  expect(await listOpenCampaignIds(db)).toEqual([])
})
