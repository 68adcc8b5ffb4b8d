import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  createTestApi,
  type TestAnswer,
  type TestApi,
  type TestApiParts,
  type TestRefusal,
} from '../../../../test/support/api-app.ts'
import { toOrigin } from '../../../changes/to-origin.ts'
import type { Change } from '../../../changes/change.ts'
import { AppError } from '../../app-error.ts'
import { DAY_MS, MINUTE_MS } from '../../clock.ts'
import { answer, noContent, route, type ApiRoute } from '../route.ts'
import { runRetention } from '../../../../test/support/run-retention.ts'
import { fixedRetention } from '../../../schema/retention.ts'

const SECRET = 'shown-once-and-never-again'

let api: TestApi
let nextKey = 0
/** What the handlers of the routes do before, in and after their change. */
let script: {
  before?: () => Promise<void>
  within?: () => Promise<void>
  after?: () => Promise<void>
}

const groupSchema = z.object({ id: z.string(), name: z.string(), secret: z.string() })
const body = z.strictObject({ name: z.string().min(1), note: z.string().optional() })

async function insertGroup(change: Change, name: string): Promise<z.input<typeof groupSchema>> {
  const { id } = await change.tx
    .insertInto('device_group')
    .values({ name, created_at: change.at, updated_at: change.at })
    .returning('id')
    .executeTakeFirstOrThrow()
  change.recordAudit({
    action: 'device_group.created',
    target: { type: 'device_group', id },
    description: `created ${name}`,
  })
  await script.within?.()
  return { id, name, secret: SECRET }
}

function routes({ runChange }: TestApiParts): ApiRoute[] {
  const declared = { summary: 'Make a group', tags: ['Groups'], permission: null } as const
  return [
    route({
      ...declared,
      method: 'POST',
      path: '/groups',
      body,
      responses: { 201: groupSchema },
      handler: async (context) => {
        await script.before?.()
        const made = await runChange(toOrigin(context), async (change) =>
          answer(201, await insertGroup(change, context.body.name), { location: '/groups/1' }),
        )
        await script.after?.()
        return made
      },
    }),
    route({
      ...declared,
      method: 'POST',
      path: '/late_groups',
      body,
      responses: { 201: groupSchema },
      handler: async (context) => {
        const group = await runChange(toOrigin(context), (change) =>
          insertGroup(change, context.body.name),
        )
        await script.after?.()
        return group
      },
    }),
    route({
      ...declared,
      method: 'PATCH',
      path: '/groups/:id',
      body,
      responses: { 200: groupSchema },
      handler: async ({ params, body: { name } }) => ({ id: params.id, name, secret: '' }),
    }),
    route({
      ...declared,
      method: 'DELETE',
      path: '/groups/:name',
      responses: { 204: noContent },
      handler: async (context) => {
        await runChange(toOrigin(context), (change) => insertGroup(change, context.params.name))
        return undefined
      },
    }),
  ]
}

beforeAll(async () => {
  api = await createTestApi(routes)
})

afterAll(() => api.close())

beforeEach(async () => {
  script = {}
  nextKey += 1
  await api.db.deleteFrom('device_group').execute()
})

interface SendOptions {
  readonly method?: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly idempotencyKey?: string
  readonly apiKey?: string
  readonly version?: string
}

async function send(
  path: string,
  payload?: object,
  { method = 'POST', idempotencyKey, apiKey, version }: SendOptions = {},
): Promise<TestAnswer<Partial<TestRefusal>>> {
  return api.request(path, {
    method,
    headers: {
      'idempotency-key': idempotencyKey ?? `key ${nextKey}`,
      ...(version === undefined ? {} : { 'x-service-api-version': version }),
    },
    ...(payload === undefined ? {} : { payload }),
    ...(apiKey === undefined ? {} : { key: apiKey }),
  })
}

async function groupNames(): Promise<string[]> {
  const rows = await api.db.selectFrom('device_group').select('name').orderBy('id').execute()
  return rows.map(({ name }) => name)
}

async function records(): Promise<number> {
  return (await api.db.selectFrom('idempotency_record').select('scope_hash').execute()).length
}

