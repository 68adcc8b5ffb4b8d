import { join, resolve } from 'node:path'
import { toLogError, type Foundation, type ServicePart } from '../foundation.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { MetricSource } from '../../platform/http/metrics-server.ts'
import { periodicJob } from '../../schema/jobs.ts'
import { PROCESS_ROLES } from '../../schema/process-role.ts'
import type { AuditChainer } from './chain/audit-chainer.ts'
import { countUnchainedEntries } from './chain/chain-store.ts'
import { exportCheckpoints } from './checkpoints/export-checkpoints.ts'
import { signCheckpoint } from './checkpoints/sign-checkpoint.ts'
import { listAuditPowers } from './audit-guard-read.ts'

/** What is linked later is under a later checkpoint; a process that stops has no time for a backlog. */
const FLUSH_MS_MAX = 2 * SECOND_MS
/** What a scrape counts: after an upgrade, everything may wait. */
const COUNTED_MAX = 100_000

export interface AuditChainSettings {
  readonly baseUrl: string
  readonly dataDir: string
  readonly auditCheckpointDir: string | undefined
}

/** Where a process writes the checkpoints of the audit log. */
export function toCheckpointFolder({
  dataDir,
  auditCheckpointDir,
}: Pick<AuditChainSettings, 'dataDir' | 'auditCheckpointDir'>): string {
  return resolve(auditCheckpointDir ?? join(dataDir, 'audit-checkpoints'))
}

/**
 * Keeps the audit log provable: chains its entries, signs checkpoints when something was added, and at the end,
 * and writes them to the folder of this process. Starts before whatever makes changes, and stops after it.
 */
export function createAuditChainPart(
  foundation: Foundation & { readonly auditChainer: AuditChainer },
  settings: AuditChainSettings,
): ServicePart {
  const { auditChainer, db, log } = foundation
  const logError = toLogError(log)
  const folder = toCheckpointFolder(settings)
  const sign = async () => {
    await auditChainer.flush(FLUSH_MS_MAX)
    await signCheckpoint({ ...foundation, baseUrl: settings.baseUrl, folder })
    await exportCheckpoints(db, folder)
  }
  return {
    name: 'audit chain',
    roles: PROCESS_ROLES,
    jobs: [
      periodicJob('audit checkpoints', sign),
      periodicJob('audit checkpoint files', () => exportCheckpoints(db, folder)),
    ],
    metrics: [unchainedMetric(foundation)],
    start: async () => {
      await warnOfPowers(foundation)
      auditChainer.start()
    },
    stop: async () => {
      await auditChainer.stop()
      await sign().catch((error: unknown) => {
        logError(error, 'no checkpoint of the audit log could be signed at the end')
      })
    },
  }
}

function unchainedMetric({ db }: Pick<Foundation, 'db'>): MetricSource {
  return {
    name: 'heliograph_audit_entries_unchained',
    help: `Entries of the audit log that wait for their place in the chain; counted up to ${COUNTED_MAX}.`,
    read: async () => (await countUnchainedEntries(db, COUNTED_MAX)).entryCount,
  }
}

/** Whoever gets hold of the connections of the service could then change the audit log. */
async function warnOfPowers({ db, log }: Pick<Foundation, 'db' | 'log'>): Promise<void> {
  const powers = await listAuditPowers(db)
  if (powers.length === 0) return
  log.warn(
    { powers },
    'the database role of the service could change the audit log: docs/operations.md says how to keep it from that',
  )
}
