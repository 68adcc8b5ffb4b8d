import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import {
  createCommandDatabase,
  type CommandDatabase,
} from '../../../test/support/command-database.ts'
import { withDatabase } from '../../../test/support/with-database.ts'
import { runCommand } from '../../../test/support/run-command.ts'
import { queueEvents } from '../../../test/support/queue-events.ts'
import { toClientConfig } from '../../platform/db/connection.ts'
import { LISTENER_NAME } from '../../platform/db/listener.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/clock.ts'
import { insertDestination } from '../../signals/dispatch/destination-store.ts'
import { readKnownSchemaVersion } from '../../schema/migrate.ts'
import { PROCESS_ROLES } from '../../schema/process-role.ts'
import { createPresencePart } from '../presence/presence-part.ts'

let commands: CommandDatabase
beforeAll(async () => {
  commands = await createCommandDatabase()
})
afterAll(() => commands.close())
beforeEach(async () => {
  await commands.services.db.deleteFrom('service_process').execute()
  await commands.services.db.deleteFrom('delivery_destination').execute()
})

interface Told {
  readonly healthy: boolean
  readonly problems: readonly string[]
  readonly processes: readonly Readonly<Record<string, unknown>>[]
  readonly queues: readonly { readonly kind: string }[]
}

async function readStatus() {
  const { exitCode, printed } = await runCommand(['status', '--json'], commands.environment)
  return { exitCode, told: JSON.parse(printed) as Told }
}

const openPresence = (countNodes = () => 3) =>
  createPresencePart(commands.services, { roles: PROCESS_ROLES }, countNodes)

const setSeen = (agoMs: number) =>
  commands.services.db
    .updateTable('service_process')
    .set({ seen_at: new Date(Date.now() - agoMs) })
    .execute()

