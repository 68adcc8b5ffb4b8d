import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { createAdmin } from '../admins/create-admin.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner, type RunChange } from '../../changes/change.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { parseMasterKeys } from '../../platform/secrets/master-key.ts'
import { createSealer } from '../../platform/secrets/sealed-box.ts'
import { authenticateApiKey } from './authenticate-api-key.ts'
import { isWellFormedKey } from './api-key-secret.ts'
import { createApiKey, revokeApiKey, rotateApiKey, type NewApiKey } from './create-api-key.ts'
import { revealApiKey } from './reveal-api-key.ts'

const ORIGIN = { actor: SYSTEM_ACTOR }
const sealer = createSealer(parseMasterKeys(Buffer.alloc(32, 7).toString('base64'), 'the test'))

describe('API keys', () => {
  let database: TestDatabase
  let runChange: RunChange
  const clock = new ManualClock()

  beforeAll(async () => {
    database = await createTestDatabase()
    runChange = createChangeRunner(database.db, clock, [])
    const names = { firstName: 'Ada', lastName: 'Admin' }
    await runChange(ORIGIN, async (change) => {
      await createAdmin(change, { email: 'full@example.com', access: 'full', ...names })
      await createAdmin(change, { email: 'limited@example.com', access: 'limited', ...names })
    })
  })

  afterAll(() => database.close())

  const create = (input: Partial<NewApiKey> = {}) =>
    runChange(ORIGIN, (change) =>
      createApiKey(change, sealer, {
        name: 'test',
        responsibleEmail: 'full@example.com',
        permissions: [],
        expiresAt: null,
        ...input,
      }),
    )
  const authenticate = (key: string) => authenticateApiKey(database.db, clock, key)
  const auditActions = async () => {
    const rows = await database.db
      .selectFrom('audit_entry')
      .select('action')
      .orderBy('sequence')
      .execute()
    return rows.map(({ action }) => action)
  }

  it('authenticates with the key that was issued and with its permissions', async () => {
    const permission = { permission: 'Remove Devices', rationale: 'offboarding' }
    const { key, id } = await create({ permissions: [permission] })
    expect(isWellFormedKey(key)).toBe(true)
    expect(await authenticate(key)).toMatchObject({ id, permissions: new Set(['Remove Devices']) })
  })

  it('names who is responsible for its use in the audit log', async () => {
    const { id } = await create({ name: 'of Ada' })
    await runChange(ORIGIN, (change) => rotateApiKey(change, sealer, id, 0))
    const rows = await database.db
      .selectFrom('audit_entry')
      .select('description')
      .where('description', 'like', '%of Ada%')
      .orderBy('sequence')
      .execute()
    expect(rows.map(({ description }) => description)).toEqual([
      'created the API key of Ada with read access; Ada Admin is responsible for its use',
      'rotated the API key of Ada; Ada Admin is responsible for its use',
    ])
  })

  it('stores neither the key nor a text that contains it', async () => {
    const { key, id } = await create()
    const row = await database.db
      .selectFrom('api_key')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const entries = await database.db.selectFrom('audit_entry').selectAll().execute()
    expect(JSON.stringify([row, entries])).not.toContain(key)
    expect(row.secret_sealed.includes(key)).toBe(false)
  })

  it.each([
    ['k2sk_v1_short'],
    ['k2sk_v1_0000000000000000000000000000000000000000000000'],
    ['k2sk_v2_0000000000000000000000000000000000000000000000'],
    ['x'.repeat(10_000)],
  ])('refuses %s', async (key) => {
    await expect(authenticate(key)).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it('refuses a revoked key at once', async () => {
    const { key, id } = await create()
    await runChange(ORIGIN, (change) => revokeApiKey(change, id))
    await expect(authenticate(key)).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it('refuses an expired key', async () => {
    const expiresAt = new Date(clock.now().getTime() + 60_000)
    const { key } = await create({ expiresAt })
    await authenticate(key)
    clock.set(expiresAt)
    await expect(authenticate(key)).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it('lets both keys work until the overlap of a rotation ends', async () => {
    const permission = { permission: 'Refresh Check', rationale: 'help desk' }
    const old = await create({ permissions: [permission] })
    const next = await runChange(ORIGIN, (change) => rotateApiKey(change, sealer, old.id, 60))
    expect((await authenticate(next.key)).permissions).toEqual(new Set(['Refresh Check']))
    await authenticate(old.key)
    clock.advance(60_000)
    await expect(authenticate(old.key)).rejects.toMatchObject({ code: 'unauthenticated' })
    await authenticate(next.key)
  })

  it('ends the old key at once when a rotation has no overlap', async () => {
    const old = await create()
    await runChange(ORIGIN, (change) => rotateApiKey(change, sealer, old.id, 0))
    await expect(authenticate(old.key)).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it('reveals a key to an admin with Full Access only, and records who saw it', async () => {
    const { key, id } = await create()
    const reveal = (email: string) =>
      runChange(ORIGIN, (change) => revealApiKey(change, sealer, id, email))
    expect(await reveal('full@example.com')).toBe(key)
    expect(await auditActions()).toContain('api_key.revealed')
    await expect(reveal('limited@example.com')).rejects.toMatchObject({ code: 'invalid_body' })
    await expect(reveal('nobody@example.com')).rejects.toMatchObject({ code: 'invalid_body' })
  })

  it.each([
    ['an unknown permission', { permissions: [{ permission: 'Fly', rationale: 'x' }] }],
    ['an empty rationale', { permissions: [{ permission: 'Remove Devices', rationale: ' ' }] }],
    ['an empty name', { name: ' ' }],
    ['an expiry in the past', { expiresAt: new Date(0) }],
    ['a responsible admin without Full Access', { responsibleEmail: 'limited@example.com' }],
    ['a responsible admin who does not exist', { responsibleEmail: 'nobody@example.com' }],
  ])('creates nothing with %s', async (_name, input) => {
    const before = await database.db.selectFrom('api_key').select('id').execute()
    await expect(create(input)).rejects.toMatchObject({ code: 'invalid_body' })
    const after = await database.db.selectFrom('api_key').select('id').execute()
    expect(after).toHaveLength(before.length)
  })
})
