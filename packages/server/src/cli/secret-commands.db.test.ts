import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { runCommand } from '../../test/support/run-command.ts'
import { toUrl } from '../../test/support/to-url.ts'
import { loadConfig } from '../app/config/load-config.ts'
import { openFoundation, type ServiceFoundation } from '../app/foundation.ts'
import { parseMasterKeys } from '../platform/secrets/master-key.ts'
import { toRecord } from '../platform/db/record-table.ts'
import { createSealer, type Sealer } from '../platform/secrets/sealed-box.ts'
import { hashEnrollmentSecret } from '../posture/enrollment/secrets/create-enrollment-secret.ts'
import {
  enrollmentSecretContext,
  openEnrollmentSecret,
} from '../posture/enrollment/secrets/open-enrollment-secret.ts'

const MAIN = join(import.meta.dirname, '../main.ts')
const newKey = () => randomBytes(32).toString('base64')
const [OLD, NEW, OTHER] = [newKey(), newKey(), newKey()]
/** Many batches, so that a run can be killed between two. */
const SECRETS = 500
const WAIT = { timeout: 20_000, interval: 20 }

let folder: string
let database: TestDatabase
let services: ServiceFoundation

const environmentWith = (...keys: string[]) => ({
  DATABASE_URL: toUrl(database.connection),
  HELIOGRAPH_MASTER_KEY: keys.join(','),
  HELIOGRAPH_DATA_DIR: folder,
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reseal-'))
  database = await createTestDatabase()
  services = await openFoundation(loadConfig(environmentWith(OLD)), { purpose: 'command' })
  const at = new Date()
  const rows = Array.from({ length: SECRETS }, (_, index) => {
    const hash = hashEnrollmentSecret(`secret ${index}`)
    const sealed = services.sealer.seal(`secret ${index}`, enrollmentSecretContext(hash))
    return { name: `secret ${index}`, secret_hash: hash, secret_sealed: sealed }
  })
  await database.db
    .insertInto('enrollment_secret')
    .values(rows.map((row) => ({ ...row, created_at: at, updated_at: at })))
    .execute()
})
afterAll(async () => {
  await services.close()
  await database.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (environment: Record<string, string>, ...words: string[]) =>
  runCommand(['secrets', ...words], environment)

const sealerOf = (...keys: string[]) => createSealer(parseMasterKeys(keys.join(','), 'test'))

const listSecrets = () =>
  database.db.selectFrom('enrollment_secret').selectAll().orderBy('id').execute()

/** How many secrets a process with this sealer opens. */
async function countOpened(sealer: Sealer): Promise<number> {
  const opened = (await listSecrets()).filter((secret) => {
    try {
      return openEnrollmentSecret(sealer, toRecord(secret)) === secret.name
    } catch {
      return false
    }
  })
  return opened.length
}

/** Runs the command in a process of its own until it waits for the row at `index`, and kills it there. */
async function killAt(index: number): Promise<void> {
  const rows = await listSecrets()
  let child: ChildProcess | undefined
  await database.db.transaction().execute(async (tx) => {
    const held = tx
      .selectFrom('enrollment_secret')
      .select('id')
      .where('id', '=', rows[index]?.id ?? '')
    await held.forUpdate().execute()
    const node = ['--conditions=source', '--disable-warning=ExperimentalWarning']
    const args = [...node, MAIN, 'secrets', 'reseal']
    child = spawn(process.execPath, args, {
      env: { ...process.env, ...environmentWith(NEW, OLD) },
      stdio: 'ignore',
    })
    const sealer = sealerOf(NEW)
    await vi.waitFor(async () => {
      const secrets = await listSecrets()
      expect(secrets.some(({ secret_sealed: sealed }) => !sealer.needsRewrap(sealed))).toBe(true)
    }, WAIT)
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  expect(child?.signalCode).toBe('SIGKILL')
}

describe('a change of the master key', () => {
  it('changes nothing when the former key is not given, or a wrong one', async () => {
    for (const keys of [[NEW], [NEW, OTHER]]) {
      const { exitCode, told } = await run(environmentWith(...keys), 'reseal')
      expect([exitCode, told]).toEqual([
        2,
        expect.stringMatching(/is not the one that the secrets/),
      ])
      expect(told).not.toContain(OTHER)
    }
    expect(await countOpened(sealerOf(OLD))).toBe(SECRETS)
  })

  it('survives that the command is killed in the middle, and is taken up where it was', async () => {
    await killAt(SECRETS / 2)
    const done = await countOpened(sealerOf(NEW))
    expect(done).toBeGreaterThan(0)
    expect(done).toBeLessThan(SECRETS)
    // A service that has both keys goes on all the while.
    expect(await countOpened(sealerOf(NEW, OLD))).toBe(SECRETS)
    expect(await countOpened(sealerOf(OLD, NEW))).toBe(SECRETS)

    const before = await run(environmentWith(NEW, OLD), 'status', '--json')
    const keyIds = (JSON.parse(before.printed) as { state: string }[]).map(({ state }) => state)
    expect(new Set(keyIds)).toEqual(new Set(['current', 'former']))

    const { exitCode, printed } = await run(environmentWith(NEW, OLD), 'reseal', '--json')
    expect(exitCode).toBe(0)
    const report = JSON.parse(printed) as { resealed: number; remaining: unknown[] }
    // The signing key was sealed too, before or after the kill.
    expect(report.resealed).toBeGreaterThanOrEqual(SECRETS - done)
    expect(report.resealed).toBeLessThanOrEqual(SECRETS - done + 1)
    expect(report.remaining).toEqual([])
    expect(await countOpened(sealerOf(NEW))).toBe(SECRETS)
    expect(await countOpened(sealerOf(OLD))).toBe(0)
  })

  it('is over: the former key is not needed any more, and does not work any more', async () => {
    const { exitCode, printed } = await run(environmentWith(NEW), 'reseal')
    expect([exitCode, printed]).toEqual([
      0,
      expect.stringMatching(/^Sealed 0 secrets under .*\nNothing is sealed under another key/),
    ])
    expect((await run(environmentWith(OLD), 'status')).exitCode).toBe(2)
    const actions = await database.db
      .selectFrom('audit_entry')
      .select('action')
      .where('action', '=', 'secrets.resealed')
      .execute()
    expect(actions).toHaveLength(1)
  })

  it('names secrets whose key nobody gave, leaves them as they are and fails', async () => {
    const [secret] = await listSecrets()
    const context = enrollmentSecretContext(secret?.secret_hash ?? Buffer.alloc(0))
    const sealed = sealerOf(OTHER).seal('lost', context)
    const update = database.db.updateTable('enrollment_secret').set({ secret_sealed: sealed })
    await update.where('id', '=', secret?.id ?? '').execute()
    const { exitCode, printed } = await run(environmentWith(NEW), 'reseal')
    expect(exitCode).toBe(1)
    expect(printed).toMatch(/1 in enrollment_secret\.secret_sealed under [0-9a-f]{8}\n/)
    const [kept] = await listSecrets()
    expect(kept?.secret_sealed).toEqual(sealed)
  })

  it('may be given by a file with both keys, one a line', async () => {
    const path = join(folder, 'keys')
    await writeFile(path, `${OTHER}\n${NEW}\n`)
    const { DATABASE_URL } = environmentWith()
    const environment = {
      DATABASE_URL,
      HELIOGRAPH_DATA_DIR: folder,
      HELIOGRAPH_MASTER_KEY_FILE: path,
    }
    const { exitCode, printed } = await run(environment, 'reseal', '--json')
    expect(exitCode).toBe(0)
    expect(JSON.parse(printed)).toMatchObject({ remaining: [] })
    expect(await countOpened(sealerOf(OTHER))).toBe(SECRETS - 1)
  })
})