describe.each(['/groups', '/late_groups'])('POST %s twice with the same key', (path) => {
  it('has one effect and gives the first answer again, with all it said', async () => {
    const audited = await api.db.selectFrom('audit_entry').select('sequence').execute()
    const first = await send(path, { name: 'a' })
    expect(first.status).toBe(201)
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    const second = await send(path, { name: 'a' })
    expect(second.status).toBe(201)
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect(second.headers['location']).toBe(first.headers['location'])
    expect(second.headers['content-type']).toBe(first.headers['content-type'])
    expect(second.body).toEqual(first.body)
    expect(await groupNames()).toEqual(['a'])
    const entries = await api.db.selectFrom('audit_entry').select('sequence').execute()
    expect(entries.length - audited.length).toBe(1)
  })

  it('has one effect however many come at once; the others wait or get the same answer', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => send(path, { name: 'crowd' })),
    )
    expect(await groupNames()).toEqual(['crowd'])
    const made = answers.filter(({ status }) => status === 201)
    expect(made.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(
      1,
    )
    expect(new Set(made.map((each) => JSON.stringify(each.body))).size).toBe(1)
    for (const other of answers.filter(({ status }) => status !== 201)) {
      expect(other.status).toBe(409)
      expect(other.body.code).toBe('request_in_progress')
    }
  })

  it('is told to wait while the first is at work', async () => {
    const begun = Promise.withResolvers<undefined>()
    const first = Promise.withResolvers<undefined>()
    script.within = () => {
      begun.resolve(undefined)
      return first.promise
    }
    const running = send(path, { name: 'slow' })
    await begun.promise
    const early = await send(path, { name: 'slow' })
    expect(early.status).toBe(409)
    expect(early.headers['retry-after']).toBe('1')
    expect(early.body).toMatchObject({ error: 'Conflict', code: 'request_in_progress' })
    first.resolve(undefined)
    expect((await running).status).toBe(201)
    expect((await send(path, { name: 'slow' })).headers['idempotent-replayed']).toBe('true')
    expect(await groupNames()).toEqual(['slow'])
  })

  it('does it again when the first was rolled back', async () => {
    script.within = async () => Promise.reject(new AppError('conflict', 'Not now.'))
    expect((await send(path, { name: 'b' })).status).toBe(409)
    script.within = async () => Promise.reject(new Error('a bug'))
    expect((await send(path, { name: 'b' })).status).toBe(500)
    script = {}
    const again = await send(path, { name: 'b' })
    expect(again.status).toBe(201)
    expect(again.headers['idempotent-replayed']).toBeUndefined()
    expect(await groupNames()).toEqual(['b'])
  })

  it('forgets after 24 hours, and the sweep deletes what has expired', async () => {
    await send(path, { name: 'c' })
    api.clock.advance(DAY_MS - 1)
    expect((await send(path, { name: 'c' })).headers['idempotent-replayed']).toBe('true')
    api.clock.advance(1)
    expect((await send(path, { name: 'c2' })).status).toBe(201)
    expect(await groupNames()).toEqual(['c', 'c2'])
    api.clock.advance(DAY_MS)
    const policy = fixedRetention('idempotency records')
    expect((await runRetention(api.db, policy, api.clock.now())).count).toBeGreaterThan(0)
    expect(await records()).toBe(0)
  })

  it('keeps nothing of an answer in clear', async () => {
    await send(path, { name: 'd' })
    const [row] = await api.db.selectFrom('idempotency_record').selectAll().execute()
    expect(row?.status).toBe(201)
    expect(row?.answer_sealed?.includes(SECRET)).toBe(false)
    await api.db.deleteFrom('idempotency_record').execute()
  })
})

