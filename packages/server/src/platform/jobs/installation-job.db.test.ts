import { sql } from 'kysely'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { LOCK_CLASSES } from '../../schema/lock-keys.ts'
import { HOUR_MS } from '../clock.ts'
import { createListener, type Listener } from '../db/listener.ts'
import { startInstallationJob, toJobLock } from './installation-job.ts'
import type { PeriodicJob } from './job.ts'
import type { RunningJob } from './running-job.ts'
import { findJobDelay, insertJobRun, listJobRuns } from './job-run-store.ts'
import { DatabaseNetwork } from '../db/database-network.ts'

const database = await createTestDatabase()
const { db } = database
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
  await db.deleteFrom('job_run').execute()
})
afterAll(() => database.close())

const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
const logError = vi.fn()

interface TestProcess {
  readonly listener: Listener
  readonly startJob: (run: () => Promise<unknown>, intervalMs?: number) => RunningJob
}

/** A process that runs jobs; stopped after the test. */
async function startProcess(): Promise<TestProcess> {
  const listener = createListener(database.connection, { log, network: new DatabaseNetwork() })
  listener.start()
  stops.push(() => listener.stop())
  await listener.whenListening()
  return {
    listener,
    startJob(run, intervalMs = HOUR_MS) {
      const job: PeriodicJob = {
        kind: 'periodic',
        scope: 'installation',
        name: 'retention',
        roles: [],
        intervalMs,
        run,
      }
      const running = startInstallationJob(job, {
        db,
        listener,
        lockClass: LOCK_CLASSES.jobs,
        logError,
      })
      stops.push(() => running.stop())
      return running
    },
  }
}

async function waitForFinishedRun(): Promise<void> {
  await vi.waitFor(async () => {
    expect((await listJobRuns(db)).map(({ finishedAt }) => finishedAt)).toEqual([expect.any(Date)])
  })
}

/** As if the last run had been so long ago. */
async function agePastRun(ageMs: number): Promise<void> {
  await sql`update job_run set started_at = started_at - ${ageMs} * interval '1 millisecond',
    finished_at = finished_at - ${ageMs} * interval '1 millisecond'`.execute(db)
}

test('of several processes one runs a job that is due, and the others do not', async () => {
  const run = vi.fn(async () => undefined)
  const processes = await Promise.all([startProcess(), startProcess(), startProcess()])
  const jobs = processes.map((process) => process.startJob(run))
  await waitForFinishedRun()
  // Stopping waits for what each of them has begun.
  await Promise.all(jobs.map((job) => job.stop()))
  expect(run).toHaveBeenCalledTimes(1)
})

test('a restart within the interval neither repeats a job nor puts it off', async () => {
  const run = vi.fn(async () => undefined)
  const first = await startProcess()
  const job = first.startJob(run)
  await waitForFinishedRun()
  await job.stop()

  const interval = { name: 'retention', intervalMs: HOUR_MS }
  expect(await findJobDelay(db, interval)).toBeGreaterThan(HOUR_MS / 2)
  expect(await insertJobRun(db, interval)).toBe(false)

  await agePastRun(HOUR_MS)
  first.startJob(run)
  await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(2), 10_000)
})

test('a job runs again after its interval in the same process', async () => {
  const run = vi.fn(async () => undefined)
  const { startJob } = await startProcess()
  startJob(run, 50)
  await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThan(2), 10_000)
})

test('while one process runs a job no other begins it, however long it takes', async () => {
  const { listener } = await startProcess()
  await listener.tryLock(toJobLock(LOCK_CLASSES.jobs, 'retention'))
  const run = vi.fn(async () => undefined)
  const other = await startProcess()
  const tries = vi.spyOn(other.listener, 'tryLock')
  const job = other.startJob(run)
  await vi.waitFor(() => expect(tries).toHaveBeenCalled(), 10_000)
  await job.stop()
  expect(run).not.toHaveBeenCalled()
})

test('a process that dies does not keep its job from the others', async () => {
  const dead = await startProcess()
  const lock = toJobLock(LOCK_CLASSES.jobs, 'retention')
  expect(await dead.listener.tryLock(lock)).toBe(true)
  const { listener } = await startProcess()
  expect(await listener.tryLock(lock)).toBe(false)
  await dead.listener.stop()
  await vi.waitFor(async () => expect(await listener.tryLock(lock)).toBe(true), 10_000)
  await listener.unlock(lock)
})

test('a run that fails is remembered with its error and tried again, which forgets the error', async () => {
  const failure = new Error('the disk is full')
  const run = vi.fn(async () => undefined).mockRejectedValueOnce(failure)
  const { startJob } = await startProcess()
  const job = startJob(run)
  await waitForFinishedRun()
  await job.stop()
  expect(await listJobRuns(db)).toMatchObject([{ name: 'retention', error: 'the disk is full' }])
  expect(logError).toHaveBeenCalledWith(failure, expect.stringContaining('retention'))

  await agePastRun(HOUR_MS)
  startJob(run)
  await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(2), 10_000)
  await waitForFinishedRun()
  expect(await listJobRuns(db)).toMatchObject([{ error: null }])
})

test('the jobs of a process share its connection and do not hold each other up', async () => {
  const { listener } = await startProcess()
  const one = toJobLock(LOCK_CLASSES.jobs, 'one')
  const two = toJobLock(LOCK_CLASSES.jobs, 'two')
  expect(one).not.toEqual(two)
  expect(await Promise.all([listener.tryLock(one), listener.tryLock(two)])).toEqual([true, true])
})
