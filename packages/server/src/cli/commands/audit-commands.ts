import { InvalidArgumentError } from 'commander'
import type { ServiceFoundation } from '../../app/foundation.ts'
import { toCheckpointFolder } from '../../changes/audit/audit-chain-part.ts'
import { listAuditPowers } from '../../changes/audit/audit-guard-read.ts'
import {
  collectCheckpoints,
  type CollectedCheckpoints,
} from '../../changes/audit/checkpoints/collect-checkpoints.ts'
import { rotateCheckpointKey } from '../../changes/audit/checkpoints/checkpoint-keys.ts'
import {
  parseVerifierKey,
  toVerifierKeyText,
  type VerifierKey,
} from '../../changes/audit/checkpoints/signed-note.ts'
import { verifyAuditChain, type ChainVerdict } from '../../changes/audit/verify-audit-chain.ts'
import { createProgress } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { flag, repeatedOption } from '../option.ts'

/** What the verification found, with what stands beside it. */
type Verification = ChainVerdict & {
  /** Checkpoints that were found outside the database. */
  readonly outsideCheckpointCount: number
  readonly warnings: readonly string[]
}

const verify = databaseCommand({
  name: 'verify',
  description: 'prove that no entry of the audit log was changed, removed or cut off',
  options: {
    checkpoint: repeatedOption(
      '--checkpoint <path>',
      'a file or folder of checkpoints that was kept elsewhere; may be given several times',
      String,
    ),
    key: repeatedOption(
      '--key <verifier key>',
      'believe checkpoints by this key alone; may be given several times',
      readKey,
    ),
  },
  async run({ io, services, options }) {
    const progress = createProgress(io)
    const collected = await collectCheckpoints(services.db, {
      folder: toCheckpointFolder(services.config),
      paths: options.checkpoint ?? [],
      keys: options.key ?? [],
    })
    try {
      progress.update('Chaining what waits for its place ...')
      await chainFirst(services)
      const verdict = await verifyAuditChain(services.db, {
        checkpoints: collected.checkpoints,
        now: services.clock.now(),
        onProgress: (count) => progress.update(`Verified ${count} entries ...`),
      })
      return await toVerification(services, verdict, collected)
    } finally {
      progress.end()
    }
  },
  json: toJson,
  text: (verification) => [...describe(verification), ...verification.warnings],
  isFailed: ({ isWhole }) => !isWhole,
})

const rotateKey = databaseCommand({
  name: 'rotate-key',
  description: 'make another key sign the checkpoints of the audit log',
  options: {
    newLog: flag(
      '--new-log',
      'begin anew under another name, where the log no longer continues its checkpoints, as after a restore',
    ),
  },
  run: async ({ change, services, options }) => {
    const { sealer, config } = services
    const key = await change((open) =>
      rotateCheckpointKey(
        open,
        { sealer, baseUrl: config.baseUrl },
        { isNewLog: options.newLog === true },
      ),
    )
    return { verifierKey: toVerifierKeyText(key) }
  },
  json: ({ verifierKey }) => ({ verifier_key: verifierKey }),
  text: ({ verifierKey }) => `The next checkpoint is signed by ${verifierKey}`,
})

/**
 * `heliograph audit verify`: exit code 1 when the log is not what was written. `heliograph audit rotate-key`:
 * another key for checkpoints.
 */
export const definition = commandGroup([verify, rotateKey])

function readKey(text: string): VerifierKey {
  const key = parseVerifierKey(text)
  if (key === undefined) throw new InvalidArgumentError('It is not a verifier key.')
  return key
}

/**
 * What waits for its place gets it, as right after an upgrade. Where that cannot be, as in a database that is
 * read-only, the verification tells what waits.
 */
async function chainFirst({ auditChainer }: ServiceFoundation): Promise<void> {
  await auditChainer.flush().catch(() => undefined)
}

async function toVerification(
  { db }: ServiceFoundation,
  verdict: ChainVerdict,
  { problem, outsideCount }: CollectedCheckpoints,
): Promise<Verification> {
  const powers = await listAuditPowers(db)
  const warnings = powers.map(
    (power) =>
      `Warning: the database role of the service ${power}. Whoever gets hold of its connections could change the audit log: docs/operations.md says how to keep it from that.`,
  )
  if (outsideCount === 0) {
    warnings.push(
      'Warning: there is no checkpoint outside the database. Entries that were cut off at the end, or a log that was written anew, would not show.',
    )
  }
  const beside = { outsideCheckpointCount: outsideCount, warnings }
  if (!verdict.isWhole || problem === undefined) return { ...verdict, ...beside }
  const { entryCount, checkpointCount, latestCheckpointAt, outdatedCheckpointCount } = verdict
  const proven = { entryCount, checkpointCount, latestCheckpointAt, outdatedCheckpointCount }
  return { ...proven, ...beside, isWhole: false, sequence: null, problem }
}

const NOTHING_BROKEN = { sequence: null, problem: null }
const NOTHING_WHOLE = { head: null, unchained: null, cut: null }

/** The same members whether the log is whole or broken. */
function toJson(verification: Verification) {
  const { isWhole } = verification
  const { sequence, problem } = isWhole ? NOTHING_BROKEN : verification
  const { head, unchained, cut } = isWhole ? verification : NOTHING_WHOLE
  return {
    is_whole: isWhole,
    sequence,
    problem,
    entry_count: verification.entryCount,
    head,
    checkpoint_count: verification.checkpointCount,
    latest_checkpoint_at: verification.latestCheckpointAt,
    outdated_checkpoint_count: verification.outdatedCheckpointCount,
    outside_checkpoint_count: verification.outsideCheckpointCount,
    unchained_entry_count: unchained?.entryCount ?? null,
    oldest_unchained_at: unchained?.oldestRecordedAt ?? null,
    cut_entry_count: cut?.entryCount ?? null,
    cut_at: cut?.at ?? null,
    warnings: verification.warnings,
  }
}

function describe(verdict: Verification): string[] {
  if (!verdict.isWhole) {
    const place = verdict.sequence === null ? '' : ` at entry ${verdict.sequence}`
    return [`The audit log is broken${place}: ${verdict.problem}.`]
  }
  const { entryCount, head, checkpointCount, latestCheckpointAt, unchained, cut } = verdict
  const { outdatedCheckpointCount } = verdict
  const lines = [`The audit log is whole: ${entryCount} entries, head ${head}.`]
  if (checkpointCount > 0) {
    const latest =
      latestCheckpointAt === null ? '' : `, the last one of ${latestCheckpointAt.toISOString()}`
    lines.push(`Checkpoints that say the same: ${checkpointCount}${latest}.`)
  }
  if (cut !== null) {
    lines.push(`The ${cut.entryCount} entries before were deleted under a checkpoint.`)
  }
  if (outdatedCheckpointCount > 0) {
    lines.push(
      `Checkpoints that end in deleted entries, and prove nothing: ${outdatedCheckpointCount}.`,
    )
  }
  if (unchained.entryCount > 0) {
    lines.push(`Entries that wait for their place in the chain: ${unchained.entryCount}.`)
  }
  return lines
}
