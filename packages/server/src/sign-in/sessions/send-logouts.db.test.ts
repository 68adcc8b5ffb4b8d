import { createLocalJWKSet, decodeJwt, jwtVerify, type JSONWebKeySet } from 'jose'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL } from '../../../test/support/api-app.ts'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import { insertPerson } from '../../../test/support/factories.ts'
import { insertApplication } from '../../../test/support/sign-in-fixtures.ts'
import { listAuditEntries } from '../../../test/support/write-contract.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { HOUR_MS } from '../../platform/clock.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import { newUuid } from '../../platform/ids.ts'
import { createSignInKeys } from '../provider/sign-in-keys.ts'
import { createGuardedClient, type GuardedClient } from '../../platform/net/guarded-client.ts'
import { parseAllowedTargets } from '../../platform/net/target-policy.ts'
import { endSession } from './end-sessions.ts'
import { sendLogouts } from './send-logouts.ts'

interface ListedSessionJson {
  readonly id: string
  readonly logout_attempts: number
  readonly logout_outcome: string | null
}

let api: ServiceApi
let client: GuardedClient
let key: string
let status = 200
const received: string[] = []
/** By client: how many were asked, and how many of them at the same time. */
const asked = new Map<string, { count: number; now: number; most: number }>()
/** Answers are held back for clients that are in here. */
const held = new Map<string, Promise<void>>()

async function answer(request: IncomingMessage, response: ServerResponse) {
  const clientId = decodeURIComponent(request.url?.slice(1) ?? '')
  const count = asked.get(clientId) ?? { count: 0, now: 0, most: 0 }
  asked.set(clientId, count)
  count.count += 1
  count.now += 1
  count.most = Math.max(count.most, count.now)
  received.push(new URLSearchParams(await text(request)).get('logout_token') ?? '')
  await held.get(clientId)
  count.now -= 1
  response.writeHead(status).end()
}
const server = createServer((request, response) => void answer(request, response))

beforeAll(async () => {
  api = await createServiceApi()
  key = await api.createKey(['Read Sign-in'])
  const targets = parseAllowedTargets('127.0.0.1')
  if (!targets.ok) throw new Error(targets.reason)
  client = createGuardedClient({ policy: targets.policy, userAgent: 'test' })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  await client.close()
  server.close()
  await api.close()
})

async function makeApplication(clientId: string): Promise<string> {
  const { port } = server.address() as AddressInfo
  return insertApplication(api.db, {
    client_id: clientId,
    backchannel_logout_uri: `http://127.0.0.1:${port}/${encodeURIComponent(clientId)}`,
  })
}

async function endGranted(applicationId: string) {
  const granted = await grant(applicationId)
  await api.runChange({ actor: SYSTEM_ACTOR }, (change) => endSession(change, granted.id, 'admin'))
  return granted
}

async function grant(applicationId: string) {
  const personId = await insertPerson(api.db)
  const now = api.clock.now()
  const id = newUuid()
  const sid = newUuid()
  await api.db
    .insertInto('sign_in_granted_session')
    .values({
      ...{ id, sid, application_id: applicationId, person_id: personId, assurance: 'live' },
      granted_at: now,
      expires_at: new Date(now.getTime() + 3_600_000),
    })
    .execute()
  return { id, sid, personId }
}

async function send(): Promise<Date | undefined> {
  const { db, clock, runChange, sealer } = api
  const keys = createSignInKeys({ db, clock, runChange, sealer })
  const shared = { db, clock, runChange, log: SILENT_LOGGER, keys }
  return sendLogouts({ ...shared, baseUrl: BASE_URL, outbound: { client } })
}

async function readSession(id: string) {
  const { body } = await api.request<{ data: ListedSessionJson[] }>(
    '/sign_in_sessions?per_page=100',
    { key },
  )
  const session = body.data.find((each) => each.id === id)
  if (session === undefined) throw new Error('The session is not listed')
  return session
}