describe('when the service is interrupted after the effect', () => {
  it('gives the first answer where the change made it', async () => {
    script.after = async () => Promise.reject(new Error('interrupted'))
    expect((await send('/groups', { name: 'a' })).status).toBe(500)
    script = {}
    const again = await send('/groups', { name: 'a' })
    expect(again.status).toBe(201)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(await groupNames()).toEqual(['a'])
  })

  it('never does it again where the answer was to come later, and says so', async () => {
    script.after = async () => Promise.reject(new Error('interrupted'))
    expect((await send('/late_groups', { name: 'a' })).status).toBe(500)
    script = {}
    expect((await send('/late_groups', { name: 'a' })).body.code).toBe('request_in_progress')
    api.clock.advance(2 * MINUTE_MS)
    const later = await send('/late_groups', { name: 'a' })
    expect(later.status).toBe(409)
    expect(later.body.code).toBe('answer_lost')
    expect(await groupNames()).toEqual(['a'])
  })

  it('gives a refusal again that came after the effect', async () => {
    script.after = async () => Promise.reject(new AppError('conflict', 'Too late.'))
    const first = await send('/late_groups', { name: 'a' })
    expect(first.status).toBe(409)
    script = {}
    const again = await send('/late_groups', { name: 'a' })
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.body).toEqual(first.body)
  })
})

describe('the same key', () => {
  it.each([
    ['another body', '/groups', { name: 'b' }, {}],
    ['another version', '/groups', { name: 'a' }, { version: '2023-05-26' }],
  ] as const)('is refused with %s', async (_what, path, payload, options) => {
    await send('/groups', { name: 'a' })
    const { status, body: refusal } = await send(path, payload, options)
    expect(status).toBe(422)
    expect(refusal.code).toBe('idempotency_key_reused')
    expect(await groupNames()).toEqual(['a'])
  })

  it('is refused for another record of the same route', async () => {
    expect((await send('/groups/1', { name: 'a' }, { method: 'PATCH' })).status).toBe(200)
    expect((await send('/groups/2', { name: 'a' }, { method: 'PATCH' })).status).toBe(422)
  })

  it('counts anew for another route, method or caller', async () => {
    const apiKey = await api.createKey([])
    const fresh = [
      await send('/groups', { name: 'a' }),
      await send('/late_groups', { name: 'a2' }),
      await send('/groups', { name: 'a3' }, { apiKey }),
      await send('/groups/1', { name: 'a' }, { method: 'PATCH' }),
      await send('/groups/1', { name: 'a' }, { method: 'PUT' }),
    ]
    for (const each of fresh) {
      expect(each.status).toBeLessThan(300)
      expect(each.headers['idempotent-replayed']).toBeUndefined()
    }
  })

  it('means the same whatever the order of the members', async () => {
    const text = (payload: string) =>
      api.app.inject({
        method: 'PATCH',
        url: '/groups/1',
        headers: {
          authorization: `Bearer ${api.key}`,
          'content-type': 'application/json',
          'idempotency-key': `key ${nextKey}`,
        },
        payload,
      })
    expect((await text('{"name": "a", "note": "b"}')).statusCode).toBe(200)
    expect((await text(' {"note":"b","name":"a"} ')).headers['idempotent-replayed']).toBe('true')
  })

  it('repeats an answer without a body', async () => {
    expect((await send('/groups/gone', undefined, { method: 'DELETE' })).status).toBe(204)
    const again = await send('/groups/gone', undefined, { method: 'DELETE' })
    expect(again.status).toBe(204)
    expect(again.body).toBeUndefined()
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(await groupNames()).toEqual(['gone'])
  })
})

describe('a refused request', () => {
  it('leaves no record, so that it can be corrected under the same key', async () => {
    await api.db.deleteFrom('idempotency_record').execute()
    expect((await send('/groups', { name: '' })).status).toBe(422)
    expect(await records()).toBe(0)
    expect((await send('/groups', { name: 'right' })).status).toBe(201)
  })

  it.each([
    ['', 'empty'],
    [' ', 'blank'],
    ['k'.repeat(256), 'too long'],
    ['a\tb', 'no printable text'],
  ])('is refused for the key %j (%s)', async (idempotencyKey) => {
    const { status, body: refusal } = await send('/groups', { name: 'a' }, { idempotencyKey })
    expect(status).toBe(400)
    expect(refusal.code).toBe('invalid_parameter')
    expect(refusal.message).toContain('Idempotency-Key')
    expect(await groupNames()).toEqual([])
  })

  it('is accepted with a key of 255 characters', async () => {
    const idempotencyKey = 'k'.repeat(255)
    expect((await send('/groups', { name: 'a' }, { idempotencyKey })).status).toBe(201)
  })
})
