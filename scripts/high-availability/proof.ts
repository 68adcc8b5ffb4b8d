/* What must be so in the end, whatever was killed. */
import type { DatabaseClient } from '../../packages/server/src/platform/db/database-client.ts'
import type { Inbox } from './receivers.ts'
import type { ReportingDevice } from './reporting-devices.ts'

export interface Proof {
  readonly acknowledgedAnswers: number
  readonly statusChanges: number
  /** Acknowledged answers that were lost, where some may be. */
  readonly lostAnswers?: number
  /** Events of changes that were lost, where some may be, by stream. */
  readonly eventsOfLost?: Readonly<Record<string, number>>
  readonly events: Readonly<Record<string, number>>
  readonly repeatedEvents: Readonly<Record<string, number>>
  /** What is not as it must be; none when all is. */
  readonly problems: readonly string[]
}

/** A change of the compliance word of a device. */
export interface StatusChange {
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

/** Of a device: how many of its answers were accepted, and how often it was told that it is not known. */
type AnsweringDevice = Pick<
  ReportingDevice,
  'hostIdentifier' | 'acknowledgedCount' | 'nodeInvalidCount'
>

export interface Evidence {
  readonly changes: readonly StatusChange[]
  readonly devices: readonly AnsweringDevice[]
  readonly inboxes: Readonly<Record<string, Inbox>>
}

/** To be asked while no answer is under way and every event has had the time to come. */
export function prove({ changes, devices, inboxes }: Evidence): Proof {
  const byHost = Object.groupBy(changes, ({ host }) => host)
  return {
    acknowledgedAnswers: devices.reduce((sum, device) => sum + device.acknowledgedCount, 0),
    statusChanges: changes.length,
    events: mapValues(inboxes, ({ sets }) => sets.length),
    repeatedEvents: mapValues(inboxes, ({ repeatedCount }) => repeatedCount),
    problems: [
      ...devices.flatMap((device) => findLost(device, byHost[device.hostIdentifier] ?? [])),
      ...Object.entries(inboxes).flatMap(([name, inbox]) =>
        [...inbox.problems, ...findUntold(inbox, changes), ...inbox.findGaps()].map(
          (problem) => `${name}: ${problem}`,
        ),
      ),
    ],
  }
}

/** Answers pass and fail in turn, from a device that is good: each but the first is a change of its status. */
function findLost(device: AnsweringDevice, changes: readonly StatusChange[]): string[] {
  const words = changes.map(({ to }) => to)
  const isInTurn = words.every((word, at) => word !== words[at - 1])
  const { hostIdentifier: host, acknowledgedCount, nodeInvalidCount } = device
  const last = acknowledgedCount % 2 === 0 ? 'not-compliant' : 'compliant'
  return [
    ...(isInTurn ? [] : [`${host}: a change of status was lost or came twice`]),
    ...(words.at(-1) === last ? [] : [`${host}: its last acknowledged answer did not count`]),
    // The first change is that of a device which was not yet good before its first answer.
    ...([acknowledgedCount - 1, acknowledgedCount].includes(words.length)
      ? []
      : [
          `${host}: ${acknowledgedCount} acknowledged answers made ${words.length} changes of status`,
        ]),
    ...(nodeInvalidCount === 0 ? [] : [`${host}: was told node_invalid`]),
  ]
}

/** What a receiver got. */
type Told = Pick<Inbox, 'sets' | 'hasTxn'>

/** What of the changes was not told, or not in its order. */
export function findUntold(inbox: Told, changes: readonly StatusChange[]): string[] {
  return [...findMissing(inbox, changes), ...findOutOfOrder(inbox, changes)]
}

function findMissing(inbox: Told, changes: readonly StatusChange[]): string[] {
  const missing = changes.filter(({ txn }) => !inbox.hasTxn(txn))
  return missing.length === 0 ? [] : [`${missing.length} changes of status have no event`]
}

/** Statements of what is so after a takeover come between, and are no changes. */
function findOutOfOrder({ sets }: Told, changes: readonly StatusChange[]): string[] {
  const txns = new Set(changes.map(({ txn }) => txn))
  const told = Object.groupBy(
    sets.filter(({ txn }) => txns.has(txn)),
    ({ deviceId }) => deviceId,
  )
  return Object.entries(Object.groupBy(changes, ({ deviceId }) => deviceId)).flatMap(
    ([deviceId, own = []]) => {
      const expected = own.map(({ txn }) => txn).join()
      const found = (told[deviceId] ?? []).map(({ txn }) => txn).join()
      return expected === found ? [] : [`the events of device ${deviceId} are not in their order`]
    },
  )
}

export function mapValues<Value, Result>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}