const TOLD = { logout_outcome: 'told', logout_due_at: null, logout_failure: null }

it('tells the application of the end, again until it takes it', async () => {
  const { id, sid, personId } = await endGranted(await makeApplication('the wiki'))
  status = 503
  const next = await send()
  expect(next).toEqual(new Date(api.clock.now().getTime() + 5_000))
  await send()
  expect(received).toHaveLength(1)
  expect(await readSession(id)).toMatchObject({
    logout_outcome: null,
    logout_due_at: api.clock.now().toISOString(),
    logout_attempts: 1,
    logout_failure: 'The application answered 503.',
  })
  api.clock.advance(5_000)
  status = 200
  expect(await send()).toBeUndefined()
  expect(received).toHaveLength(2)
  const { body } = await api.request<JSONWebKeySet>('/sign-in/jwks', { key: null })
  const { payload, protectedHeader } = await jwtVerify(received[1] ?? '', createLocalJWKSet(body), {
    issuer: `${BASE_URL}/sign-in`,
    audience: 'the wiki',
    currentDate: api.clock.now(),
  })
  expect(protectedHeader.typ).toBe('logout+jwt')
  expect(payload).toMatchObject({
    sid,
    sub: personId,
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  })
  expect(payload).not.toHaveProperty('nonce')
  expect(await readSession(id)).toMatchObject({ ...TOLD, logout_attempts: 2 })
})

describe('an application that was deleted', () => {
  const managed = async (
    path: string,
    options: { method?: 'DELETE' | 'POST'; payload?: object },
  ) => {
    const managing = await api.createKey(['Read Sign-in', 'Manage Sign-in'])
    return (await api.request(path, { ...options, key: managing })).status
  }
  const count = async (id: string) =>
    (await api.db.selectFrom('sign_in_application').select('id').where('id', '=', id).execute())
      .length

  it('is told of the ends of its sessions, is not found meanwhile, and its name is free', async () => {
    const applicationId = await makeApplication('the calendar')
    const { name } = await api.db
      .updateTable('sign_in_application')
      .set({ name: 'Calendar' })
      .where('id', '=', applicationId)
      .returning('name')
      .executeTakeFirstOrThrow()
    await endGranted(applicationId)
    const live = await grant(applicationId)
    expect(await managed(`/sign_in_applications/${applicationId}`, { method: 'DELETE' })).toBe(200)
    const { body } = await api.request<{ data: { id: string }[] }>(
      '/sign_in_applications?per_page=100',
      { key },
    )
    expect(body.data.map(({ id }) => id)).not.toContain(applicationId)
    for (const [path, options] of [
      [`/sign_in_applications/${applicationId}`, {}],
      [`/sign_in_applications/${applicationId}`, { method: 'DELETE' }],
      [`/sign_in_applications/${applicationId}/rotate_secret`, { method: 'POST' }],
    ] as const) {
      expect([path, await managed(path, options)]).toEqual([path, 404])
    }
    const payload = { name, redirect_uris: ['https://calendar.example.com/callback'] }
    expect(await managed('/sign_in_applications', { method: 'POST', payload })).toBe(200)
    received.length = 0
    status = 503
    await send()
    expect([await count(applicationId), received.length]).toEqual([1, 1])
    api.clock.advance(5_000)
    status = 200
    expect(await send()).toBeUndefined()
    const sids = received.slice(1).map((token) => decodeJwt(token)['sid'])
    expect(sids).toHaveLength(2)
    expect(sids).toContain(live.sid)
    expect(await count(applicationId)).toBe(0)
  })

  it('is gone at once where there is nothing to tell it', async () => {
    const applicationId = await makeApplication('the forum')
    expect(await managed(`/sign_in_applications/${applicationId}`, { method: 'DELETE' })).toBe(200)
    expect(await count(applicationId)).toBe(0)
  })
})

