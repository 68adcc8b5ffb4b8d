import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../../test/support/composed-api.ts'
import { insertPerson } from '../../../../test/support/factories.ts'
import { createPosture, PASS, type Posture } from '../../../../test/support/posture-fixtures.ts'
import { HOUR_MS } from '../../../platform/clock.ts'

let api: ServiceApi
let posture: Posture
let key: string

beforeAll(async () => {
  api = await createServiceApi()
  posture = createPosture(api.db)
  key = await api.createKey(['Refresh Check'])
})

afterAll(async () => {
  await api.close()
})

const FAIL = [{ KOLIDE_CHECK_STATUS: 'FAIL', state: 'off', api_key: 'topsecret' }]

async function addIssue(values: object = {}) {
  const checkId = await posture.insertCheck({
    issue_title: 'The firewall is <off>',
    remediation_strategy: 'block_immediately',
    rationale_template: 'Because of {{ device.name }}.',
    fix_instructions_template: '1. Switch `it` on.',
    ...values,
  })
  const deviceId = await posture.insertDevice({ node_key_hash: randomBytes(32) })
  await posture.report(deviceId, { [checkId]: FAIL })
  const { id } = await api.db
    .selectFrom('issue')
    .select('id')
    .where('device_id', '=', deviceId)
    .executeTakeFirstOrThrow()
  return { id, checkId, deviceId }
}

async function makeLink(issueId: string, body: object = {}) {
  return api.app.inject({
    method: 'POST',
    url: `/issues/${issueId}/fix_links`,
    headers: { authorization: `Bearer ${key}` },
    payload: body,
  })
}

async function openLink(issueId: string) {
  const { url } = (await makeLink(issueId)).json<{ url: string }>()
  return new URL(url).pathname
}

const get = (url: string) => api.app.inject({ url })
const post = (url: string, headers: Readonly<Record<string, string>>) =>
  api.app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: 'issue_id=1',
  })
const OWN = { 'sec-fetch-site': 'same-origin' }

describe('POST /issues/{id}/fix_links', () => {
  it('makes a link that shows the issue without signing in, with secrets masked', async () => {
    const { id } = await addIssue()
    const { statusCode, body } = await get(await openLink(id))
    expect(statusCode).toBe(200)
    expect(body).toContain('The firewall is &lt;off>')
    expect(body).toContain('cannot be used to sign in until this is fixed.')
    expect(body).toContain('<dt>State</dt><dd>off</dd>')
    expect(body).not.toContain('topsecret')
    expect(body).toContain('<code>it</code>')
  })

  it('is audited without the link', async () => {
    const { id } = await addIssue()
    const path = await openLink(id)
    const entry = await api.db
      .selectFrom('audit_entry')
      .selectAll()
      .where('action', '=', 'issue.fix_link_made')
      .where('target_id', '=', id)
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(entry)).not.toContain(path.split('/').at(-1))
  })

  it('needs the permission, an open issue of a device, and a time within bounds', async () => {
    const { id, checkId, deviceId } = await addIssue()
    const { body } = await api.request<{ code: string }>(`/issues/${id}/fix_links`, {
      method: 'POST',
      payload: {},
    })
    expect(body.code).toBe('permission_missing')
    expect((await makeLink('999999')).statusCode).toBe(404)
    expect((await makeLink(id, { expires_in_hours: 0 })).statusCode).toBe(422)
    expect((await makeLink(id, { expires_in_hours: 721 })).statusCode).toBe(422)
    await posture.report(deviceId, { [checkId]: PASS })
    expect((await makeLink(id)).statusCode).toBe(409)
  })
})

describe('the page of a link', () => {
  it('asks the device again, by a form that works without scripts', async () => {
    const { id, deviceId, checkId } = await addIssue()
    const path = await openLink(id)
    const { statusCode, headers } = await post(`${path}/recheck`, OWN)
    expect([statusCode, headers.location]).toEqual([303, path])
    const refreshes = await api.db
      .selectFrom('check_refresh')
      .select(['device_id', 'check_id'])
      .where('device_id', '=', deviceId)
      .execute()
    expect(refreshes).toHaveLength(1)
    expect((await get(path)).body).toContain('Your device is being asked.')
    await posture.report(deviceId, { [checkId]: PASS })
    expect((await get(path)).body).toContain('There is nothing left to do here.')
  })

  it('does nothing for a page of another site', async () => {
    const { id, deviceId } = await addIssue()
    const path = await openLink(id)
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example' },
    ]) {
      expect((await post(`${path}/recheck`, headers)).statusCode).toBe(403)
    }
    const asked = await api.db
      .selectFrom('check_refresh')
      .select('check_id')
      .where('device_id', '=', deviceId)
      .execute()
    expect(asked).toEqual([])
  })

  it('ends when the device is given to somebody else, also when it comes back', async () => {
    const { id, deviceId } = await addIssue()
    const [first, second] = await Promise.all([1, 2].map(async () => insertPerson(api.db)))
    const give = async (owner: string | undefined) => {
      api.clock.advance(1_000)
      await api.db
        .updateTable('device')
        .set({ owner_person_id: owner ?? null, registered_at: api.clock.now() })
        .where('id', '=', deviceId)
        .execute()
    }
    await give(first)
    const path = await openLink(id)
    expect((await get(path)).statusCode).toBe(200)
    for (const owner of [second, first]) {
      await give(owner)
      const answers = await Promise.all([
        get(path),
        post(`${path}/recheck`, OWN),
        get(`${path}/events`),
      ])
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404])
    }
    expect((await get(await openLink(id))).statusCode).toBe(200)
  })

  it('ends with the link, and is none for another token', async () => {
    const { id } = await addIssue()
    const path = await openLink(id)
    expect((await get(`${path}x`)).statusCode).toBe(404)
    const watched = await api.app.inject({ url: `${path}/events`, payloadAsStream: true })
    const events = watched.stream()[Symbol.asyncIterator]()
    expect(String((await events.next()).value)).toMatch(/^retry/)
    api.clock.advance(7 * 24 * HOUR_MS)
    while ((await events.next()).done !== true);
    expect((await get(path)).statusCode).toBe(404)
  })
})
