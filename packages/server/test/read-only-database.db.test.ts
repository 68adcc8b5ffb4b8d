/* The server only reads, as a provider has it whose disk is full. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { DatabaseClient } from '../src/platform/db/database-client.ts'
import { isReadOnly } from '../src/platform/db/write-check.ts'
import { SILENT_LOGGER } from '../src/platform/silent-logger.ts'
import { createTestKey } from './support/api-keys.ts'
import { composeTestApi, type ComposedApi } from './support/composed-api.ts'
import { createConsoleSession } from './support/console-session.ts'
import { withClient } from './support/database.ts'

type Headers = Readonly<Record<string, string>>

let api: ComposedApi
let callers: Readonly<Record<'session' | 'key', Headers>>
beforeAll(async () => {
  api = await composeTestApi({ log: SILENT_LOGGER })
  const { db } = api.services
  const session = await createConsoleSession(db)
  // Its next use would be written down.
  await sql`update admin_session set last_used_at = now() - interval '5 minutes'`.execute(db)
  const key = await createTestKey(api.services, [])
  callers = { session: session.headers, key: { authorization: `Bearer ${key}` } }
  await setReadOnly('on')
})
afterAll(async () => {
  await setReadOnly('off')
  await api.close()
})

/** For all connections of the database, which begin anew. */
async function setReadOnly(state: 'on' | 'off'): Promise<void> {
  const { db, connection } = api.services
  await withClient(connection, async (client) => {
    await client.query('set default_transaction_read_only = off')
    await client.query(`do $$ begin
      execute format('alter database %I set default_transaction_read_only = ${state}', current_database());
    end $$`)
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
  })
  await vi.waitFor(async () => {
    const looks = Array.from({ length: 10 }, () => isReadOnly(db))
    expect(new Set(await Promise.all(looks))).toEqual(new Set([state === 'on']))
  }, 15_000)
}

async function read(headers: Headers): Promise<number> {
  return (await api.http.inject({ url: '/devices', headers })).statusCode
}

test.each(['session', 'key'] as const)(
  'reads by a %s are answered, one after the other and many at once',
  async (kind) => {
    const one = [await read(callers[kind]), await read(callers[kind]), await read(callers[kind])]
    const many = await Promise.all(Array.from({ length: 10 }, () => read(callers[kind])))
    expect([...one, ...many]).toEqual(Array.from({ length: 13 }, () => 200))
  },
)

test('a change is refused for what the database is, not as if it were away', async () => {
  await expect(createTestKey(api.services, [])).rejects.toMatchObject({ code: '25006' })
})

test('a connection that was refused a write is replaced, but a new one answers reads meanwhile', async () => {
  const openedMs = performance.now()
  const client = new DatabaseClient({
    ...api.services.network.settings(api.services.connection, 0),
    isPooled: true,
  })
  await client.connect()
  await expect(client.query('create table refused (id int)')).rejects.toMatchObject({
    code: '25006',
  })
  const now = vi.spyOn(performance, 'now').mockReturnValue(openedMs + 1_000)
  const soon = client.isReplaceable
  now.mockReturnValue(openedMs + 60_000)
  const later = client.isReplaceable
  now.mockRestore()
  await client.close()
  expect([soon, later]).toEqual([false, true])
})
