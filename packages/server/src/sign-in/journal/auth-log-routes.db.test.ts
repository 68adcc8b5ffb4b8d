import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL, createTestApi, type TestApi } from '../../../test/support/api-app.ts'
import {
  insertAuthLogSession,
  insertDevice,
  insertPerson,
} from '../../../test/support/factories.ts'
import {
  describeListContract,
  describeRecordContract,
  findNames,
  toTrials,
  trialsOf,
} from '../../../test/support/read-contract.ts'
import { AUTH_LOG_LIST } from './auth-log-read.ts'
import { authLogRoutes } from './auth-log-routes.ts'

let api: TestApi
let personId: string
let deviceId: string
let ids: Record<'passed' | 'failed' | 'open' | 'stranger', string>

const EVENTS = [
  {
    timestamp: '2026-02-01T00:00:00.001Z',
    event_type: 'sign_in_attempt',
    event_description: 'A sign-in began.',
  },
]

beforeAll(async () => {
  api = await createTestApi(({ db }) => authLogRoutes(db, BASE_URL))
  const { db } = api
  personId = await insertPerson(db)
  deviceId = await insertDevice(db)
  ids = {
    passed: await insertAuthLogSession(db, {
      started_at: new Date('2026-02-01T00:00:00.001Z'),
      finished_at: new Date('2026-02-01T00:01:00Z'),
      person_id: personId,
      device_id: deviceId,
      result: 'Success',
      initial_status: 'will_block',
      ip_address: '2001:db8::7',
      agent_version: '5.21.0',
      country: 'Norway',
      city: 'Oslo',
      browser_name: 'Firefox',
      browser_version: '140.0',
      browser_user_agent: 'Mozilla/5.0 (test)',
      issues_displayed: JSON.stringify([
        { id: '5', title: 'The firewall is off', blocking_status: 'will_block' },
      ]),
      events: JSON.stringify(EVENTS),
      app_instance_id: '0oa1',
      app_name: 'Mail',
      updated_at: new Date('2026-02-01T00:01:00Z'),
    }),
    failed: await insertAuthLogSession(db, {
      started_at: new Date('2026-02-02T00:00:00Z'),
      person_id: personId,
      device_id: deviceId,
      person_name: 'Ada King',
      result: 'Fail',
      initial_status: 'blocked',
      ip_address: '192.0.2.8',
      agent_version: '5.20.1',
      country: 'Chile',
      city: 'Arica',
      browser_name: 'Safari',
    }),
    open: await insertAuthLogSession(db, { started_at: new Date('2026-02-03T00:00:00Z') }),
    stranger: await insertAuthLogSession(db, {
      started_at: new Date('2026-02-04T00:00:00Z'),
      person_name: 'Alan Turing',
      person_email: 'alan@example.org',
      result: 'Fail',
    }),
  }
})

afterAll(() => api.close())

const find = (query: string) => findNames(api, '/auth_logs', query, ids)

