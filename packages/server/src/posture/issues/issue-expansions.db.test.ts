import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  BASE_URL,
  createTestApi,
  type TestApi,
  type TestRefusal,
} from '../../../test/support/api-app.ts'
import {
  insertCheck,
  insertDevice,
  insertIssue,
  insertPerson,
} from '../../../test/support/factories.ts'
import { deviceRoutes } from '../devices/device-routes.ts'
import { issueRoutes } from './issue-routes.ts'

interface Linked {
  readonly identifier: string
  readonly link: string | null
  readonly record?: Record<string, unknown>
}

interface IssuePage {
  readonly data: {
    readonly id: string
    readonly device_information: Linked
    readonly check_information: Linked
  }[]
  readonly pagination: { readonly next: string }
}

let api: TestApi
let queryCount = 0
let device: string
let issue: string
let orphan: string

beforeAll(async () => {
  api = await createTestApi(({ db }) => {
    const watched = db.withPlugin({
      transformQuery: ({ node }) => {
        queryCount += 1
        return node
      },
      transformResult: async ({ result }) => result,
    })
    return [...deviceRoutes(watched, BASE_URL), ...issueRoutes(watched, BASE_URL)]
  })
  const { db } = api
  const owner = await insertPerson(db, { email: 'ada@example.com' })
  const former = await insertPerson(db, { deprovisioned_at: new Date('2026-01-05') })
  const check = await insertCheck(db)
  const registered_at = new Date('2026-01-04')
  device = await insertDevice(db, { name: 'mac', owner_person_id: owner, registered_at })
  orphan = await insertDevice(db, { name: 'orphan', owner_person_id: former, registered_at })
  issue = await insertIssue(db, { check_id: check, device_id: device })
  for (let count = 0; count < 20; count += 1) {
    const device_id = await insertDevice(db, { owner_person_id: owner, registered_at })
    await insertIssue(db, { check_id: await insertCheck(db), device_id })
  }
})

afterAll(() => api.close())

describe('expand', () => {
  it('puts the record that a link leads to into the link, as its own address shows it', async () => {
    const shown = await api.request<IssuePage['data'][number]>(
      `/issues/${issue}?expand=device,check`,
    )
    const own = await api.request(`/devices/${device}`)
    expect(shown.status).toBe(200)
    expect(shown.body.device_information).toEqual({
      identifier: device,
      link: `${BASE_URL}/devices/${device}`,
      record: own.body,
    })
    expect(shown.body.check_information.record).toMatchObject({ name: 'Firewall' })
  })

  it('reads each collection once for a whole page', async () => {
    const countFor = async (path: string) => {
      queryCount = 0
      expect((await api.request(path)).status).toBe(200)
      return queryCount
    }
    const plain = await countFor('/issues?per_page=20')
    expect(await countFor('/issues?per_page=20&expand=device,check')).toBe(plain + 2)
    expect(await countFor('/issues?per_page=2&expand=device,check')).toBe(plain + 2)
  })

  it('is kept by the address of the next page', async () => {
    const first = await api.request<IssuePage>('/issues?per_page=5&expand=device')
    const next = first.body.pagination.next.slice(BASE_URL.length)
    const second = await api.request<IssuePage>(next)
    for (const { device_information: link } of second.body.data) {
      expect(link.record?.['id']).toBe(link.identifier)
    }
  })

  it('is nothing that comes without being asked for', async () => {
    for (const path of ['/issues', '/issues?expand=', `/devices/${device}/open_issues`]) {
      const { body } = await api.request<IssuePage>(path)
      expect(Object.keys(body.data[0]?.device_information ?? {})).toEqual(['identifier', 'link'])
    }
  })

  it('leaves a link as it is when its address shows nothing', async () => {
    const { body } = await api.request<{ registered_owner_info: Linked }>(
      `/devices/${orphan}?expand=owner`,
    )
    expect(Object.keys(body.registered_owner_info)).toEqual(['identifier', 'link'])
  })

  it('refuses what cannot be expanded, naming what can', async () => {
    const { status, body } = await api.request<TestRefusal>('/issues?expand=owner')
    expect(status).toBe(400)
    expect(body.code).toBe('invalid_parameter')
    expect(body.message).toContain('"owner" cannot be expanded here. Allowed: device, check.')
  })
})
