import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi, type TestRefusal } from '../../../../test/support/api-app.ts'
import { describeRecordContract } from '../../../../test/support/read-contract.ts'
import { SYSTEM_ACTOR } from '../../../changes/audit/audit-entry.ts'
import { DAY_MS } from '../../../platform/clock.ts'
import {
  createEnrollmentSecret,
  hashEnrollmentSecret,
  revokeEnrollmentSecret,
} from '../secrets/create-enrollment-secret.ts'
import { AGENT_SETTINGS_DEFAULT } from '../../osquery/agent-settings.ts'
import { findLiveSecret } from '../../osquery/enrollment-store.ts'
import { packageRoutes } from './package-routes.ts'

const BASE_URL = 'https://trust.example.com'

interface Package {
  readonly id: string
  readonly platform: string
  readonly url: string
  readonly version: string
  readonly built_at: string
}
interface List {
  readonly data: readonly Package[]
  readonly pagination: { readonly next_cursor: string; readonly count: number }
}

let api: TestApi
let downloadKey: string

beforeAll(async () => {
  api = await createTestApi(({ runChange, sealer }) =>
    packageRoutes({
      baseUrl: BASE_URL,
      settings: AGENT_SETTINGS_DEFAULT,
      runChange,
      sealer,
      caPem: undefined,
    }),
  )
  downloadKey = await api.createKey(['Download Packages'])
})
afterAll(() => api.close())

async function list(query = ''): Promise<List> {
  const { status, body } = await api.request<List>(`/packages${query}`)
  expect(status).toBe(200)
  return body
}

async function download(id: string): Promise<Buffer> {
  const response = await api.app.inject({
    url: `/packages/${id}/download`,
    headers: { authorization: `Bearer ${downloadKey}` },
  })
  expect(response.statusCode).toBe(200)
  expect(response.headers['content-type']).toBe('application/gzip')
  expect(response.headers['content-disposition']).toMatch(/^attachment; filename="heliograph-\w+/)
  return response.rawPayload
}

const secretsOf = () =>
  api.db
    .selectFrom('enrollment_secret')
    .select(['id', 'revoked_at'])
    .where('name', '=', 'packages')
    .orderBy('id')
    .execute()

const downloadsOf = () =>
  api.db
    .selectFrom('audit_entry')
    .select(['actor_type', 'target_id', 'description'])
    .where('action', '=', 'package.downloaded')
    .orderBy('sequence')
    .execute()

/** The text of an entry in the archive: entries are plain blocks of 512 bytes. */
function secretIn(archive: Buffer): string {
  const text = gunzipSync(archive).toString('latin1')
  return /[A-Za-z0-9_-]{43}(?=\n\0)/.exec(text)?.[0] ?? ''
}

describe('packages', () => {
  it('are made with one secret, however many ask first', async () => {
    await Promise.all(Array.from({ length: 8 }, () => list()))
    expect(await secretsOf()).toHaveLength(1)
  })

  it('are listed for every platform, page by page, and stay the same', async () => {
    const { data, pagination } = await list()
    expect(data).toEqual(
      ['darwin', 'windows', 'linux'].map((platform, index) => ({
        id: String(index + 1),
        platform,
        url: `${BASE_URL}/packages/${index + 1}/download`,
        version: expect.stringMatching(/^1\.0\.0\+[0-9a-f]{12}$/) as string,
        built_at: '2026-01-02T03:04:05.000Z',
      })),
    )
    expect(pagination).toMatchObject({ count: 3, next: '' })
    expect((await list()).data).toEqual(data)
    const first = await list('?per_page=2')
    const second = await list(`?cursor=${first.pagination.next_cursor}`)
    expect([...first.data, ...second.data]).toEqual(data)
  })

  it('are shown one by one', async () => {
    const { data } = await list()
    for (const shown of data) {
      expect((await api.request(`/packages/${shown.id}`)).body).toEqual(shown)
    }
  })

  describeRecordContract({ api: () => api, path: () => '/packages/1' })

  it('take no search', async () => {
    const { status } = await api.request<TestRefusal>('/packages?query=id:1')
    expect(status).toBe(400)
  })
})

describe('the download of a package', () => {
  it('is an archive with a secret that enrolls devices', async () => {
    for (const id of ['1', '2', '3']) {
      const secret = secretIn(await download(id))
      expect(secret).not.toBe('')
      const live = await findLiveSecret(api.db, hashEnrollmentSecret(secret), api.clock.now())
      expect(live).toMatchObject({ personId: null })
    }
  })

  it('is the same bytes each time, and each is in the audit log', async () => {
    const before = await downloadsOf()
    const [first, second] = [await download('3'), await download('3')]
    expect(first.equals(second)).toBe(true)
    const entries = (await downloadsOf()).slice(before.length)
    expect(entries).toHaveLength(2)
    expect(entries[0]).toMatchObject({ actor_type: 'ApiKey', target_id: '3' })
    expect(entries[0]?.description).toMatch(/^downloaded the package for linux \(1\.0\.0\+/)
  })

  it('is not what HEAD is answered with, which leaves no entry in the audit log', async () => {
    const before = await downloadsOf()
    const headers = { authorization: `Bearer ${downloadKey}` }
    const head = await api.app.inject({ method: 'HEAD', url: '/packages/3/download', headers })
    expect([head.statusCode, head.headers['allow']]).toEqual([405, 'GET'])
    expect(await downloadsOf()).toEqual(before)
  })

  it('carries a new secret once the old one is revoked', async () => {
    const { data } = await list()
    const old = secretIn(await download('3'))
    const [secret] = await secretsOf()
    await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      revokeEnrollmentSecret(change, secret?.id ?? ''),
    )
    const renewed = secretIn(await download('3'))
    expect(renewed).not.toBe(old)
    expect(await secretsOf()).toHaveLength(2)
    expect((await list()).data.map(({ version }) => version)).not.toEqual(
      data.map(({ version }) => version),
    )
  })

  it('carries a secret with the end and the maximum that admins gave it, also when it is renewed', async () => {
    const at = api.clock.now()
    const expiresAt = new Date(at.getTime() + DAY_MS)
    const made = await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      createEnrollmentSecret(change, api.sealer, {
        name: 'packages',
        personId: null,
        expiresAt,
        usesMax: 2,
      }),
    )
    expect(secretIn(await download('3'))).toBe(made.secret)
    await api.db
      .updateTable('enrollment_secret')
      .set({ use_count: 2 })
      .where('id', '=', made.id)
      .execute()
    expect(secretIn(await download('3'))).not.toBe(made.secret)
    const renewed = await api.db
      .selectFrom('enrollment_secret')
      .select(['expires_at', 'uses_max', 'use_count'])
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst()
    expect(renewed).toEqual({ expires_at: expiresAt, uses_max: '2', use_count: '0' })
  })

  it('is refused without a key and for no such package, and leaves no entry', async () => {
    const before = await downloadsOf()
    expect((await api.request('/packages/1/download', { key: null })).status).toBe(401)
    for (const id of ['0', '4', 'linux', '9'.repeat(40)]) {
      const { status } = await api.request(`/packages/${id}/download`, { key: downloadKey })
      expect(status).toBe(404)
    }
    const { status, body } = await api.request<TestRefusal>('/packages/1/download')
    expect(status).toBe(403)
    expect(body.message).toContain('Download Packages')
    expect(await downloadsOf()).toEqual(before)
  })
})