describe('heliograph status', () => {
  it('shows each process from its start to its end, and exits with 0 while all is well', async () => {
    const presence = openPresence()
    await presence.start?.()
    const { exitCode, told } = await readStatus()
    expect(told.problems).toEqual([])
    expect(exitCode).toBe(0)
    expect(told).toMatchObject({
      healthy: true,
      processes: [
        {
          roles: PROCESS_ROLES,
          version: '0.1.0',
          schema_version: await readKnownSchemaVersion(),
          missing: false,
          known_nodes: 3,
        },
      ],
      replication: { primary: true, timeline: '1', synchronous: false, standbys: [] },
    })
    const { printed } = await runCommand(['status'], commands.environment)
    expect(printed).toContain('api, agents, worker')
    expect(printed).toContain('All is well.')
    await presence.stop?.()
    expect((await readStatus()).told.processes).toEqual([])
  })

  it('exits with 1 where nothing can be stored, although the processes are there', async () => {
    const presence = openPresence()
    await presence.start?.()
    const { pool } = commands.services
    const { rows } = await pool.query<{ name: string }>('select current_database() as name')
    const alter = `alter database "${rows[0]?.name}"`
    await pool.query(`${alter} set default_transaction_read_only = on`)
    try {
      const { exitCode, told } = await readStatus()
      expect(told.problems).toEqual([
        expect.stringContaining('cannot store anything at the moment: its database only reads. '),
      ])
      expect(exitCode).toBe(1)
    } finally {
      await pool.query(`${alter} reset default_transaction_read_only`)
    }
    await presence.stop?.()
  })

  it('exits with 1 where its own role only reads, unless the service is there by another that writes', async () => {
    const presence = openPresence()
    await presence.start?.()
    const { pool } = commands.services
    const { rows } = await pool.query<{ name: string; role: string }>(
      'select current_database() as name, current_user as role',
    )
    const { name = '', role = '' } = rows[0] ?? {}
    const { administration, reporting } = inject('postgres')
    const admin = new Client(toClientConfig(withDatabase(administration, name)))
    await admin.connect()
    const service = new Client({
      ...toClientConfig(withDatabase(reporting, name)),
      application_name: LISTENER_NAME,
    })
    const alter = (one: string, change: string) =>
      admin.query(`alter role "${one}" in database "${name}" ${change}`)
    const isOwn = { problems: [expect.stringMatching(/^The role of this command only reads/)] }
    try {
      await alter(role, 'set default_transaction_read_only = on')
      expect(await readStatus()).toMatchObject({ exitCode: 1, told: isOwn })
      await service.connect()
      expect(await readStatus()).toMatchObject({ exitCode: 0, told: { problems: [] } })
      await admin.query(`alter database "${name}" set default_transaction_read_only = on`)
      expect(await readStatus()).toMatchObject({ exitCode: 1, told: isOwn })
      await alter(service.user ?? '', 'set default_transaction_read_only = off')
      expect(await readStatus()).toMatchObject({ exitCode: 0, told: { problems: [] } })
      await admin.query(`alter database "${name}" reset default_transaction_read_only`)
      await alter(service.user ?? '', 'set default_transaction_read_only = on')
      expect(await readStatus()).toMatchObject({ exitCode: 1, told: isOwn })
    } finally {
      await admin.query(`alter database "${name}" reset default_transaction_read_only`)
      await alter(role, 'reset default_transaction_read_only')
      await alter(service.user ?? '', 'reset default_transaction_read_only')
      await service.end()
      await admin.end()
    }
    await presence.stop?.()
  })

  it('exits with 1 where no process runs, and names roles that nobody plays', async () => {
    expect(await readStatus()).toMatchObject({
      exitCode: 1,
      told: { healthy: false, problems: ['No process of the service runs.'] },
    })
    const agents = createPresencePart(commands.services, { roles: ['agents'] }, () => 0)
    await agents.start?.()
    expect((await readStatus()).told.problems).toEqual([
      'No process has the role api.',
      'No process has the role worker.',
    ])
    await agents.stop?.()
  })

  it('tells of a process that died, until it is forgotten an hour later', async () => {
    const dead = openPresence()
    await dead.start?.()
    await setSeen(2 * MINUTE_MS)
    const { told } = await readStatus()
    expect(told.problems).toContainEqual(expect.stringMatching(/is missing for 1[12]\d s\.$/))
    await setSeen(HOUR_MS + MINUTE_MS)
    const next = openPresence()
    await next.start?.()
    expect((await readStatus()).told.processes).toHaveLength(1)
    await next.stop?.()
    await dead.stop?.()
  })

  it('names a process of another version than the database', async () => {
    const presence = openPresence()
    await presence.start?.()
    await commands.services.db.updateTable('service_process').set({ schema_version: 1 }).execute()
    expect((await readStatus()).told.problems).toEqual([
      expect.stringContaining('is of schema version 1, the database of'),
    ])
    await presence.stop?.()
  })

  it('counts what waits by kind of destination, and tells of what has been due for too long', async () => {
    const { db } = commands.services
    const presence = openPresence()
    await presence.start?.()
    const webhook = await insertDestination(db, { kind: 'webhook', state: 'active' })
    const held = await insertDestination(db, { kind: 'ssf_push', state: 'held' })
    await queueEvents(commands.services, webhook, [null, null, null, null])
    await queueEvents(commands.services, held, [null, null])
    const ids = await db
      .selectFrom('delivery')
      .select('id')
      .where('destination_id', '=', webhook)
      .orderBy('id')
      .execute()
    const set = (at: number, values: object) =>
      db
        .updateTable('delivery')
        .set(values)
        .where('id', '=', ids[at]?.id ?? '')
        .execute()
    await set(0, { state: 'dead' })
    await set(1, { claim_expires_at: new Date(Date.now() + HOUR_MS) })
    await set(2, { next_attempt_at: new Date(Date.now() + HOUR_MS) })
    await set(3, { next_attempt_at: new Date(Date.now() - HOUR_MS) })
    const { exitCode, told } = await readStatus()
    expect(exitCode).toBe(1)
    expect(told.problems).toEqual([
      expect.stringMatching(/^1 deliveries of webhook are due, the oldest for 36\d\d s\.$/),
    ])
    const byKind = Object.fromEntries(told.queues.map(({ kind, ...figures }) => [kind, figures]))
    expect(byKind['webhook']).toMatchObject({ queued: 3, due: 1, in_flight: 1, dead: 1 })
    expect(byKind['ssf_push']).toMatchObject({ queued: 2, due: 0, oldest_due_seconds: null })
    await presence.stop?.()
  })

  it('tells of jobs that failed, and of those that were not done in time although a worker is there', async () => {
    const { db } = commands.services
    const presence = openPresence()
    await presence.start?.()
    const longAgo = new Date(Date.now() - 2 * HOUR_MS)
    await db.updateTable('service_process').set({ started_at: longAgo }).execute()
    await db.deleteFrom('job_run').execute()
    await db
      .insertInto('job_run')
      .values([
        { name: 'retention', started_at: longAgo, finished_at: longAgo, error: null },
        { name: 'audit checkpoints', started_at: new Date(), finished_at: new Date(), error: 'no' },
      ])
      .execute()
    const { told } = await readStatus()
    expect(told.problems).toContain('The job "retention" is late.')
    expect(told.problems).toContain('The job "audit checkpoints" failed: no')
    // It runs once a day.
    expect(told.problems.join()).not.toContain('release data')
    await presence.stop?.()
  })
})
