import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BASE_URL, type TestApi } from '../../../test/support/api-app.ts'
import {
  CAMPAIGNS_PATH,
  countsOf,
  createCampaignsApi,
  type CampaignsApi,
  type TestCampaign,
} from '../../../test/support/campaigns-api.ts'
import { insertDevice } from '../../../test/support/factories.ts'
import type { TestPage } from '../../../test/support/read-contract.ts'
import { recordLiveAnswers } from './record-live-answers.ts'

let campaigns: CampaignsApi
let api: TestApi
let key: string
let mac: string
let windows: string
let linux: string

beforeAll(async () => {
  campaigns = await createCampaignsApi()
  ;({ api, key } = campaigns)
  ;({ mac, windows, linux } = campaigns.devices)
})
afterAll(() => campaigns.close())

describe('answers', () => {
  let id: string
  beforeEach(async () => {
    id = (await campaigns.create()).id
  })

  it('are shown in the order in which they come, and counted', async () => {
    await campaigns.answer(linux, id, 1, { rows: [{ days: '3' }, { days: '4' }] })
    await campaigns.answer(mac, id, 1, {
      statusCode: 1,
      message: 'distributed query is denylisted',
    })
    expect(countsOf(await campaigns.show(id))).toEqual([1, 1, 1])
    expect(await campaigns.listResults(id)).toEqual([
      {
        id: expect.any(String) as string,
        result_count: '2',
        error_message: null,
        warning_message: null,
        revision: 1,
        device_name: expect.any(String) as string,
        device_information: { identifier: linux, link: `${BASE_URL}/devices/${linux}` },
        results: [{ days: '3' }, { days: '4' }],
        answered_at: '2026-01-02T03:04:05.678Z',
      },
      {
        id: expect.any(String) as string,
        result_count: '0',
        error_message: 'distributed query is denylisted',
        warning_message: null,
        revision: 1,
        device_name: expect.any(String) as string,
        device_information: { identifier: mac, link: `${BASE_URL}/devices/${mac}` },
        results: [],
        answered_at: '2026-01-02T03:04:05.678Z',
      },
    ])
    expect(await campaigns.listDevices(id, '&state=waiting')).toEqual([windows])
    expect(await campaigns.listDevices(id, '&state=successful')).toEqual([linux])
    expect(await campaigns.listDevices(id, '&state=errored')).toEqual([mac])
  })

  it('show how far the question has come at each device', async () => {
    await campaigns.answer(linux, id, 1, { rows: [{ days: '3' }] })
    const message = 'distributed query is denylisted'
    await campaigns.answer(mac, id, 1, { statusCode: 1, message })
    const progressAt = async (seenAt: Date) => {
      await api.db
        .insertInto('device_contact')
        .values({ device_id: windows, last_seen_at: seenAt })
        .onConflict((conflict) =>
          conflict.column('device_id').doUpdateSet({ last_seen_at: seenAt }),
        )
        .execute()
      const { body } = await api.request<{
        data: { id: string; progress: string; error_message: string | null }[]
      }>(`${CAMPAIGNS_PATH}/${id}/devices`)
      expect(body.data.find((device) => device.id === linux)).toMatchObject({
        progress: 'answered',
      })
      expect(body.data.find((device) => device.id === mac)).toMatchObject({
        progress: 'denylisted',
        error_message: message,
      })
      return body.data.find((device) => device.id === windows)?.progress
    }
    const now = Date.now()
    await api.db
      .updateTable('live_query_campaign')
      .set({ asked_at: new Date(now - 60_000) })
      .where('id', '=', id)
      .execute()
    expect(await progressAt(new Date(now - 120_000))).toBe('queued')
    expect(await progressAt(new Date(now - 30_000))).toBe('sent')
    expect(await progressAt(new Date(now - 3_600_000))).toBe('offline')
  })

  it.each([
    ['error_message:"no such table: x"', 1],
    ['error_message~NO SUCH', 0],
    ['error_message~"NO SUCH"', 1],
    ['warning_message~rows', 1],
    ['warning_message:nothing', 0],
  ])('are found by %s', async (query, count) => {
    await campaigns.answer(mac, id, 1, { statusCode: 1, message: 'no such table: x' })
    const rows = Array.from({ length: 1_001 }, () => ({ a: '1' }))
    await campaigns.answer(linux, id, 1, { rows })
    await campaigns.answer(windows, id, 1, { rows: [] })
    const url = `${CAMPAIGNS_PATH}/${id}/query_results?query=${encodeURIComponent(query)}`
    const { status, body } = await api.request<TestPage>(url)
    expect(status).toBe(query === 'error_message~NO SUCH' ? 400 : 200)
    if (status === 200) expect(body.data).toHaveLength(count)
  })

  it('count once, however often and however late they come', async () => {
    await campaigns.answer(mac, id, 1, { rows: [{ a: '1' }] })
    await campaigns.answer(mac, id, 1, { rows: [{ a: '2' }] })
    await campaigns.answer(mac, id, 1, { statusCode: 1, message: 'denylisted' })
    expect(countsOf(await campaigns.show(id))).toEqual([2, 1, 0])
    expect(await campaigns.listResults(id)).toMatchObject([{ results: [{ a: '1' }] }])
  })

  it('are ignored from a device that is not asked, of another revision and of no campaign', async () => {
    const other = await campaigns.create({ target_all_devices: false, target_macs: true })
    await campaigns.answer(linux, other.id, 1)
    await campaigns.answer(mac, other.id, 2)
    await campaigns.answer(mac, '999999', 1)
    expect(countsOf(await campaigns.show(other.id))).toEqual([1, 0, 0])
    expect(await campaigns.listResults(other.id)).toEqual([])
  })

  it('are ignored after the campaign is deleted', async () => {
    const { body } = await api.request<TestCampaign>(`${CAMPAIGNS_PATH}/${id}`, {
      method: 'DELETE',
      key,
    })
    expect(body).toMatchObject({ id, waiting_devices_count: 3 })
    await campaigns.answer(mac, id, 1)
    expect((await api.request(`${CAMPAIGNS_PATH}/${id}`)).status).toBe(404)
    expect(await campaigns.getAudit('live_query_campaign.deleted')).toMatchObject({
      target_id: id,
      before: { name: 'Uptime' },
      after: null,
    })
    for (const table of ['live_query_target', 'live_query_result', 'live_query_counter'] as const) {
      const left = await api.db
        .selectFrom(table)
        .select('campaign_id')
        .where('campaign_id', '=', id)
        .execute()
      expect(left).toEqual([])
    }
  })

  it('leave with their device, and the counters follow', async () => {
    const gone = await insertDevice(api.db, { platform: 'linux' })
    const waiting = await insertDevice(api.db, { platform: 'linux' })
    const campaign = await campaigns.create()
    await campaigns.answer(gone, campaign.id, 1)
    expect(countsOf(await campaigns.show(campaign.id))).toEqual([4, 1, 0])
    await api.db.deleteFrom('device').where('id', 'in', [gone, waiting]).execute()
    expect(countsOf(await campaigns.show(campaign.id))).toEqual([3, 0, 0])
    expect(await campaigns.listResults(campaign.id)).toEqual([])
  })

  it('of several campaigns arrive in one message, the last one of each revision counting', async () => {
    const second = await campaigns.create()
    await api.runChange(
      { actor: { type: 'System', id: null, name: 'test', email: null } },
      (change) =>
        recordLiveAnswers(change, { forget: () => undefined }, [
          {
            deviceId: mac,
            results: [`live:${second.id}:1`, `live:${id}:1`, 'live:x', `live:${id}:1`].map(
              (queryId, index) => ({
                id: queryId,
                rows: [{ index: `${index}` }],
                statusCode: 0,
                message: '',
              }),
            ),
          },
        ]),
    )
    expect(await campaigns.listResults(id)).toMatchObject([{ results: [{ index: '3' }] }])
    expect(await campaigns.listResults(second.id)).toMatchObject([{ results: [{ index: '0' }] }])
  })

  it('of all devices at once, while the campaign changes and devices go, are counted exactly', async () => {
    const deviceIds: string[] = []
    for (let count = 0; count < 60; count += 1) {
      deviceIds.push(await insertDevice(api.db, { platform: 'linux' }))
    }
    const campaign = await campaigns.create()
    const kept = deviceIds.slice(0, 50)
    await Promise.all([
      ...deviceIds.map((deviceId, index) =>
        campaigns.answer(deviceId, campaign.id, 1, { statusCode: index % 5 === 0 ? 1 : 0 }),
      ),
      campaigns.patch(campaign.id, { sql: 'select * from time' }),
      api.runChange({ actor: { type: 'System', id: null, name: 'test', email: null } }, (change) =>
        change.tx.deleteFrom('device').where('id', 'in', deviceIds.slice(50)).execute(),
      ),
    ])
    await Promise.all(
      kept.map((deviceId, index) =>
        campaigns.answer(deviceId, campaign.id, 2, { statusCode: index % 5 === 0 ? 1 : 0 }),
      ),
    )
    expect(countsOf(await campaigns.show(campaign.id))).toEqual([3, 40, 10])
    expect((await campaigns.listDevices(campaign.id, '&state=errored')).length).toBe(10)
    await api.db.deleteFrom('device').where('id', 'in', kept).execute()
    expect(countsOf(await campaigns.show(campaign.id))).toEqual([3, 0, 0])
  })
})
