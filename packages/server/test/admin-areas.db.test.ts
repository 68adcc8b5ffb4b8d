/*
 * What an admin may not see is shown by no other way: not by webhooks that tell of it, not by what is left of
 * them, and not by the overview.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { createServiceApi, type ServiceApi } from './support/composed-api.ts'
import { createConsoleSession } from './support/console-session.ts'
import { insertAuthLogSession } from './support/factories.ts'

let api: ServiceApi
beforeAll(async () => {
  api = await createServiceApi()
})
afterAll(() => api.close())

interface Answer {
  readonly id: string
  readonly code?: string
  readonly data: readonly { readonly id: string; readonly event: string }[]
}

type Headers = Readonly<Record<string, string>>
const ask = async (
  headers: Headers,
  url: string,
  method: 'GET' | 'POST' | 'PATCH' = 'GET',
  payload?: object,
) => api.request<Answer>(url, { key: null, headers, method, ...(payload && { payload }) })

/** The headers of a session of an admin with limited access. */
const limited = async (...restrictions: string[]) =>
  (await createConsoleSession(api.db, { access: 'limited', restrictions })).headers
const full = async () => (await createConsoleSession(api.db)).headers

const webhook = (...events: string[]) => ({
  name: 'Tickets',
  url: 'https://127.0.0.1/webhooks',
  events,
})

const AREAS: [event: string, restrictions: string[]][] = [
  ['audit_log.recorded', []],
  ['auth_logs.success', ['sign_ins']],
  ['auth_logs.failure', ['sign_ins']],
  ['enrollment_secrets.alarm', ['enrollment']],
]

describe('a webhook', () => {
  it.each(AREAS)('is told of %s by whom may see it alone', async (event, restrictions) => {
    const headers = await limited(...restrictions)
    const made = await ask(headers, '/webhooks', 'POST', webhook('issues.new', event))
    expect([made.status, made.body.code]).toEqual([403, 'permission_missing'])
    const own = await ask(headers, '/webhooks', 'POST', webhook('issues.new'))
    expect(own.status).toBe(200)
    const added = await ask(headers, `/webhooks/${own.body.id}`, 'PATCH', { events: [event] })
    expect([added.status, added.body.code]).toEqual([403, 'permission_missing'])
  })

  it.each(AREAS)(
    'that tells of %s is led nowhere else by who may not see it',
    async (event, restrictions) => {
      const { body } = await ask(await full(), '/webhooks', 'POST', webhook(event))
      const url = `/webhooks/${body.id}`
      const headers = await limited(...restrictions)
      for (const edit of [
        { url: 'https://127.0.0.1/mine' },
        { enabled: false },
        { events: ['issues.new'] },
        { url: 'https://127.0.0.1/mine', events: ['issues.new'] },
      ]) {
        const changed = await ask(headers, url, 'PATCH', edit)
        expect([changed.status, changed.body.code]).toEqual([403, 'permission_missing'])
      }
      expect((await ask(await full(), url, 'PATCH', { name: 'Other' })).status).toBe(200)
    },
  )

  it('of others may be told of anything by keys, which see it themselves', async () => {
    const key = await api.createKey(['Manage Webhooks'])
    const payload = webhook('audit_log.recorded')
    expect((await api.request('/webhooks', { key, method: 'POST', payload })).status).toBe(200)
  })
})

describe('what webhooks were told', () => {
  it('is shown to whom may see it alone, in every list and by its id', async () => {
    const boss = await full()
    const { body: made } = await ask(
      boss,
      '/webhooks',
      'POST',
      webhook('audit_log.recorded', 'admin_users.created'),
    )
    await api.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      change.recordEvent({ type: 'admin_users.created', adminId: '1' })
      change.recordAudit({
        action: 'admin_user.updated',
        target: null,
        description: 'a secret of the board',
      })
      return Promise.resolve()
    })
    const eventsOf = async (headers: Headers, query = '') =>
      (await ask(headers, `/webhook_events?per_page=100${query}`)).body.data
    const all = await eventsOf(boss)
    const entry = all.findLast(({ event }) => event === 'audit_log.recorded')
    const other = all.findLast(({ event }) => event === 'admin_users.created')
    expect([entry, other]).not.toContain(undefined)

    const headers = await limited()
    const seen = await eventsOf(headers)
    expect(seen.map(({ event }) => event)).toContain('admin_users.created')
    expect(seen.map(({ event }) => event)).not.toContain('audit_log.recorded')
    expect(await eventsOf(headers, '&query=event:audit_log.recorded')).toEqual([])
    const show = async (session: Headers, path: string) => (await ask(session, path)).status
    for (const path of ['/webhook_events/', `/webhooks/${made.id}/deliveries/`]) {
      expect(await show(headers, `${path}${entry?.id ?? ''}`)).toBe(403)
      expect(await show(headers, `${path}${other?.id ?? ''}`)).toBe(200)
      expect(await show(boss, `${path}${entry?.id ?? ''}`)).toBe(200)
    }
  })
})

describe('the overview', () => {
  const read = async (headers: Headers) =>
    (await api.request<Record<string, unknown>>('/overview', { key: null, headers })).body

  it('leaves out who was stopped, streams and webhooks where the reader may not see them', async () => {
    const started_at = api.clock.now()
    await insertAuthLogSession(api.db, { started_at, result: 'Fail', initial_status: 'blocked' })
    expect(await read(await limited())).toMatchObject({
      stopped_sign_ins: { today: { count: 1 }, latest: [{ initial_status: 'blocked' }] },
      streams: [],
      webhooks: [],
    })
    expect(await read(await limited('sign_ins'))).toMatchObject({
      stopped_sign_ins: null,
      streams: [],
    })
    expect(await read(await limited('signals'))).toMatchObject({ streams: null, webhooks: [] })
    expect(await read(await limited('webhooks'))).toMatchObject({ streams: [], webhooks: null })
  })
})

describe('the search for events', () => {
  it('shows events to whoever may manage webhooks, and finds nothing by what only the audit log tells', async () => {
    const owner = await full()
    await ask(owner, '/webhooks', 'POST', webhook('admin_users.created'))
    const invitation = { first_name: 'Alan', last_name: 'Turing', access: 'billing_only' }
    await ask(owner, '/admin_users', 'POST', { email: 'alan@example.com', ...invitation })
    const { rows } = await sql<{ txn: string }>`
      select txn from audit_entry
      where action = 'admin_user.created' and description like '%alan@%'`.execute(api.db)
    const kindsFor = async (headers: Headers) => {
      const url = `/event_search?query=txn:${rows[0]?.txn ?? ''}`
      const { body } = await api.request<{
        found_by: string | null
        trails: readonly { readonly steps: readonly { readonly kind: string }[] }[]
      }>(url, { key: null, headers })
      return [body.found_by, ...body.trails.flatMap(({ steps }) => steps.map(({ kind }) => kind))]
    }
    expect(await kindsFor(owner)).toEqual(expect.arrayContaining(['txn', 'audit', 'event']))
    const told = await kindsFor(await limited())
    expect([told.includes('event'), told.includes('audit')]).toEqual([true, false])
    expect(await kindsFor(await limited('webhooks'))).toEqual([null])
  })
})
