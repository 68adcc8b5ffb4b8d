import type { Selectable } from 'kysely'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { liveQueryRoutes } from '../../src/posture/live-queries/campaign-routes.ts'
import { recordLiveAnswers } from '../../src/posture/live-queries/record-live-answers.ts'
import { BASE_URL, createTestApi, type TestApi } from './api-app.ts'
import { insertDevice } from './factories.ts'
import type { TestPage } from './read-contract.ts'
import type { Schema } from '../../src/schema/schema.ts'

export const CAMPAIGNS_PATH = '/live_query_campaigns'

type AuditEntry = Selectable<Schema['audit_entry']>

/** A campaign as a test reads it. */
export interface TestCampaign {
  readonly id: string
  readonly osquery_sql: string
  readonly published: boolean
  readonly revision: number
  readonly successful_devices_count: number
  readonly errored_devices_count: number
  readonly waiting_devices_count: number
  readonly warnings: readonly { readonly platform: string; readonly message: string }[]
}

export interface TestLiveAnswer {
  readonly rows?: object[]
  readonly statusCode?: number
  readonly message?: string
}

export interface CampaignsApi {
  readonly api: TestApi
  /** A key that may create live queries. */
  readonly key: string
  /** Devices that run an agent; there is one more that runs none, and one whose agent is switched off. */
  readonly devices: { readonly mac: string; readonly windows: string; readonly linux: string }
  /** Creates a campaign, of all devices unless `values` say otherwise; throws when that is refused. */
  create(values?: object): Promise<TestCampaign>
  /** Throws when it is refused. */
  patch(id: string, payload: object): Promise<TestCampaign>
  show(id: string): Promise<TestCampaign>
  /** Records an answer of a device as the intake does. */
  answer(deviceId: string, id: string, revision: number, answer?: TestLiveAnswer): Promise<void>
  /** The ids of the devices of a campaign; `query` begins with an ampersand. */
  listDevices(id: string, query?: string): Promise<string[]>
  listResults(id: string): Promise<Record<string, unknown>[]>
  /** The latest audit entry of this action. */
  getAudit(
    action: string,
  ): Promise<Pick<AuditEntry, 'before' | 'after' | 'actor_name' | 'target_id'>>
  close(): Promise<void>
}

/** The routes of live queries with five devices. Close it in `afterAll`. */
export async function createCampaignsApi(): Promise<CampaignsApi> {
  const api = await createTestApi(({ db, runChange }) =>
    liveQueryRoutes({
      db,
      runChange,
      baseUrl: BASE_URL,
      refusedNames: new Set(['curl', 'carves']),
    }),
  )
  const key = await api.createKey(['Create Live Query'])
  const mac = await insertDevice(api.db, { platform: 'darwin' })
  const windows = await insertDevice(api.db, { platform: 'windows' })
  const linux = await insertDevice(api.db, { platform: 'linux' })
  await insertDevice(api.db, { platform: 'ios' })
  await insertDevice(api.db, { platform: 'linux', agent_disabled_at: new Date() })
  async function send(method: 'POST' | 'PATCH', path: string, payload: object) {
    const url = `${CAMPAIGNS_PATH}${path}`
    const { status, body } = await api.request<TestCampaign>(url, { method, key, payload })
    if (status !== 200) throw new Error(`no campaign: ${status} ${JSON.stringify(body)}`)
    return body
  }
  return {
    api,
    key,
    devices: { mac, windows, linux },
    create: (values = {}) => send('POST', '', { ...PLAIN_CAMPAIGN, ...values }),
    patch: (id, payload) => send('PATCH', `/${id}`, payload),
    show: async (id) => (await api.request<TestCampaign>(`${CAMPAIGNS_PATH}/${id}`)).body,
    answer: (deviceId, id, revision, answer = {}) =>
      api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
        recordLiveAnswers(change, { forget: () => undefined }, [
          {
            deviceId: deviceId,
            results: [
              { id: `live:${id}:${revision}`, rows: [], statusCode: 0, message: '', ...answer },
            ],
          },
        ]),
      ),
    async listDevices(id, query = '') {
      const url = `${CAMPAIGNS_PATH}/${id}/devices?per_page=100${query}`
      return (await api.request<TestPage>(url)).body.data.map((device) => device.id)
    },
    async listResults(id) {
      const url = `${CAMPAIGNS_PATH}/${id}/query_results`
      return (await api.request<{ data: Record<string, unknown>[] }>(url)).body.data
    },
    getAudit: (action) =>
      api.db
        .selectFrom('audit_entry')
        .select(['before', 'after', 'actor_name', 'target_id'])
        .where('action', '=', action)
        .orderBy('sequence', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow(),
    close: () => api.close(),
  }
}

/** What a campaign is created from unless a test says otherwise. */
export const PLAIN_CAMPAIGN = {
  name: 'Uptime',
  sql: 'select * from uptime',
  target_all_devices: true,
}

/** How many devices of a campaign have yet to answer, have answered, and could not. */
export function countsOf(campaign: TestCampaign): [number, number, number] {
  return [
    campaign.waiting_devices_count,
    campaign.successful_devices_count,
    campaign.errored_devices_count,
  ]
}
