/* A backup of partitioned tables, and what a restore makes of it. */
import { sql } from 'kysely'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { backUpService } from '../src/app/backup/back-up-service.ts'
import { restoreService } from '../src/app/backup/restore-service.ts'
import { loadConfig } from '../src/app/config/load-config.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { insertCheck, insertDevice } from './support/factories.ts'
import { beginPartition, describePartitions, makePartitions } from './support/partitioned-table.ts'
import { toUrl } from './support/to-url.ts'

const TABLE = 'check_transition'
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
const TASK = {
  onProgress: () => undefined,
  signal: new AbortController().signal,
  passphrase: undefined,
}

const addTransitions = ({ db }: TestDatabase, count: number) =>
  sql`insert into check_transition (device_id, check_id, occurred_at, from_status, to_status, revision,
      initiating_entity, actor_name, reason, txn)
    select (select min(id) from device), (select min(id) from posture_check), now(), 'passing', 'failing',
      1, 'system', 'Heliograph', '', number::text from generate_series(1, ${count}::int) number`.execute(
    db,
  )

it('a restored database has the rows and the partitions of the backup, and goes on with them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-partitions-'))
  const source = await createTestDatabase()
  const target = await createTestDatabase({ isEmpty: true })
  const configOf = ({ connection }: TestDatabase, name: string) =>
    loadConfig({
      DATABASE_URL: toUrl(connection),
      HELIOGRAPH_DATA_DIR: join(folder, name),
      HELIOGRAPH_MASTER_KEY: MASTER_KEY,
    })
  try {
    await insertDevice(source.db)
    await insertCheck(source.db)
    await beginPartition(source.db, { table: TABLE, first: 20_000_000, size: 100 })
    await addTransitions(source, 350)
    await makePartitions(source.db, TABLE)
    await sql`select drop_partition(${TABLE}, ${TABLE})`.execute(source.db)
    // Nothing was made for these yet.
    await addTransitions(source, 300)
    const before = await describePartitions(source.db, TABLE)
    expect(before).toMatchObject({ others: 50 })

    const backup = join(folder, 'backup')
    await backUpService(configOf(source, 'source'), { ...TASK, folder: backup })
    await restoreService(configOf(target, 'target'), { ...TASK, folder: backup })
    expect(await describePartitions(target.db, TABLE)).toEqual(before)
    const rows = (of: TestDatabase) => of.db.selectFrom(TABLE).selectAll().orderBy('id').execute()
    expect(await rows(target)).toEqual(await rows(source))

    await addTransitions(target, 5)
    expect(await makePartitions(target.db, TABLE)).toContain('collected')
    expect(await describePartitions(target.db, TABLE)).toMatchObject({ others: 0 })
  } finally {
    await source.close()
    await target.close()
    await rm(folder, { recursive: true, force: true })
  }
})
