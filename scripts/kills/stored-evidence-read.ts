/* What the database says in the end about what was acknowledged, and what must not be left in it. */
import type { DatabaseClient } from '../../packages/server/src/platform/db/database-client.ts'

/** Each number is of things that must not be; all are 0 where all is well. */
export interface StoredProblems {
  readonly changesWithoutAuditEntry: number
  readonly changesWithoutEveryDelivery: number
  readonly auditEntriesWithoutWebhook: number
  readonly auditEntriesOutsideTheChain: number
  readonly deliveriesThatAreNotDelivered: number
  readonly claimsThatAreHeld: number
}

export interface StoredEvidence {
  readonly problems: StoredProblems
  readonly auditEntries: number
  /** Of each event that the webhook was to be told of, in the order of their making. */
  readonly webhookEventIds: readonly string[]
}

/** Deliveries that are not at their end, or that somebody still holds. */
export async function countUnfinished(database: DatabaseClient): Promise<number> {
  return count(
    database,
    `select count(*) from delivery
     where state = 'queued' or claimed_by is not null or claim_expires_at is not null`,
  )
}

/** Entries that no place in the chain was given yet. */
export async function countUnlinked(database: DatabaseClient): Promise<number> {
  return count(
    database,
    `select count(*) from audit_entry
     where not exists (select from audit_link where entry_sequence = sequence)`,
  )
}

/** `webhookId` is the webhook that is told of every audit entry after that of its own creation. */
export async function readStoredEvidence(
  database: DatabaseClient,
  webhookId: string,
): Promise<StoredEvidence> {
  const counted = (text: string) => count(database, text)
  const { rows } = await database.query<{ id: string }>(
    'select event_id as id from webhook_event order by id',
  )
  return {
    auditEntries: await counted('select count(*) from audit_entry'),
    webhookEventIds: rows.map(({ id }) => id),
    problems: {
      changesWithoutAuditEntry: await counted(
        `select count(*) from device_status_transition t
         left join (select distinct txn from audit_entry where target_type = 'device') e using (txn)
         where e.txn is null`,
      ),
      changesWithoutEveryDelivery: await counted(
        `select count(*) from device_status_transition t
         left join (
           select txn, array_agg(distinct kind) as kinds
           from delivery join delivery_destination on delivery_destination.id = destination_id
           where delivery.state = 'delivered' group by txn
         ) d using (txn)
         where t.from_compliance <> t.to_compliance
           and not coalesce(d.kinds @> '{ssf_push,ssf_poll,webhook}', false)`,
      ),
      auditEntriesWithoutWebhook: await count(
        database,
        `select count(*) from (
           select txn, count(*) as entries from audit_entry
           where sequence > (select min(sequence) from audit_entry
             where target_type = 'webhook' and target_id = $1)
           group by txn
         ) a
         left join (
           select txn, count(*) as events from webhook_event
           where event_type = 'audit_log.recorded' group by txn
         ) w using (txn)
         where a.entries is distinct from w.events`,
        [webhookId],
      ),
      auditEntriesOutsideTheChain: await countUnlinked(database),
      deliveriesThatAreNotDelivered: await counted(
        "select count(*) from delivery where state <> 'delivered'",
      ),
      claimsThatAreHeld: await countUnfinished(database),
    },
  }
}

/** The descriptions that a group was given, in the order of the audit log, without repetitions in a row. */
export async function listGroupDescriptions(
  database: DatabaseClient,
  groupId: string,
): Promise<string[]> {
  const { rows } = await database.query<{ description: string }>(
    `select after->>'description' as description from audit_entry
     where target_type = 'device_group' and target_id = $1 and before is not null order by sequence`,
    [groupId],
  )
  const descriptions = rows.map(({ description }) => description)
  return descriptions.filter((description, at) => description !== descriptions[at - 1])
}

/** The description that a group has. */
export async function readGroupDescription(
  database: DatabaseClient,
  groupId: string,
): Promise<string | undefined> {
  const { rows } = await database.query<{ description: string }>(
    'select description from device_group where id = $1',
    [groupId],
  )
  return rows[0]?.description
}

async function count(
  database: DatabaseClient,
  text: string,
  values: readonly string[] = [],
): Promise<number> {
  const { rows } = await database.query<{ count: string }>(text, [...values])
  return Number(rows[0]?.count)
}
