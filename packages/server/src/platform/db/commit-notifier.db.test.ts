import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { recordStatements } from '../../../test/support/record-statements.ts'
import { CommitNotifier } from './commit-notifier.ts'
import { openDatabase } from './database.ts'
import { DatabaseNetwork } from './database-network.ts'
import { createListener, type Listener } from './listener.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000
/** What was not taken is tried again after that. */
const RETRY_DELAY_MS = 1_000
/** More are left out. */
const KEPT_MAX = 10_000

const database = await createTestDatabase()
const network = new DatabaseNetwork()
const logError = vi.fn()
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
// Connections as the service has them: those of the tests are not recorded.
const service = openDatabase(database.connection, { network, poolMax: 2, logError })

let listener: Listener
let heard: string[]

beforeEach(async () => {
  heard = []
  listener = createListener(database.connection, { log, network })
  listener.subscribe('first', (payload) => heard.push(`first ${payload}`))
  listener.subscribe('second', (payload) => heard.push(`second ${payload}`))
  listener.start()
  await listener.whenListening()
})
afterEach(async () => {
  await listener.stop()
  vi.clearAllMocks()
})
afterAll(async () => {
  await service.close()
  await database.close()
})

const createNotifier = () => new CommitNotifier({ db: service.preparedDb, logError })

/** A notifier whose database refuses everything by a code, in one of its routines. */
function createRefusable() {
  let refusal: string | undefined
  let refusing: string | undefined
  const getExecutor = vi.fn(() => {
    if (refusal !== undefined) {
      throw Object.assign(new Error('refused'), { code: refusal, routine: refusing })
    }
    return service.preparedDb.getExecutor()
  })
  return {
    notifier: new CommitNotifier({ db: { getExecutor }, logError }),
    refuse: (code: string | undefined, routine?: string) => {
      refusal = code
      refusing = routine
    },
    tries: () => getExecutor.mock.calls.length,
  }
}

test('tells at once, and together what comes meanwhile', async () => {
  const notifier = createNotifier()
  const statements = await recordStatements(async () => {
    notifier.tell('first', ['1'])
    for (let turn = 0; turn < 50; turn += 1) notifier.tell('second', [String(turn % 10)])
    await notifier.flush()
  })
  const notifying = statements.filter(({ text }) => text.includes('pg_notify'))
  expect(notifying).toHaveLength(2)
  const expected = ['first 1', ...Array.from({ length: 10 }, (_, turn) => `second ${turn}`)]
  await vi.waitFor(() => expect(heard).toEqual(expected), WAIT_MS)
})

test('tells last what was told again', async () => {
  const notifier = createNotifier()
  notifier.tell('second', ['while this is under way'])
  notifier.tell('first', ['+ 7'])
  notifier.tell('first', ['- 7'])
  notifier.tell('first', ['+ 7'])
  await notifier.flush()
  const expected = ['second while this is under way', 'first - 7', 'first + 7']
  await vi.waitFor(() => expect(heard).toEqual(expected), WAIT_MS)
})

test('refuses what no notification takes, and tells what else there is', async () => {
  const notifier = createNotifier()
  notifier.tell('second', ['while this is under way'])
  notifier.tell('first', ['x'.repeat(7_999)])
  expect(() => notifier.tell('first', ['1', 'é'.repeat(4_000)])).toThrow(RangeError)
  expect(() => notifier.tell('first', ['1\0'])).toThrow(RangeError)
  notifier.tell('second', ['next'])
  await notifier.flush()
  expect(logError).not.toHaveBeenCalled()
  const expected = ['second while this is under way', `first ${'x'.repeat(7_999)}`, 'second next']
  await vi.waitFor(() => expect(heard.toSorted()).toEqual(expected.toSorted()), WAIT_MS)
})

test('goes on after what the database refused', async () => {
  const notifier = createNotifier()
  notifier.tell('x'.repeat(64), ['to a channel whose name is too long'])
  await notifier.flush()
  expect(logError).toHaveBeenCalledTimes(1)
  notifier.tell('second', ['next'])
  await vi.waitFor(() => expect(heard).toEqual(['second next']), WAIT_MS)
})

test('logs once that more is left out than it keeps, and again when that comes again', async () => {
  const notifier = createNotifier()
  const tellTooMuch = async () => {
    notifier.tell('second', ['while this is under way'])
    notifier.tell(
      'unheard',
      Array.from({ length: KEPT_MAX }, (_, index) => String(index)),
    )
    for (let turn = 0; turn < 3; turn += 1) notifier.tell('first', [`left out ${turn}`])
    await notifier.flush()
  }
  await tellTooMuch()
  expect(logError).toHaveBeenCalledTimes(1)
  await tellTooMuch()
  expect(logError).toHaveBeenCalledTimes(2)
  notifier.tell('first', ['next'])
  await vi.waitFor(() => expect(heard).toContain('first next'), WAIT_MS)
  expect(heard.filter((told) => told.startsWith('first'))).toEqual(['first next'])
})

