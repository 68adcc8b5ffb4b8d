import type { Updateable } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../../test/support/composed-api.ts'
import { createPosture, FAIL, PASS } from '../../../../test/support/posture-fixtures.ts'
import type { StreamRowId } from '../../../schema/branded-ids.ts'
import type { Schema } from '../../../schema/schema.ts'
import { recordCheckResults } from '../../../posture/checks/record-check-results.ts'

interface Answer {
  readonly found_by: string | null
  readonly trails: readonly {
    readonly txn: string
    readonly steps: readonly {
      readonly kind: string
      readonly summary: string
      readonly event_id: string | null
      readonly delivery: { readonly destination: { readonly name: string } } | null
    }[]
    readonly missing: readonly {
      readonly destination: { readonly name: string } | null
      readonly rule: string
    }[]
  }[]
}

const REQUEST = `req_${'b'.repeat(32)}`

let api: ServiceApi
let key: string
let deviceId: string
let streamId: string
let personId: string

beforeAll(async () => {
  api = await createServiceApi()
  key = await api.createKey(['Manage Shared Signals Framework Streams', 'Manage Webhooks'])
  const post = async (url: string, payload: object) => {
    const { status, body } = await api.request<{ id: string }>(url, {
      key,
      method: 'POST',
      payload,
    })
    expect([status < 300, body]).toEqual([true, body])
    return body.id
  }
  const delivery = { method: 'urn:ietf:rfc:8936' }
  streamId = await post('/ssf_streams', { name: 'Told', delivery })
  const disabled = await post('/ssf_streams', { name: 'Disabled', delivery })
  const { body } = await api.request<{ stream_id: string }>(`/ssf_streams/${disabled}`, { key })
  await post('/ssf_streams/status', { stream_id: body.stream_id, status: 'disabled' })
  const none = await post('/ssf_streams', { name: 'Nobody added', delivery })
  await api.db
    .updateTable('ssf_stream')
    .set({ default_subjects: 'NONE' })
    .where('id', '=', none as StreamRowId)
    .execute()
  const url = 'https://127.0.0.1/hook'
  await post('/webhooks', { name: 'Chat', url, events: ['device_trust.status_changed'] })
  await post('/webhooks', { name: 'Issues', url, events: ['issues.resolved'] })
  const posture = createPosture(api.db)
  const checkId = await posture.insertCheck({ remediation_strategy: 'block_immediately' } as never)
  const person = await api.db
    .insertInto('person')
    .values({
      name: 'Ada',
      email: 'ada@example.com',
      created_at: new Date(),
      updated_at: new Date(),
    } as never)
    .returning('id')
    .executeTakeFirstOrThrow()
  personId = person.id
  deviceId = await posture.insertDevice({ owner_person_id: personId })
  const report = (rows: typeof PASS) =>
    api.runChange(
      { actor: { type: 'System', id: null, name: 'Heliograph', email: null }, requestId: REQUEST },
      (change) =>
        recordCheckResults(change, {
          deviceId,
          countsAsEvaluation: true,
          results: [{ checkId, revision: 1, statusCode: 0, message: '', rows }],
        }),
    )
  await report(PASS)
  await report(FAIL)
})

afterAll(() => api.close())

const search = async (query: string, by = key) => {
  const url = `/event_search?query=${encodeURIComponent(query)}`
  const { status, body } = await api.request<Answer>(url, { key: by })
  expect([status, body]).toEqual([200, body])
  return body
}

/** The trail of the block. */
const find = async (query: string, by = key) => {
  const { trails } = await search(query, by)
  const trail = trails.find(({ steps }) => steps.some(({ summary }) => summary.includes('Blocked')))
  expect(trail).toBeDefined()
  return trail ?? { txn: '', steps: [], missing: [] }
}