describe('GET /auth_logs', () => {
  describeListContract({
    api: () => api,
    path: () => '/auth_logs',
    fields: [
      'timestamp (: < >)',
      'city (: ~)',
      'country (: ~)',
      'ip_address (: ~)',
      'agent_version (: ~)',
      'browser_name (: ~)',
      'person_name (: ~)',
      'person_email (: ~)',
      'person_id (: ~)',
      'device_id (: ~)',
      'result (:)',
    ],
    narrowSearch: () => 'person_email~example.com',
  })

  const SEARCHES: Record<string, readonly string[]> = {
    'timestamp:2026-02-02': ['failed'],
    'timestamp>2026-02-03T00:00:00Z': ['stranger'],
    'timestamp<"2026-02-02T00:00:00.000Z"': ['passed'],
    'city:Oslo': ['passed'],
    'city~RIC': ['failed'],
    'country:Norway': ['passed'],
    'country~CHI': ['failed'],
    'ip_address:2001:db8::7': ['passed'],
    'ip_address~192.0.2': ['failed'],
    'agent_version:5.21.0': ['passed'],
    'agent_version~5.2': ['passed', 'failed'],
    'browser_name:Firefox': ['passed'],
    'browser_name~SAFARI': ['failed'],
    'person_name:"Alan Turing"': ['stranger'],
    'person_name~ada': ['passed', 'failed', 'open'],
    'person_email:alan@example.org': ['stranger'],
    'person_email~ADA@': ['passed', 'failed', 'open'],
    'result:Success': ['passed'],
    'result:fail': ['failed', 'stranger'],
    'updated_at:2026-02-01T00:01:00Z': ['passed'],
    'updated_at>2026-01-10': ['passed'],
    'updated_at<2026-01-10': ['failed', 'open', 'stranger'],
  }

  it.each(Object.entries(SEARCHES))('finds by %s', async (query, names) => {
    expect(await find(query)).toEqual(names)
  })

  it('finds by the ids of person and device, whole or in part', async () => {
    const searches = {
      [`person_id:${personId}`]: ['passed', 'failed'],
      [`person_id~${personId}`]: ['passed', 'failed'],
      [`device_id:${deviceId}`]: ['passed', 'failed'],
      [`device_id~${deviceId}`]: ['passed', 'failed'],
      [`device_id:["${deviceId}", 999999999]`]: ['passed', 'failed'],
      [`person_id:[999999999,${personId}]`]: ['passed', 'failed'],
    }
    for (const [query, names] of Object.entries(searches)) {
      expect(await find(query), query).toEqual(names)
    }
    const tried = [...Object.keys(SEARCHES), ...Object.keys(searches)].map((search) =>
      search.replace(/:2001.*/, ':x'),
    )
    expect(trialsOf(tried)).toEqual(toTrials(AUTH_LOG_LIST.fields))
  })
})

describe('GET /auth_logs/{id}', () => {
  describeRecordContract({ api: () => api, path: () => `/auth_logs/${ids.passed}` })

  it('leads to where the person is, also once deprovisioned', async () => {
    const deprovisioned_at = api.clock.now()
    const goneId = await insertPerson(api.db, { email: 'gone@example.com', deprovisioned_at })
    const id = await insertAuthLogSession(api.db, { person_id: goneId })
    const { body } = await api.request<{ person_info: object }>(`/auth_logs/${id}`)
    const link = `${BASE_URL}/deprovisioned_people/${goneId}`
    expect(body.person_info).toEqual({ identifier: Number(goneId), link })
    await api.db.deleteFrom('auth_log_session').where('id', '=', id).execute()
  })

  it('shows a sign-in that succeeded; the links to person and device carry integers', async () => {
    const { status, body } = await api.request(`/auth_logs/${ids.passed}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: ids.passed,
      timestamp: '2026-02-01T00:00:00.001Z',
      person_name: 'Ada Lovelace',
      person_email: 'ada@example.com',
      person_info: { identifier: Number(personId), link: `${BASE_URL}/people/${personId}` },
      device_info: { identifier: Number(deviceId), link: `${BASE_URL}/devices/${deviceId}` },
      result: 'Success',
      initial_status: 'will_block',
      ip_address: '2001:db8::7',
      agent_version: '5.21.0',
      country: 'Norway',
      city: 'Oslo',
      browser_name: 'Firefox',
      browser_user_agent: 'Mozilla/5.0 (test)',
      issues_displayed: [
        {
          id: '5',
          title: 'The firewall is off',
          blocking_status: 'will_block',
          link: `${BASE_URL}/issues/5`,
        },
      ],
      events: EVENTS,
      okta_app_instance_id: '0oa1',
      okta_app_name: 'Mail',
    })
  })

  it('shows a sign-in under way: no result, empty links, unknown places left out', async () => {
    const { body } = await api.request(`/auth_logs/${ids.open}`)
    expect(body).toEqual({
      id: ids.open,
      timestamp: '2026-02-03T00:00:00.000Z',
      person_name: 'Ada Lovelace',
      person_email: 'ada@example.com',
      person_info: { identifier: '', link: null },
      device_info: { identifier: '', link: null },
      result: null,
      initial_status: 'unknown',
      ip_address: null,
      browser_name: null,
      browser_user_agent: null,
      issues_displayed: [],
      events: [],
      okta_app_instance_id: null,
      okta_app_name: null,
    })
  })

  it('shows the same in the list', async () => {
    const { body: session } = await api.request(`/auth_logs/${ids.failed}`)
    const { body } = await api.request<{ data: unknown[] }>('/auth_logs?query=city:Arica')
    expect(body.data).toEqual([session])
  })
})
