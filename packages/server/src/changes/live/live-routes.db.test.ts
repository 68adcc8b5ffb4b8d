import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { composeTestApi, type ComposedApi } from '../../../test/support/composed-api.ts'
import { createTestKey } from '../../../test/support/api-keys.ts'
import { createConsoleSession } from '../../../test/support/console-session.ts'
import { revokeApiKey } from '../../organisation/api-keys/create-api-key.ts'
import { changeAdmin } from '../../organisation/admins/change-admin.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import { permissionOf } from '../../platform/http/operation.ts'
import { isAreaOpen, permissionsOf, RESTRICTION_NAMES } from '../../schema/access-levels.ts'
import { LIVE_COLLECTIONS, mayHearOf, type LiveCollection } from '../../schema/live-topics.ts'
import { PERMISSIONS } from '../../schema/permissions.ts'
import { insertDeliveries } from '../../signals/dispatch/delivery-store.ts'
import { SYSTEM_ACTOR } from '../audit/audit-entry.ts'
import type { Change } from '../change.ts'

let api: ComposedApi
let key: string
const open = new Set<Readable>()

beforeAll(async () => {
  api = await composeTestApi({ log: SILENT_LOGGER })
  key = await createTestKey(api.services, [...PERMISSIONS])
})

afterEach(() => {
  for (const stream of open) stream.destroy()
  open.clear()
})

afterAll(async () => {
  await api.close()
})

const watch = (secret = key, headers: Readonly<Record<string, string>> = {}) =>
  watchAs({ authorization: `Bearer ${secret}`, ...headers })

async function watchAs(headers: Readonly<Record<string, string>>) {
  const answer = await api.http.inject({ url: '/live', headers, payloadAsStream: true })
  const stream = answer.stream()
  open.add(stream)
  let text = ''
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await vi.waitFor(() => expect(text).toContain('event: ready'))
  return { answer, stream, text: () => text }
}

const change = <Result>(work: (change: Change) => Promise<Result>) =>
  api.services.runChange({ actor: SYSTEM_ACTOR }, work)

const record = (type: string, id: string) =>
  change(async (own) =>
    own.recordAudit({ action: 'test.recorded', target: { type, id }, description: 'test' }),
  )