describe('GET /event_search', () => {
  it('follows a change of a device to its receivers, in order', async () => {
    const { steps } = await find(deviceId)
    expect(steps[0]?.kind).toBe('status')
    const kinds = steps.map(({ kind }) => kind)
    expect(kinds).toEqual(expect.arrayContaining(['status', 'audit', 'event', 'delivery']))
    expect(kinds.indexOf('status')).toBeLessThan(kinds.indexOf('audit'))
    expect(kinds.indexOf('audit')).toBeLessThan(kinds.indexOf('delivery'))
    const told = steps.flatMap(({ delivery }) => delivery?.destination.name ?? [])
    expect(told.sort()).toEqual(['Chat', 'Told'])
  })

  it('says who was told nothing, and why', async () => {
    const { missing } = await find(`device_id:${deviceId}`)
    const rules = missing.map(({ destination, rule }) => `${destination?.name ?? ''} ${rule}`)
    expect(rules).toEqual(
      expect.arrayContaining([
        'Disabled stream_disabled',
        'Nobody added subject_not_included',
        'Issues not_subscribed',
      ]),
    )
    expect(rules.some((rule) => rule.startsWith('Told') || rule.startsWith('Chat'))).toBe(false)
  })

  it('finds the same by the event, the txn, the person and the request', async () => {
    const { txn, steps } = await find(deviceId)
    const eventIds = steps.flatMap(({ kind, event_id: id }) =>
      kind === 'delivery' ? (id ?? []) : [],
    )
    expect(eventIds).toHaveLength(2)
    for (const query of [...eventIds, txn, `person_id:${personId}`, 'ADA@example.com', REQUEST]) {
      expect([query, (await find(query)).txn]).toEqual([query, txn])
    }
    expect((await search(eventIds[0] ?? '')).found_by).toBe('event_id')
  })

  it('answers nothing for what does not exist, and refuses what can be nothing', async () => {
    for (const query of [
      'device_id:999999',
      'txn:nonsense',
      `req_${'0'.repeat(32)}`,
      'x@example.com',
    ]) {
      expect(await search(query)).toEqual({ found_by: null, trails: [], has_more: false })
    }
    const { status, body } = await api.request('/event_search?query=hello', { key })
    expect([status, body]).toMatchObject([400, { code: 'invalid_search' }])
  })

  describe('of a delivery that was given up', () => {
    const ERROR = 'invalid_audience: not mine'
    const GIVEN_UP = 'Its delivery to Told was given up: '
    let eventId: string
    const setDelivery = async (
      values: Pick<Updateable<Schema['delivery']>, 'state' | 'last_error'>,
    ) => api.db.updateTable('delivery').set(values).where('event_id', '=', eventId).execute()
    const call = async (path: string, payload: object = {}) => {
      const request = { key, method: 'POST', payload } as const
      const { status } = await api.request(`/ssf_streams${path}`, request)
      expect(status).toBeLessThan(300)
    }
    const discard = () => call(`/${streamId}/discard`, { event_ids: [eventId] })
    /** What is said of it. */
    const said = async () => {
      const { steps } = await find(eventId)
      return steps.find(({ delivery }) => delivery?.destination.name === 'Told')?.summary
    }

    beforeAll(async () => {
      const { steps } = await find(deviceId)
      const told = steps.find(({ delivery }) => delivery?.destination.name === 'Told')
      eventId = told?.event_id ?? ''
    })

    it('says first that it was asked for, and then what the receiver said last', async () => {
      await setDelivery({ state: 'dead', last_error: ERROR })
      await discard()
      expect(await said()).toBe(`${GIVEN_UP}It was given up on request. Last error: ${ERROR}`)
    })

    it.each(['resend', 'redrive'])('knows nothing of an earlier end after a %s', async (action) => {
      await setDelivery({ state: 'discarded', last_error: ERROR })
      if (action === 'resend') await call(`/${streamId}/deliveries/${eventId}/resend`)
      else await call(`/${streamId}/redrive`, { event_ids: [eventId], include_discarded: true })
      await discard()
      expect(await said()).toBe(`${GIVEN_UP}It was given up on request`)
    })

    it('says that the stream was disabled, also of what had failed before', async () => {
      await setDelivery({ state: 'queued', last_error: ERROR })
      const { body } = await api.request<{ stream_id: string }>(`/ssf_streams/${streamId}`, { key })
      await call('/status', { stream_id: body.stream_id, status: 'disabled' })
      expect(await said()).toBe(`${GIVEN_UP}The stream was disabled. Last error: ${ERROR}`)
      await call('/status', { stream_id: body.stream_id, status: 'enabled' })
    })
  })

  it('shows nobody the deliveries of what they may not manage', async () => {
    const { steps, missing } = await find(deviceId, api.key)
    expect(steps.map(({ kind }) => kind)).not.toContain('delivery')
    expect(missing).toEqual([])
  })
})
