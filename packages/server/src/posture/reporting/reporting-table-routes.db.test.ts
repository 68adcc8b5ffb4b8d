import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi, type TestRefusal } from '../../../test/support/api-app.ts'
import { insertDevice } from '../../../test/support/factories.ts'
import { describeListContract } from '../../../test/support/read-contract.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import { recordReportingSnapshot } from './record-reporting-snapshot.ts'
import { reportingTableRoutes } from './reporting-table-routes.ts'
import { REPORTING_TABLES } from './reporting-tables.ts'

interface Table {
  readonly name: string
  readonly column_names: readonly string[]
  readonly searchable_fields: readonly string[]
}
interface List<Item> {
  readonly data: readonly Item[]
  readonly pagination: { readonly next_cursor: string; readonly count: number }
}

let api: TestApi
let ada: string
let grace: string

beforeAll(async () => {
  api = await createTestApi(({ db }) => reportingTableRoutes(db, 'https://trust.example.com'))
  ada = await insertDevice(api.db, { name: 'Mac of Ada' })
  grace = await insertDevice(api.db, { name: 'PC of Grace', platform: 'windows' })
  await report(ada, 'users', [
    { uid: '501', username: 'ada', shell: '/bin/zsh' },
    { uid: '0', username: 'root', shell: '/bin/sh' },
    { uid: '502', username: 'guest', shell: '/bin/zsh' },
  ])
  await report(grace, 'users', [
    { uid: '1001', username: 'grace', shell: '' },
    { uid: '500', username: '100%', shell: '/bin/zsh' },
  ])
  await report(grace, 'systemd_units', [{ id: 'ssh.service' }])
})
afterAll(() => api.close())

async function report(deviceId: string, tableName: string, rows: OsqueryRow[]): Promise<void> {
  await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    recordReportingSnapshot(
      change.tx,
      { deviceId, tableName, unixTime: 1, epoch: 0, counter: 0, rows },
      change.at,
    ),
  )
}

const get = <Body>(path: string) => api.request<Body>(path)
const listRecords = async (query: string, table = 'users') =>
  get<List<Record<string, unknown>>>(
    `/reporting/tables/${table}/table_records?query=${encodeURIComponent(query)}`,
  )

describe('reporting tables', () => {
  it('are listed by name, page by page', async () => {
    const { status, body } = await get<List<Table>>('/reporting/tables?per_page=100')
    expect(status).toBe(200)
    const names = body.data.map(({ name }) => name)
    expect(names).toEqual(REPORTING_TABLES.map(({ name }) => name))
    expect(names).toEqual([...names].sort())
    const first = await get<List<Table>>('/reporting/tables?per_page=20')
    const { next_cursor: cursor } = first.body.pagination
    const second = await get<List<Table>>(`/reporting/tables?cursor=${cursor}`)
    expect([...first.body.data, ...second.body.data].map(({ name }) => name)).toEqual(names)
  })

  it('are described one by one', async () => {
    const { body } = await get('/reporting/tables/users')
    expect(body).toEqual({
      name: 'users',
      category: 'Accounts',
      description: 'Local accounts.',
      column_names: [
        ...['device_id', 'device_name', 'collected_at', 'uid', 'gid', 'username', 'description'],
        ...['directory', 'shell'],
      ],
      searchable_fields: [
        ...['device_id', 'device_name', 'collected_at', 'uid', 'gid', 'username', 'description'],
        ...['directory', 'shell'],
      ],
      documentation_url: 'https://osquery.io/schema/current/#users',
    })
  })

  it.each(['nonsense', 'reporting_record', '%2e%2e', 'USERS'])(
    'have none called %s',
    async (name) => {
      for (const path of [`/reporting/tables/${name}`, `/reporting/tables/${name}/table_records`]) {
        const { status, body } = await get<TestRefusal>(path)
        expect(status, path).toBe(404)
        expect(body.code).toBe('not_found')
      }
    },
  )

  it('need a key', async () => {
    for (const path of ['', '/users', '/users/table_records']) {
      const { status } = await api.request(`/reporting/tables${path}`, { key: null })
      expect(status).toBe(401)
    }
  })
})

describe('the records of a table', () => {
  describeListContract({
    api: () => api,
    path: () => '/reporting/tables/users/table_records',
    fields: ['device_id', 'device_name', 'collected_at', 'uid', 'username', 'shell'],
    narrowSearch: () => 'shell:/bin/zsh',
  })

  it('carry their columns and the device', async () => {
    const { body } = await listRecords('username:ada')
    expect(body.data).toEqual([
      {
        id: expect.stringMatching(/^\d+$/) as string,
        device_id: ada,
        device_name: 'Mac of Ada',
        device_information: {
          identifier: ada,
          link: `https://trust.example.com/devices/${ada}`,
        },
        collected_at: '2026-01-02T03:04:05.678Z',
        uid: '501',
        gid: '',
        username: 'ada',
        description: '',
        directory: '',
        shell: '/bin/zsh',
      },
    ])
  })

  it.each([
    ['username:root', ['root']],
    ['username~A', ['ada', 'grace']],
    ['username~%', ['100%']],
    ['uid:0', ['root']],
    ['device_name~grace', ['grace', '100%']],
    ['device_name:"Mac of Ada" AND shell:/bin/sh', ['root']],
    ['collected_at>2026-01-01 AND uid~50', ['ada', 'guest', '100%']],
    ['collected_at<2026-01-01', []],
    ['device_id:999999', []],
  ])('are found by %s', async (query, usernames) => {
    const { status, body } = await listRecords(query)
    expect(status).toBe(200)
    expect(body.data.map((record) => record['username'])).toEqual(usernames)
  })

  it('are found by the fields that the table names, every one of them', async () => {
    for (const { name } of REPORTING_TABLES) {
      const { body: table } = await get<Table>(`/reporting/tables/${name}`)
      for (const field of table.searchable_fields) {
        const clause = field === 'collected_at' ? `${field}>2026-01-01` : `${field}:1`
        const { status } = await listRecords(clause, name)
        expect(status, `${name}.${field}`).toBe(200)
      }
    }
  })

  it('keep a column apart that every record has', async () => {
    const { body } = await listRecords('systemd_units_id:ssh.service', 'systemd_units')
    expect(body.data).toMatchObject([{ systemd_units_id: 'ssh.service', device_id: grace }])
    expect(body.data[0]?.['id']).toMatch(/^\d+$/)
  })

  it('cannot be searched by the columns of another table', async () => {
    const { status, body } = await get<TestRefusal>(
      '/reporting/tables/users/table_records?query=days:1',
    )
    expect(status).toBe(400)
    expect(body.code).toBe('invalid_search')
  })
})
