/*
 * The one way to change anything: a transaction with a cause. Owns the rule that a change, its audit
 * entries and its outgoing events commit together. Does not own what changes.
 */
import type { Kysely, Transaction } from 'kysely'
import { newUlid } from '../platform/ids.ts'
import type { Clock } from '../platform/clock.ts'
import type { LiveTopic } from '../schema/live-topics.ts'
import type { Schema } from '../schema/schema.ts'
import { boundWaitsOfRequest } from '../platform/db/bound-transaction.ts'
import { CommitNotices, type CommitSink } from '../platform/db/commit-notifier.ts'
import type { TransactionHooks } from '../platform/db/transaction-hooks.ts'
import { toStorableJson } from '../platform/storable-text.ts'
import { FOUND_AHEAD_MS } from '../platform/jobs/due-job.ts'
import { repeatAfterConflict } from '../platform/db/transient-conflict.ts'
import { appendAuditEntries } from './audit/audit-store.ts'
import type { Actor, AuditFields, AuditNote } from './audit/audit-entry.ts'
import type { DeviceStatusChange, DomainEvent } from './domain-event.ts'

/** Where a change comes from. */
export interface ChangeOrigin {
  readonly actor: Actor
  readonly requestId?: string | null
  readonly ipAddress?: string | null
  /** Commits with every change of this origin: the record of a request that must not run twice. */
  readonly transactionHooks?: TransactionHooks<Schema> | undefined
}

/** What tells every process of a change once it is durable. */
export interface CommitTelling {
  /**
   * Tells on a channel; lost when this process dies right then, so only what a sweep finds as well, or what does little
   * harm. Commits do not wait for each other as those do which carry a notification (docs/adr/0024).
   *
   * @throws RangeError for a payload that no notification takes
   */
  readonly tellAfterCommit: (channel: string, ...payloads: readonly string[]) => void
  /**
   * Wakes the job of a channel when something is due; of all times of a change the earliest is told. One that is so far
   * ahead that the job has looked by then is not.
   */
  readonly tellDueAfterCommit: (channel: string, at: Date) => void
}

/**
 * A change under way. Use cases take it as their first argument and do all their SQL on `tx`.
 * No network call may happen while it is open.
 */
export interface Change extends CommitTelling {
  readonly tx: Transaction<Schema>
  /** Shared by the audit entries, SETs and webhooks of this cause; SSF 1.0 section 4.1.9. */
  readonly txn: string
  /** The time of the change, the same for everything in it that waited for nobody. */
  readonly at: Date
  /**
   * The present time. Under the lock of a record it is the time to write down there: changes get the lock in
   * another order than the one in which they began.
   */
  now(): Date
  readonly origin: ChangeOrigin
  /** Adds an entry to the audit log; it is written with the commit. */
  recordAudit(note: AuditNote): void
  /** Records that something happened; publishers hear of it as the last thing before the commit. */
  recordEvent(event: DomainEvent): void
  /** Tells whoever watches that these have changed; what audit entries and events name is told without. */
  markChanged(...topics: readonly LiveTopic[]): void
  /** Runs `effect` once the change is durable; lost when the process dies, so only for wake-ups. */
  afterCommit(effect: () => void): void
  /**
   * The part of the change that is about a device. Changes of devices that came together share a transaction,
   * and each keeps its own origin and `txn`: nobody learns from them what else was written then. This change
   * itself where it was not divided.
   */
  ofDevice(deviceId: string): Change
  /** A part of this change that has its own cause; about which device it is, `divide` says. */
  part(origin: PartOrigin): Change
  /** This change, divided among devices by their ids. */
  divide(parts: ReadonlyMap<string, Change>): Change
}

/** Where a part of a change comes from. */
export type PartOrigin = Omit<ChangeOrigin, 'transactionHooks'>

/**
 * Runs `work` in a transaction and commits it with its audit entries. Serialisation failures and
 * deadlocks run `work` again from the start: it must keep no state outside the change.
 */
export type RunChange = <Result>(
  origin: ChangeOrigin,
  work: (change: Change) => Promise<Result>,
) => Promise<Result>

/** What happened in a change that is about to commit. */
export interface ChangeRecord extends CommitTelling {
  readonly tx: Transaction<Schema>
  readonly txn: string
  readonly at: Date
  readonly events: readonly DomainEvent[]
  readonly auditEntries: readonly AuditFields[]
  readonly markedTopics: readonly LiveTopic[]
  /** See {@link Change.afterCommit}. */
  readonly afterCommit: (effect: () => void) => void
  /** Adds events that follow from those of the change; publishers after this one hear of them too. */
  readonly followBy: (...events: readonly DomainEvent[]) => void
  /** The cause of an event: that of its part of a divided change, else `txn`. */
  readonly txnOf: (event: DomainEvent | DeviceStatusChange) => string
}

