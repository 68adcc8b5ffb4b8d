/* What must be so in the end, however often processes were killed. */
import type { DatabaseClient } from '../../packages/server/src/platform/db/database-client.ts'
import type { ReportingAgent } from '../../packages/server/test/e2e/support/reporting-agent.ts'
import { listStatusChanges, prove } from '../high-availability/proof.ts'
import type { GroupWriter } from './group-writer.ts'
import type { ReceiverEvidence } from './receiver-evidence.ts'
import {
  listGroupDescriptions,
  readGroupDescription,
  readStoredEvidence,
} from './stored-evidence-read.ts'

export interface KillsEvidence {
  readonly database: DatabaseClient
  readonly agents: readonly ReportingAgent[]
  readonly checkId: string
  readonly writers: readonly GroupWriter[]
  readonly webhookId: string
  readonly received: ReceiverEvidence
  /** What `heliograph audit verify` answers. */
  readonly audit: { readonly is_whole: boolean }
}

export async function proveKills(evidence: KillsEvidence) {
  const { agents, audit, checkId, database, received, webhookId, writers } = evidence
  const { push, poll, webhook } = received
  const changes = await listStatusChanges(database)
  const devices = agents.map(({ acknowledged, hostIdentifier, nodeInvalidCount }) => ({
    ...{ hostIdentifier, nodeInvalidCount },
    acknowledgedCount: acknowledged.get(checkId) ?? 0,
  }))
  const proof = prove({ changes, devices, inboxes: { push, poll } })
  const stored = await readStoredEvidence(database, webhookId)
  const untold = stored.webhookEventIds.filter((eventId) => !webhook.has(eventId))
  const lostWrites: string[] = []
  for (const writer of writers) lostWrites.push(...(await findLostWrites(database, writer)))
  return {
    ...proof,
    acknowledgedWrites: writers.reduce((sum, { acknowledgedCount }) => sum + acknowledgedCount, 0),
    auditEntries: stored.auditEntries,
    webhooks: webhook.count,
    repeatedWebhooks: webhook.repeatedCount,
    audit,
    problems: [
      ...proof.problems,
      ...received.problems,
      ...(untold.length === 0 ? [] : [`${untold.length} events did not come by webhook`]),
      ...lostWrites,
      ...Object.entries(stored.problems)
        .filter(([, count]) => count !== 0)
        .map(([what, count]) => `${what}: ${count}`),
      ...(audit.is_whole ? [] : ['the audit chain is broken']),
    ],
  }
}

/** Each number that was acknowledged is one change in the audit log, in turn, and the last one stands. */
async function findLostWrites(
  database: DatabaseClient,
  { groupId, acknowledgedCount }: GroupWriter,
): Promise<string[]> {
  const expected = Array.from({ length: acknowledgedCount }, (_, at) => String(at + 1))
  const entries = await listGroupDescriptions(database, groupId)
  const description = await readGroupDescription(database, groupId)
  return [
    ...(entries.join() === expected.join()
      ? []
      : [`group ${groupId}: ${expected.length} acknowledged writes, ${entries.length} entries`]),
    ...(description === expected.at(-1) ? [] : [`group ${groupId}: its last write is lost`]),
  ]
}
