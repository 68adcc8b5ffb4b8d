/* What must be so in the end, whatever was killed. */
import { STREAM_SEQUENCE } from '@heliograph/ssf'
import type { DatabaseClient } from '../../packages/server/src/platform/db/database-client.ts'
import type { ReportingAgent } from '../../packages/server/test/e2e/support/reporting-agent.ts'
import type { Inbox } from './receivers.ts'

export interface Proof {
  readonly acknowledgedAnswers: number
  readonly statusChanges: number
  readonly events: Readonly<Record<string, number>>
  readonly repeatedEvents: Readonly<Record<string, number>>
  /** What is not as it must be; none when all is. */
  readonly problems: readonly string[]
}

interface StatusChange {
  readonly deviceId: string
  readonly host: string
  readonly txn: string
  readonly to: string
}

/** Every change of a compliance word, in the order of the changes of its device. */
export async function listStatusChanges(database: DatabaseClient): Promise<StatusChange[]> {
  const { rows } = await database.query<StatusChange>(
    `select t.device_id::text as "deviceId", d.host_identifier as host, t.txn, t.to_compliance as "to"
     from device_status_transition t join device d on d.id = t.device_id
     where t.from_compliance <> t.to_compliance order by t.id`,
  )
  return rows
}

export interface Evidence {
  readonly changes: readonly StatusChange[]
  readonly agents: readonly ReportingAgent[]
  readonly checkId: string
  readonly inboxes: Readonly<Record<string, Inbox>>
}

export function prove({ changes, agents, checkId, inboxes }: Evidence): Proof {
  const byHost = Object.groupBy(changes, ({ host }) => host)
  const answers = agents.map((agent) => agent.acknowledged.get(checkId) ?? 0)
  return {
    acknowledgedAnswers: answers.reduce((sum, count) => sum + count, 0),
    statusChanges: changes.length,
    events: mapValues(inboxes, ({ sets }) => sets.length),
    repeatedEvents: mapValues(inboxes, ({ repeatedCount }) => repeatedCount),
    problems: [
      ...agents.flatMap((agent, at) =>
        findLost(agent, answers[at] ?? 0, byHost[agent.hostIdentifier] ?? []),
      ),
      ...Object.entries(inboxes).flatMap(([name, inbox]) =>
        [
          ...inbox.problems,
          ...findMissing(inbox, changes),
          ...findOutOfOrder(inbox, changes),
          ...findGaps(inbox),
        ].map((problem) => `${name}: ${problem}`),
      ),
    ],
  }
}

/** Answers pass and fail in turn, from a device that is good: each but the first is a change of its status. */
function findLost(
  agent: ReportingAgent,
  answerCount: number,
  changes: readonly StatusChange[],
): string[] {
  const words = changes.map(({ to }) => to)
  const isInTurn = words.every((word, at) => word !== words[at - 1])
  const last = answerCount % 2 === 0 ? 'not-compliant' : 'compliant'
  const { hostIdentifier: host } = agent
  return [
    ...(isInTurn ? [] : [`${host}: a change of status was lost or came twice`]),
    ...(words.at(-1) === last ? [] : [`${host}: its last acknowledged answer did not count`]),
    // The first change is that of a device which was not yet good before its first answer.
    ...([answerCount - 1, answerCount].includes(words.length)
      ? []
      : [`${host}: ${answerCount} acknowledged answers made ${words.length} changes of status`]),
    ...(agent.nodeInvalidCount === 0 ? [] : [`${host}: was told node_invalid`]),
  ]
}

function findMissing(inbox: Inbox, changes: readonly StatusChange[]): string[] {
  const missing = changes.filter(({ txn }) => !inbox.hasTxn(txn))
  return missing.length === 0 ? [] : [`${missing.length} changes of status have no event`]
}

/** Statements of what is so after a takeover come between, and are no changes. */
function findOutOfOrder({ sets }: Inbox, changes: readonly StatusChange[]): string[] {
  const txns = new Set(changes.map(({ txn }) => txn))
  const told = Object.groupBy(
    sets.filter(({ txn = '' }) => txns.has(txn)),
    (set) => (set.claims['sub_id'] as { device?: { sub?: string } }).device?.sub ?? '',
  )
  return Object.entries(Object.groupBy(changes, ({ deviceId }) => deviceId)).flatMap(
    ([deviceId, own = []]) => {
      const expected = own.map(({ txn }) => txn).join()
      const found = (told[deviceId] ?? []).map(({ txn }) => txn).join()
      return expected === found ? [] : [`the events of device ${deviceId} are not in their order`]
    },
  )
}

function findGaps({ sets }: Inbox): string[] {
  const numbers = new Set(sets.map(({ claims }) => Number(claims[STREAM_SEQUENCE])))
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)]
  return most - least + 1 === numbers.size && numbers.size === sets.length
    ? []
    : [`the numbers ${least} to ${most} of its stream stand on ${sets.length} events`]
}

function mapValues<Value, Result>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}