/**
 * Queues what is to be sent because of a change, as the last thing in its transaction. The locks that
 * the change took are still held, which orders the events of a record.
 */
export type ChangePublisher = (record: ChangeRecord) => Promise<void>

/**
 * Creates the runner of changes on a database. `publishers` hear of every change, in their order. Without a notifier
 * nobody is told after a commit: what is queued or due is found by sweeps alone, and agents learn that the issues of a
 * device have begun or ended when it is looked up again.
 */
export function createChangeRunner(
  db: Kysely<Schema>,
  clock: Clock,
  publishers: readonly ChangePublisher[],
  notifier?: CommitSink,
): RunChange {
  return (origin, work) =>
    repeatAfterConflict(() => runOnce({ db, clock, publishers, notifier }, origin, work))
}

interface RunnerDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly publishers: readonly ChangePublisher[]
  readonly notifier: CommitSink | undefined
}

async function runOnce<Result>(
  { db, clock, publishers, notifier }: RunnerDependencies,
  origin: ChangeOrigin,
  work: (change: Change) => Promise<Result>,
): Promise<Result> {
  const at = clock.now()
  const txn = newUlid(at)
  const entries: AuditFields[] = []
  const events: DomainEvent[] = []
  const markedTopics: LiveTopic[] = []
  const effects: (() => void)[] = []
  const txnOfEvent = new Map<DomainEvent | DeviceStatusChange, string>()
  const txnOfDevice = new Map<string, string>()
  const notices = new CommitNotices()
  const telling: CommitTelling = {
    tellAfterCommit: (channel, ...payloads) => notices.add(channel, payloads),
    tellDueAfterCommit: (channel, dueAt) => {
      if (dueAt.getTime() - clock.now().getTime() < FOUND_AHEAD_MS) notices.addDue(channel, dueAt)
    },
  }
  const txnOf = (event: DomainEvent | DeviceStatusChange) =>
    txnOfEvent.get(event) ?? txnOfDevice.get(deviceOf(event) ?? '') ?? txn
  const result = await db.transaction().execute(async (tx) => {
    await boundWaitsOfRequest(tx)
    const begin = (cause: { readonly txn: string; readonly origin: ChangeOrigin }): Change => {
      const change: Change = {
        tx,
        at,
        ...cause,
        now: () => clock.now(),
        recordAudit: (note) => entries.push(toFields(note, { at, ...cause })),
        recordEvent: (event) => {
          events.push(event)
          txnOfEvent.set(event, cause.txn)
        },
        markChanged: (...topics) => markedTopics.push(...topics),
        afterCommit: (effect) => effects.push(effect),
        ...telling,
        ofDevice: () => change,
        part: (partOrigin) => begin({ txn: newUlid(at), origin: partOrigin }),
        divide: (parts) => {
          for (const [deviceId, part] of parts) txnOfDevice.set(deviceId, part.txn)
          return { ...change, ofDevice: (deviceId) => parts.get(deviceId) ?? change }
        },
      }
      return change
    }
    const change = begin({ txn, origin })
    await origin.transactionHooks?.begin(tx)
    const value = await work(change)
    await origin.transactionHooks?.complete(tx, value)
    if (events.length + entries.length + markedTopics.length > 0) {
      const afterCommit = (effect: () => void) => void effects.push(effect)
      const followBy = (...more: readonly DomainEvent[]) => void events.push(...more)
      const told = { events, auditEntries: entries, markedTopics }
      const record = { tx, txn, at, ...told, ...telling, afterCommit, followBy, txnOf }
      for (const publish of publishers) await publish(record)
    }
    await appendAuditEntries(tx, entries)
    return value
  })
  if (notifier !== undefined) notices.tell(notifier)
  for (const effect of effects) effect()
  return result
}

/** The device that an event is about, of those that follow from the events of a device. */
function deviceOf(event: DomainEvent | DeviceStatusChange): string | undefined {
  if ('device' in event) return event.device?.id
  return 'deviceId' in event ? (event.deviceId ?? undefined) : undefined
}

function toFields(
  note: AuditNote,
  cause: { at: Date; txn: string; origin: ChangeOrigin },
): AuditFields {
  const { actor, requestId, ipAddress } = cause.origin
  return toStorableJson({
    recorded_at: cause.at.toISOString(),
    actor_type: actor.type,
    actor_id: actor.id,
    actor_name: actor.name,
    actor_email: actor.email,
    action: note.action,
    target_type: note.target?.type ?? null,
    target_id: note.target?.id ?? null,
    description: note.description,
    before: note.before ?? null,
    after: note.after ?? null,
    txn: cause.txn,
    request_id: requestId ?? null,
    ip_address: ipAddress ?? null,
  })
}
