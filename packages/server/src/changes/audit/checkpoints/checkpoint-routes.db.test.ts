import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi } from '../../../../test/support/api-app.ts'
import { isConsistent, isIncluded } from '../../../../test/support/merkle-proofs.ts'
import { SYSTEM_ACTOR } from '../audit-entry.ts'
import { createAuditChainer } from '../chain/audit-chainer.ts'
import { parseCheckpoint, verifyCheckpoint } from './checkpoint.ts'
import { checkpointRoutes } from './checkpoint-routes.ts'
import { signCheckpoint } from './sign-checkpoint.ts'
import { parseVerifierKey } from './signed-note.ts'

interface CheckpointJson {
  readonly origin: string
  readonly size: number
  readonly root_hash: string
  readonly checkpoint: string
  readonly verifier_keys: readonly string[]
}

interface InclusionJson {
  readonly position: number
  readonly size: number
  readonly previous_hash: string
  readonly hash: string
  readonly hashes: readonly string[]
}

let api: TestApi
let emptyStatus: number
/** Over the first entries, and over all of them. */
let first: CheckpointJson
let second: CheckpointJson

beforeAll(async () => {
  api = await createTestApi(({ db }) => checkpointRoutes(db))
  emptyStatus = (await api.request('/audit_checkpoints/latest')).status
  first = await checkpoint(20)
  second = await checkpoint(300)
})

afterAll(() => api.close())

async function checkpoint(count: number): Promise<CheckpointJson> {
  await api.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    for (let index = 0; index < count; index += 1) {
      change.recordAudit({ action: 'test.recorded', target: null, description: `entry ${index}` })
    }
  })
  await createAuditChainer(api.db, { logError: () => undefined }).flush()
  await signCheckpoint({ ...api, baseUrl: 'https://example.com', folder: '/nonexistent' })
  return (await api.request<CheckpointJson>('/audit_checkpoints/latest')).body
}

const toBuffers = (hashes: readonly string[]) => hashes.map((hash) => Buffer.from(hash, 'base64'))

describe('GET /audit_checkpoints/latest', () => {
  it('shows what was signed, with the key that verifies it', () => {
    const checkpoint = parseCheckpoint(second.checkpoint)
    const keys = second.verifier_keys.flatMap((text) => parseVerifierKey(text) ?? [])
    expect(checkpoint && verifyCheckpoint(checkpoint, keys)).toMatchObject({
      origin: second.origin,
      size: second.size,
      root: Buffer.from(second.root_hash, 'base64'),
    })
  })

  it('answers 404 before anything was signed, and 401 without a key', async () => {
    expect(emptyStatus).toBe(404)
    const { status } = await api.request('/audit_checkpoints/latest', { key: null })
    expect(status).toBe(401)
  })
})

describe('GET /audit_checkpoints/consistency_proof', () => {
  it('proves that a checkpoint continues an earlier one', async () => {
    const [from, size] = [first.size, second.size]
    const { body } = await api.request<{ hashes: string[] }>(
      `/audit_checkpoints/consistency_proof?from=${from}&to=${size}`,
    )
    const smaller = Buffer.from(first.root_hash, 'base64')
    const root = Buffer.from(second.root_hash, 'base64')
    expect(isConsistent({ from, size, smaller, root, proof: toBuffers(body.hashes) })).toBe(true)
  })

  it.each([
    ['from=3&to=2', 400],
    ['from=0&to=2', 400],
    ['from=x&to=2', 400],
    ['to=2', 400],
    ['from=2&to=100000', 409],
  ])('refuses %s with %i', async (query, expected) => {
    const { status } = await api.request(`/audit_checkpoints/consistency_proof?${query}`)
    expect(status).toBe(expected)
  })
})

describe('GET /audit_logs/{id}/inclusion_proof', () => {
  const prove = async (id: string, query = '') =>
    api.request<InclusionJson>(`/audit_logs/${id}/inclusion_proof${query}`)

  it('proves that the latest checkpoint covers an entry', async () => {
    const rows = await api.db
      .selectFrom('audit_entry')
      .select('sequence')
      .where('description', '=', 'entry 7')
      .orderBy('sequence')
      .execute()
    for (const { sequence } of rows) {
      const { body } = await prove(sequence)
      expect(body.size).toBe(second.size)
      const claim = {
        leaf: body.position - 1,
        size: body.size,
        data: Buffer.from(body.hash, 'base64'),
        root: Buffer.from(second.root_hash, 'base64'),
        proof: toBuffers(body.hashes),
      }
      expect(isIncluded(claim)).toBe(true)
    }
  })

  it('gives the hash before, from which the hash of the entry is made', async () => {
    const { body } = await prove('2', `?size=${first.size}`)
    const before = await prove('1', `?size=${first.size}`)
    expect(body.previous_hash).toBe(before.body.hash)
    expect(before.body.previous_hash).toBe(Buffer.alloc(32).toString('base64'))
    expect(createHash('sha256').digest()).toHaveLength(Buffer.from(body.hash, 'base64').length)
  })

  it('answers 404 for what is not chained and 409 for a checkpoint that does not cover it', async () => {
    expect((await prove('999999')).status).toBe(404)
    expect((await prove('none')).status).toBe(404)
    expect((await prove('300', `?size=${first.size}`)).status).toBe(409)
    expect((await prove('1', '?size=0')).status).toBe(400)
  })
})
