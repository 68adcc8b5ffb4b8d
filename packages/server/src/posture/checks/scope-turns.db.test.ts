import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPostureApi } from '../../../test/support/posture-api.ts'
import type { TestApi } from '../../../test/support/api-app.ts'
import type { Posture } from '../../../test/support/posture-fixtures.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { createChecksPart, type CheckSettings } from '../posture-parts.ts'
import { lockCheckScope } from './check-scope-store.ts'

const DRAFT = {
  name: 'Hosts file',
  description: 'The hosts file is as it came.',
  issue_title: 'The hosts file was edited',
  osquery_sql: "select 'FAIL' as KOLIDE_CHECK_STATUS, path from file",
  platforms: ['linux', 'darwin'],
  rationale_template: 'Names must lead to where they should.',
  fix_instructions_template: 'Restore the file.',
  privacy_info: 'The content of one file.',
}

let api: TestApi
let posture: Posture
let key: string

beforeAll(async () => {
  const settings: Partial<CheckSettings> = {
    baseUrl: 'https://test.example',
    refusedTables: new Set(),
  }
  ;({ api, posture, key } = await createPostureApi('Manage Checks', (parts) => {
    const foundation: Partial<Foundation> = parts
    return createChecksPart(foundation as Foundation, settings as CheckSettings).operations ?? []
  }))
})

afterAll(() => api.close())

const send = (method: 'POST' | 'PATCH', path: string, payload?: object) =>
  api.request<{ id: string; code?: string; revision?: string }>(path, {
    method,
    key,
    ...(payload === undefined ? {} : { payload }),
  })

test('what requests change of the scope of checks waits one at a time for another process, and each keeps what the others changed', async () => {
  const checkId = await posture.insertCheck({ platforms: ['darwin'] })
  const url = `/checks/${checkId}/configurations`
  const patch = (payload: object) => send('PATCH', url, payload)
  const { body: draft } = await send('POST', '/custom_check_drafts', DRAFT)
  await patch({ snooze_disallowed: true })
  const elsewhere = await api.db.startTransaction().execute()
  await lockCheckScope(elsewhere)
  const first = patch({ paused: true })
  await waitForLock(api.db)
  const others = [
    send('POST', `${url}/undo`),
    patch({ block_auth_grace_period_days: 9 }),
    send('POST', `/custom_check_drafts/${draft.id}/publish`),
    patch({ rollout_percent: 50 }),
  ]
  // Requests that came after them are answered, so they are where they wait.
  for (let count = 0; count < 3; count += 1) {
    expect((await api.request<{ revision: string }>(url)).body.revision).toBe('2')
  }
  await waitForLock(api.db)
  expect(await first).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  // Whoever had waited for the lock beside the first would have given up with it.
  await waitForLock(api.db)
  await elsewhere.rollback().execute()
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect((await api.request(url)).body).toMatchObject({
    paused: false,
    snooze_disallowed: false,
    block_auth_grace_period_days: 9,
    rollout_percent: 50,
    revision: '5',
  })
})