test('has nothing to tell when nothing was said', async () => {
  const notifier = createNotifier()
  const statements = await recordStatements(async () => {
    notifier.tell('first', [])
    await notifier.flush()
  })
  expect(statements).toEqual([])
})

test('tells later what the database did not take, with what came meanwhile', async () => {
  const broken = openDatabase(
    { ...database.connection, port: 1, host: '127.0.0.1' },
    { network, poolMax: 1, logError },
  )
  let db = broken.preparedDb
  const notifier = new CommitNotifier({
    db: { getExecutor: () => db.getExecutor() },
    logError,
  })
  notifier.tell('first', ['1'])
  await vi.waitFor(() => expect(logError).toHaveBeenCalledTimes(1), WAIT_MS)
  notifier.tell('first', ['2'])
  db = service.preparedDb
  await vi.waitFor(() => expect(heard).toEqual(['first 1', 'first 2']), WAIT_MS)
  await broken.close()
})

test('tells later what a full queue of notifications did not take', async () => {
  const { notifier, refuse } = createRefusable()
  refuse('54000', 'PreCommit_Notify')
  notifier.tell('first', ['1'])
  await vi.waitFor(() => expect(logError).toHaveBeenCalledTimes(1), WAIT_MS)
  refuse(undefined)
  await vi.waitFor(() => expect(heard).toEqual(['first 1']), WAIT_MS)
})

test('logs each refusal, also after the database was away, and the next loss of it as well', async () => {
  const { notifier, refuse } = createRefusable()
  for (const code of ['ECONNREFUSED', 'ECONNREFUSED', '22023', '22023', 'ECONNREFUSED']) {
    refuse(code)
    notifier.tell('first', [code])
    await notifier.flush()
  }
  expect(logError.mock.calls.map(([error]) => (error as { code: string }).code)).toEqual([
    'ECONNREFUSED',
    '22023',
    '22023',
    'ECONNREFUSED',
  ])
  refuse(undefined)
  await notifier.close()
})

test('tells at its end what comes while it ends', async () => {
  let tries = 0
  const getExecutor = () => {
    tries += 1
    if (tries < 4) notifier.tell('first', [`while ${tries} is under way`])
    return service.preparedDb.getExecutor()
  }
  const notifier = new CommitNotifier({ db: { getExecutor }, logError })
  notifier.tell('first', ['at first'])
  await notifier.close()
  expect(logError).not.toHaveBeenCalled()
  const told = [1, 2, 3].map((count) => `first while ${count} is under way`)
  // What is told together comes in any order.
  await vi.waitFor(() => expect(heard.toSorted()).toEqual(['first at first', ...told]), WAIT_MS)
})

test('tries nothing any more once it is closed, and logs once that something is left out', async () => {
  const { notifier, refuse, tries } = createRefusable()
  refuse('ECONNREFUSED')
  notifier.tell('first', ['1'])
  notifier.tell('first', ['2'])
  await notifier.close()
  expect(logError).toHaveBeenCalledTimes(2)
  expect(logError).toHaveBeenLastCalledWith(
    expect.objectContaining({ message: '2 notifications or more are left out' }),
    expect.stringContaining('find it later'),
  )
  refuse(undefined)
  const count = tries()
  notifier.tell('first', ['3'])
  await notifier.flush()
  await sleep(2 * RETRY_DELAY_MS)
  expect(tries()).toBe(count)
  expect(logError).toHaveBeenCalledTimes(2)
})

test('logs what is told after its end', async () => {
  const notifier = createNotifier()
  await notifier.close()
  notifier.tell('first', ['1'])
  notifier.tell('first', ['2'])
  expect(logError).toHaveBeenCalledTimes(1)
})

test('commits without waiting for the disk or for a standby, whatever others do', async () => {
  const { pool, connection } = database
  // Its own function comes before that of PostgreSQL, and what it writes is looked at in the commit.
  await pool.query(`
    create schema told;
    create table told.commit (synchronous_commit text);
    create function told.note() returns trigger language plpgsql as $$ begin
      update told.commit set synchronous_commit = current_setting('synchronous_commit');
      return null;
    end $$;
    create constraint trigger at_commit after insert on told.commit
      deferrable initially deferred for each row execute function told.note();
    create function told.pg_notify(text, text) returns void language sql as
      $$ insert into told.commit values (null) $$`)
  // For the connections that are opened from now on.
  await pool.query(`do $$ begin
    execute format('alter database %I set search_path = told, pg_catalog, public', current_database());
    execute format('alter database %I set synchronous_commit = on', current_database());
  end $$`)
  const noting = openDatabase(connection, { network, poolMax: 1, logError })
  const notifier = new CommitNotifier({ db: noting.preparedDb, logError })
  notifier.tell('first', ['1'])
  await notifier.flush()
  const { rows } = await pool.query('select distinct synchronous_commit from told.commit')
  expect(rows).toEqual([{ synchronous_commit: 'off' }])
  await noting.close()
})