describe('GET /live', () => {
  it('tells every connection what a change has written to the audit log, with the id of the record', async () => {
    const [first, second] = [await watch(), await watch()]
    expect(first.answer.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    await record('ssf_stream', '7')
    for (const { text } of [first, second]) {
      // What was made for the test just before may be told in the same message.
      const told = /\{"topics":\[[^\]]*"audit_logs","ssf_streams:7"\]\}/
      await vi.waitFor(() => expect(text()).toMatch(told))
    }
  })

  it('tells what a change marks, and nothing of a change that does not commit', async () => {
    const { text } = await watch()
    await change(async (own) => {
      own.markChanged('devices:5')
      throw new Error('no')
    }).catch(() => undefined)
    await change(async (own) => own.markChanged('devices:6'))
    await vi.waitFor(() => expect(text()).toContain('"devices:6"'))
    expect(text()).not.toContain('devices:5')
  })

  it('tells that something was queued for a receiver', async () => {
    const { text } = await watch()
    const { services } = api
    const { id } = await services.db
      .insertInto('delivery_destination')
      .values({
        kind: 'webhook',
        state: 'held',
        retry_not_before: null,
        failing_since: null,
        last_success_at: null,
        last_failure_at: null,
        last_failure: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await change((own) =>
      insertDeliveries(own, [
        { destinationId: id, eventId: 'event', eventType: 'test', subjectKey: null, body: '{}' },
      ]),
    )
    await vi.waitFor(() => expect(text()).toContain('"deliveries"'))
  })

  it('tells nobody of what it may not list', async () => {
    const all = await watch()
    const plain = await watch(await createTestKey(api.services, []))
    const session = await createConsoleSession(api.services.db, {
      access: 'limited',
      restrictions: ['webhooks', 'sign_ins'],
    })
    const limited = await watchAs(session.headers)
    for (const type of ['webhook', 'api_key', 'auth_log', 'ssf_stream', 'device']) {
      await record(type, '41')
    }
    for (const each of [all, plain, limited]) {
      await vi.waitFor(() => expect(each.text()).toContain('devices:41'))
    }
    const told = ({ text }: { readonly text: () => string }) =>
      ['api_keys', 'audit_logs', 'auth_logs', 'ssf_streams', 'webhooks'].filter((collection) =>
        text().includes(`"${collection}`),
      )
    expect(told(all)).toEqual(['api_keys', 'audit_logs', 'auth_logs', 'ssf_streams', 'webhooks'])
    expect(told(plain)).toEqual(['audit_logs', 'auth_logs'])
    expect(told(limited)).toEqual(['ssf_streams'])
    const again = await watchAs({ ...session.headers, 'last-event-id': 'unknown' })
    await vi.waitFor(() => expect(again.text()).toContain('{"topics":["all"]}'))
  })

  it.each(Object.keys(LIVE_COLLECTIONS) as LiveCollection[])(
    'tells of %s whom its list is open to',
    (collection) => {
      const path = collection === 'reporting_queries' ? '/reporting/queries' : `/${collection}`
      const list = api.routes.find((route) => route.method === 'GET' && route.path === path)
      if (list === undefined) throw new Error('a collection without a list')
      const permission = permissionOf(list)
      const mayList = (held: ReadonlySet<string>) => permission === null || held.has(permission)
      const none = new Set<string>()
      expect(mayHearOf(collection, { permissions: none })).toBe(mayList(none))
      expect(mayHearOf(`${collection}:7`, { permissions: new Set(PERMISSIONS) })).toBe(true)
      for (const restrictions of [[], ...RESTRICTION_NAMES.map((name) => [name])]) {
        const level = { accessLevel: 'limited', restrictions } as const
        const permissions = permissionsOf(level)
        const session = { id: '1', email: 'ada@example.com', steppedUpAt: null, ...level }
        expect([restrictions, mayHearOf(`${collection}:7`, { permissions, session })]).toEqual([
          restrictions,
          isAreaOpen(list, level) && mayList(permissions),
        ])
      }
    },
  )

  it('ends as soon as an admin may see less', async () => {
    const { adminId, headers } = await createConsoleSession(api.services.db, { access: 'limited' })
    const { text, stream } = await watchAs(headers)
    await change((own) => changeAdmin(own, adminId, { restrictions: ['webhooks'] }))
    await vi.waitFor(() => expect(stream.readableEnded).toBe(true))
    expect(text()).toContain('event: ended')
    expect(text()).not.toContain('still here')
    const again = await watchAs(headers)
    await change((own) => changeAdmin(own, adminId, { restrictions: [] }))
    await record('device', '42')
    await vi.waitFor(() => expect(again.text()).toContain('devices:42'))
    expect(again.stream.readableEnded).toBe(false)
  })

  it('is no use of a session', async () => {
    const { id, headers } = await createConsoleSession(api.services.db)
    const aged = sql<Date>`now() - interval '7 hours'`
    const ofSession = api.services.db.updateTable('admin_session').set({ last_used_at: aged })
    await ofSession.where('id', '=', id).execute()
    await watchAs(headers)
    const { isFresh } = await api.services.db
      .selectFrom('admin_session')
      .select(sql<boolean>`last_used_at > now() - interval '1 hour'`.as('isFresh'))
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(isFresh).toBe(false)
  })

  it('goes on where a connection stopped', async () => {
    const { text, stream } = await watch()
    await record('person', '1')
    await vi.waitFor(() => expect(text()).toContain('people:1'))
    const id = /^id: (.*)\nevent: changed/m.exec(text())?.[1] ?? ''
    stream.destroy()
    const other = await watch()
    await record('person', '2')
    await vi.waitFor(() => expect(other.text()).toContain('people:2'))
    const again = await watch(key, { 'last-event-id': id })
    await vi.waitFor(() => expect(again.text()).toContain('{"topics":["audit_logs","people:2"]}'))
    const lost = await watch(key, { 'last-event-id': 'other-7' })
    await vi.waitFor(() => expect(lost.text()).toContain('{"topics":["all"]}'))
  })

  it('ends at once with the credential', async () => {
    const secret = await createTestKey(api.services, [])
    const { text, stream } = await watch(secret)
    const { id } = await api.services.db
      .selectFrom('api_key')
      .select('id')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
    await change((own) => revokeApiKey(own, id))
    await vi.waitFor(() => expect(stream.readableEnded).toBe(true))
    expect(text()).toContain('event: ended')
    // Not by the heartbeat, which looks as well.
    expect(text()).not.toContain('still here')
  })

  it('refuses more than ten connections of one caller, answers HEAD, and keeps none of those', async () => {
    const secret = await createTestKey(api.services, [])
    const authorization = `Bearer ${secret}`
    for (let index = 0; index < 12; index += 1) {
      const head = await api.http.inject({
        method: 'HEAD',
        url: '/live',
        headers: { authorization },
      })
      expect(head.statusCode).toBe(200)
    }
    for (let index = 0; index < 10; index += 1) await watch(secret)
    const refused = await api.http.inject({ url: '/live', headers: { authorization } })
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '30'])
  })

  it('ends by itself after the seconds that are asked for, and refuses what are none', async () => {
    const headers = { authorization: `Bearer ${key}`, 'last-event-id': 'unknown' }
    const answer = await api.http.inject({ url: '/live?seconds=0', headers })
    expect(answer.body).toMatch(
      /^retry: 2000\nid: .*\nevent: ready\ndata: \{\}\n\nid: .*\nevent: changed/,
    )
    const refused = await api.http.inject({ url: '/live?seconds=-1', headers })
    expect(refused.statusCode).toBe(400)
  })
})

it('ends when the service stops', async () => {
  const own = await composeTestApi({ log: SILENT_LOGGER })
  const secret = await createTestKey(own.services, [])
  const answer = await own.http.inject({
    url: '/live',
    headers: { authorization: `Bearer ${secret}` },
    payloadAsStream: true,
  })
  const ended = Readable.from(answer.stream()).toArray()
  await own.close()
  expect(String((await ended)[0])).toContain('event: ready')
})
