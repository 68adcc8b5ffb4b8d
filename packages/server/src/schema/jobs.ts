/*
 * The background jobs of the service: their names, who runs them and how often. The parts add the work;
 * `heliograph jobs list` shows this list and loads none of them.
 */
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../platform/clock.ts'
import type { DueJob, PeriodicJob } from '../platform/jobs/job.ts'
import { PROCESS_ROLES, type ProcessRole } from './process-role.ts'

type Period = Pick<PeriodicJob<ProcessRole>, 'scope' | 'roles' | 'intervalMs'>

/** Once in each interval, by whichever worker. */
function byOneWorker(intervalMs: number): Period {
  return { scope: 'installation', roles: ['worker'], intervalMs }
}

/** By every process with one of the roles, for itself. */
function byEach(roles: readonly ProcessRole[], intervalMs: number): Period {
  return { scope: 'process', roles, intervalMs }
}

/** The jobs that are done again and again. */
export const PERIODIC_JOBS = {
  'audit checkpoint files': byEach(PROCESS_ROLES, MINUTE_MS),
  'audit checkpoints': byOneWorker(5 * MINUTE_MS),
  certificate: byEach(PROCESS_ROLES, DAY_MS),
  'deleted streams': byOneWorker(MINUTE_MS),
  'device status counts': byOneWorker(5 * MINUTE_MS),
  'failing webhooks': byOneWorker(MINUTE_MS),
  'key usage': byEach(['api'], 5 * SECOND_MS),
  'leased ports': byEach(['api'], 5 * SECOND_MS),
  'master key': byEach(PROCESS_ROLES, 5 * MINUTE_MS),
  partitions: byOneWorker(MINUTE_MS),
  'push fallback': byOneWorker(15 * SECOND_MS),
  'release data': byOneWorker(DAY_MS),
  retention: byOneWorker(10 * SECOND_MS),
  'sign-in keys': byEach(['api', 'worker'], 5 * MINUTE_MS),
  'signing key proofs': byEach(['api', 'worker'], 5 * SECOND_MS),
  'signing keys': byEach(['api', 'worker'], MINUTE_MS),
  'unreachable receivers': byOneWorker(5 * MINUTE_MS),
  'waiting deliveries': byOneWorker(10 * MINUTE_MS),
  'waiting polls': byEach(['api'], 5 * SECOND_MS),
} as const satisfies Record<string, Period>

/** The jobs that are due at times which the database knows; workers share them. */
export const DUE_JOBS = [
  'device deletion',
  'device statuses',
  'sign-in attempts',
  'sign-in expiry',
  'sign-in logouts',
  'signing key rotation',
  'silent streams',
  'stream backfill',
  'stream heartbeats',
  'stream restatement',
] as const

/** Who does them. */
export const DUE_ROLES = ['worker'] as const

/** A job of {@link PERIODIC_JOBS} with its work. */
export function periodicJob(
  name: keyof typeof PERIODIC_JOBS,
  run: () => Promise<unknown>,
): PeriodicJob<ProcessRole> {
  return { kind: 'periodic', name, ...PERIODIC_JOBS[name], run }
}

/** A job of {@link DUE_JOBS} with its work. */
export function dueJob(
  name: (typeof DUE_JOBS)[number],
  run: DueJob['run'],
  wakeups: Pick<DueJob, 'channel' | 'pollMs'> = {},
): DueJob<ProcessRole> {
  return { kind: 'due', name, roles: DUE_ROLES, run, ...wakeups }
}