it('gives up after a day, and says so in the session and the audit log', async () => {
  const { id, personId } = await endGranted(await makeApplication('the forge'))
  const endedAt = api.clock.now().getTime()
  status = 400
  for (let next = await send(); next !== undefined; next = await send()) {
    expect(next.getTime()).toBeLessThanOrEqual(endedAt + 24 * HOUR_MS)
    api.clock.set(next)
  }
  const session = await readSession(id)
  expect(session).toMatchObject({
    logout_outcome: 'given_up',
    logout_due_at: null,
    logout_failure: 'The application answered 400.',
  })
  expect(api.clock.now().getTime()).toBeGreaterThan(endedAt + 21 * HOUR_MS)
  const entries = await listAuditEntries(
    api,
    { type: 'sign_in_session', id },
    'sign_in_session.logout_given_up',
  )
  expect(entries).toHaveLength(1)
  expect(entries[0]?.after).toEqual({
    client_id: 'the forge',
    person_id: personId,
    attempts: session.logout_attempts,
    failure: 'The application answered 400.',
  })
})

describe('an application that does not answer', () => {
  it('delays nobody else, whose sessions end before or meanwhile', async () => {
    status = 200
    const release = Promise.withResolvers<void>()
    held.set('hanging', release.promise)
    await endGranted(await makeApplication('hanging'))
    const before = await endGranted(await makeApplication('the mail'))
    const shop = await makeApplication('the shop')
    const sending = send()
    const isTold = async (id: string) => (await readSession(id)).logout_outcome === 'told'
    await expect.poll(() => isTold(before.id)).toBe(true)
    const meanwhile = await endGranted(shop)
    await expect.poll(() => isTold(meanwhile.id)).toBe(true)
    release.resolve()
    expect(await sending).toBeUndefined()
    expect(asked.get('hanging')?.count).toBe(1)
  })

  it('is asked once and then left alone, and told everything when it is back', async () => {
    const applicationId = await makeApplication('the dead')
    const sessions = await Promise.all([1, 2, 3].map(() => endGranted(applicationId)))
    const begunAt = api.clock.now().getTime()
    status = 503
    for (const [index, seconds] of [5, 60, 300, 1800, 1800].entries()) {
      const next = await send()
      expect(asked.get('the dead')?.count).toBe(index + 1)
      expect(next?.getTime()).toBe(api.clock.now().getTime() + seconds * 1000)
      await endGranted(applicationId)
      await send()
      expect(asked.get('the dead')?.count).toBe(index + 1)
      api.clock.advance(seconds * 1000)
    }
    status = 200
    expect(await send()).toBeUndefined()
    expect(asked.get('the dead')).toEqual({ count: 5 + 8, now: 0, most: 1 })
    for (const { id } of sessions) expect(await readSession(id)).toMatchObject(TOLD)
    expect(api.clock.now().getTime()).toBeLessThan(begunAt + 24 * HOUR_MS)
  })

  it('is not told any more of what is a day old, tried or not', async () => {
    const applicationId = await makeApplication('the gone')
    const sessions = await Promise.all([1, 2, 3].map(() => endGranted(applicationId)))
    api.clock.advance(24 * HOUR_MS + 1)
    const young = await endGranted(applicationId)
    status = 503
    await send()
    expect(asked.get('the gone')?.count).toBe(1)
    for (const { id } of sessions) {
      expect(await readSession(id)).toMatchObject({
        logout_outcome: 'given_up',
        logout_failure: 'The application answered 503.',
      })
      const target = { type: 'sign_in_session', id }
      expect(await listAuditEntries(api, target, 'sign_in_session.logout_given_up')).toHaveLength(1)
    }
    expect(await readSession(young.id)).toMatchObject({ logout_outcome: null })
  })
})

it('several workers tell an application everything once, and one at a time', async () => {
  status = 200
  const applicationId = await makeApplication('the busy')
  for (let index = 0; index < 12; index += 1) await endGranted(applicationId)
  await Promise.all([send(), send(), send()])
  expect(asked.get('the busy')).toEqual({ count: 12, now: 0, most: 1 })
})
