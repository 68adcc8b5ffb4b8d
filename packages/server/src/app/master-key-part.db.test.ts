import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { SYSTEM_ACTOR } from '../changes/audit/audit-entry.ts'
import { createChangeRunner } from '../changes/change.ts'
import { parseMasterKeys, type MasterKeys } from '../platform/secrets/master-key.ts'
import { resealSecrets } from '../platform/secrets/reseal-secrets.ts'
import { createSealer } from '../platform/secrets/sealed-box.ts'
import { SEALED_COLUMNS } from '../schema/sealed-columns.ts'
import { ensureSigningKey } from '../signals/signing/signing-keys.ts'
import { loadConfig } from './config/load-config.ts'
import { createMasterKeyPart } from './master-key-part.ts'

const newKey = () => randomBytes(32).toString('base64')
const [OLD, NEW] = [newKey(), newKey()]

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  const { db } = database
  const sealer = createSealer(keysOf(OLD))
  const runChange = createChangeRunner(db, new ManualClock(), [])
  await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    ensureSigningKey(change, { sealer, modulusBits: 2048 }),
  )
})
afterAll(() => database.close())

const keysOf = (...keys: string[]): MasterKeys => parseMasterKeys(keys.join(','), 'test')

function partOf(...keys: string[]) {
  const masterKeys = keysOf(...keys)
  const config = loadConfig({ HELIOGRAPH_MASTER_KEY: keys.join(',') })
  const sealer = createSealer(masterKeys)
  const { health, jobs } = createMasterKeyPart({ config, db: database.db, masterKeys, sealer })
  const [job] = jobs ?? []
  if (job?.kind !== 'periodic' || health === undefined) throw new Error('it watches nothing')
  return { health, look: () => job.run() }
}

async function insertEnrollmentSecret(key: string) {
  const at = new Date()
  const [hash, id] = [randomBytes(32), 'x']
  const context = { table: 'enrollment_secret', column: 'secret_sealed', id }
  const secret_sealed = createSealer(keysOf(key)).seal('secret', context)
  await database.db
    .insertInto('enrollment_secret')
    .values({ name: 'x', secret_hash: hash, secret_sealed, created_at: at, updated_at: at })
    .execute()
}

test('a process that a change of the master key missed is not ready', async () => {
  const { db } = database
  const former = partOf(OLD)
  await expect(former.health()).resolves.toBeUndefined()
  const masterKeys = keysOf(NEW, OLD)
  const dependencies = { db, sealer: createSealer(masterKeys), columns: SEALED_COLUMNS }
  await resealSecrets(
    { ...dependencies, keyId: masterKeys.current.id },
    new AbortController().signal,
    () => undefined,
  )
  await expect(former.health()).rejects.toThrow(/is not the one that the secrets/)
  await expect(former.look()).rejects.toThrow(/1 in signing_key\.private_key_sealed under/)
  for (const keys of [[NEW], [NEW, OLD], [OLD, NEW]]) {
    await expect(partOf(...keys).health()).resolves.toBeUndefined()
  }
})

test('a process whose former key was taken away too early says which secrets are lost to it', async () => {
  await insertEnrollmentSecret(OLD)
  await expect(partOf(NEW, OLD).look()).resolves.toBeUndefined()
  const { health, look } = partOf(NEW)
  await expect(health()).resolves.toBeUndefined()
  const failure: unknown = await Promise.resolve(look()).catch((error: unknown) => error)
  expect(String(failure)).toMatch(/1 in enrollment_secret\.secret_sealed under [0-9a-f]{8}; give/)
  expect(String(failure)).not.toContain(OLD)
})
