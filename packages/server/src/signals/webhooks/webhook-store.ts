import { sql, type Insertable, type Kysely, type Updateable } from 'kysely'
import type { CamelCased, FindOptions } from '../../platform/db/record-table.ts'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import { parseId } from '../../platform/ids.ts'
import { notFound } from '../../platform/app-error.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { elementsOf } from '../../platform/db/planned-once.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'

const webhookTable = defineTable('webhook')
const secretTable = defineTable('webhook_secret')

/** A webhook: where events go, which, and how they are signed. */
export type Webhook = RecordOf<typeof webhookTable>
/** What may change of a webhook. */
export type WebhookChanges = CamelCased<Updateable<Schema['webhook']>>
export type WebhookSecret = RecordOf<typeof secretTable>

/** A webhook with what is known of its receiver, its pace and its secrets. */
export interface WebhookRecord extends Webhook {
  readonly rateLimitPerSecond: number | null
  readonly publicKey: string | null
  /** When the last of its old secrets stops signing; null when there is none. */
  readonly oldSecretsEndAt: Date | null
  readonly failingSince: Date | null
  readonly lastSuccessAt: Date | null
  readonly queuedCount: number
  readonly deadCount: number
}

/** Counting stops here: a backlog may be long, and the exact number says no more. */
const COUNTED_MAX = 10_000

function selectRecords(db: Kysely<Schema>, now: Date) {
  const countOf = (state: 'queued' | 'dead') =>
    sql<number>`(select count(*)::int from (select from delivery
      where destination_id = webhook.destination_id and state = ${sql.lit(state)}
      limit ${COUNTED_MAX}) as counted)`
  return db
    .selectFrom('webhook')
    .innerJoin('delivery_destination', 'delivery_destination.id', 'webhook.destination_id')
    .leftJoin('webhook_pace', 'webhook_pace.destination_id', 'webhook.destination_id')
    .innerJoin('webhook_secret', (join) =>
      join
        .onRef('webhook_secret.webhook_id', '=', 'webhook.id')
        .on('webhook_secret.ends_at', 'is', null),
    )
    .selectAll('webhook')
    .select([
      'webhook_pace.per_second as rate_limit_per_second',
      'webhook_secret.public_key',
      'delivery_destination.failing_since',
      'delivery_destination.last_success_at',
    ])
    .select(
      sql<Date | null>`(select max(old.ends_at) from webhook_secret old
        where old.webhook_id = webhook.id and old.ends_at > ${now})`.as('old_secrets_end_at'),
    )
    .select(countOf('queued').as('queued_count'))
    .select(countOf('dead').as('dead_count'))
}

/** A page of webhooks by ascending id. */
export async function listWebhooks(
  db: Kysely<Schema>,
  window: PageWindow,
  now: Date,
): Promise<WebhookRecord[]> {
  const rows = await readPage(selectRecords(db, now), 'webhook.id', window)
  return rows.map(webhookTable.fromRow)
}

/**
 * A webhook as it is shown.
 *
 * @throws AppError `not_found`, the same for every text that is the id of none
 */
export async function getWebhookRecord(
  db: Kysely<Schema>,
  id: string,
  now: Date,
): Promise<WebhookRecord> {
  const row = await selectRecords(db, now)
    .where('webhook.id', '=', parseId(id, 'webhook'))
    .executeTakeFirstOrThrow(() => notFound('webhook', id))
  return webhookTable.fromRow(row)
}

/**
 * A webhook; with `isLocked`, until the transaction ends.
 *
 * @throws AppError `not_found`
 */
export async function getWebhook(
  db: Kysely<Schema>,
  id: string,
  options?: FindOptions,
): Promise<Webhook> {
  const webhook = await webhookTable.find(db, { id: parseId(id, 'webhook') }, options)
  if (webhook === undefined) throw notFound('webhook', id)
  return webhook
}

export async function insertWebhook(
  db: Kysely<Schema>,
  webhook: CamelCased<Insertable<Schema['webhook']>>,
): Promise<Webhook> {
  return webhookTable.insert(db, webhook)
}

export async function updateWebhook(
  db: Kysely<Schema>,
  id: string,
  changes: WebhookChanges,
): Promise<Webhook> {
  return webhookTable.update(db, { id }, changes)
}

export async function deleteWebhookRow(db: Kysely<Schema>, id: string): Promise<void> {
  await webhookTable.delete(db, { id })
}

/** How many webhooks there are; nobody else creates one until the transaction ends. */
export async function countWebhooksLocked(db: Kysely<Schema>): Promise<number> {
  await lockInTransaction(db, LOCK_KEYS.webhooks)
  const { count } = await db
    .selectFrom('webhook')
    .select((select) => select.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertWebhookSecret(
  db: Kysely<Schema>,
  secret: CamelCased<Insertable<Schema['webhook_secret']>>,
): Promise<void> {
  await secretTable.insert(db, secret)
}

/** Whether a secret signs at `now`. */
const signsAt = (now: Date) => sql<boolean>`(ends_at is null or ends_at > ${now})`
const PRESENT_SECRET_LAST = sql`ends_at asc nulls last, id`

/** The secrets of a webhook that still sign at `now`: the present one last. */
export async function listLiveSecrets(
  db: Kysely<Schema>,
  webhookId: string,
  now: Date,
): Promise<WebhookSecret[]> {
  const rows = await db
    .selectFrom('webhook_secret')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where(signsAt(now))
    .orderBy(PRESENT_SECRET_LAST)
    .execute()
  return rows.map(secretTable.fromRow)
}

/** Removes the secrets that have stopped signing; the audit log records that there were any. */
export async function deleteEndedSecrets(
  db: Kysely<Schema>,
  webhookId: string,
  now: Date,
): Promise<void> {
  await db
    .deleteFrom('webhook_secret')
    .where('webhook_id', '=', webhookId)
    .where('ends_at', '<=', now)
    .execute()
}

/** Ends the present secret at `endsAt`, and those that end later than that. */
export async function endSecrets(
  db: Kysely<Schema>,
  webhookId: string,
  endsAt: Date,
): Promise<void> {
  await db
    .updateTable('webhook_secret')
    .set({ ends_at: endsAt })
    .where('webhook_id', '=', webhookId)
    .where((where) => where.or([where('ends_at', 'is', null), where('ends_at', '>', endsAt)]))
    .execute()
}

/** What requests of a webhook are made from. */
export interface WebhookSending {
  readonly webhook: Pick<Webhook, 'id' | 'url' | 'identifier' | 'signing' | 'headersSealed'>
  /** Those that still sign, the present one last. */
  readonly secrets: readonly Pick<WebhookSecret, 'id' | 'secretSealed'>[]
  /** The bodies of events by their id; those whose retention is over are absent. */
  readonly bodies: ReadonlyMap<string, string>
}

/** What is sent to a destination at `now` of these events, by one statement; undefined when its webhook is gone. */
export async function findWebhookSending(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  eventIds: readonly string[],
  now: Date,
): Promise<WebhookSending | undefined> {
  const { rows } = await sql<
    WebhookSending['webhook'] & {
      secretIds: string[] | null
      secretsSealed: Buffer[] | null
      bodies: Record<string, string> | null
    }
  >`
    select w.id, w.url, w.identifier, w.signing, w.headers_sealed as "headersSealed", live.*,
      (select json_object_agg(event_id, body) from webhook_event
        where event_id = any(${elementsOf(eventIds, 'text')}) and body is not null) as bodies
    from webhook w cross join lateral (
      select array_agg(id::text order by ${PRESENT_SECRET_LAST}) as "secretIds",
        array_agg(secret_sealed order by ${PRESENT_SECRET_LAST}) as "secretsSealed"
      from webhook_secret
      where webhook_id = w.id and ${signsAt(now)}) as live
    where w.destination_id = ${destinationId}`.execute(db)
  const [row] = rows
  if (row === undefined) return undefined
  const { secretIds, secretsSealed, bodies, ...webhook } = row
  const secrets = (secretsSealed ?? []).map((secretSealed, index) => ({
    id: secretIds?.[index] ?? '',
    secretSealed,
  }))
  return { webhook, secrets, bodies: new Map(Object.entries(bodies ?? {})) }
}

/** The webhook of a destination, undefined when it is gone; with `isLocked`, until the transaction ends. */
export async function findWebhookOfDestination(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  options?: FindOptions,
): Promise<Webhook | undefined> {
  return webhookTable.find(db, { destinationId }, options)
}

/** The destinations of webhooks to look at: that have failed for `days`, or were warned of and work again. */
export async function listTroubledDestinations(
  db: Kysely<Schema>,
  days: number,
): Promise<DestinationId[]> {
  const { rows } = await sql<{ destination_id: DestinationId }>`
    select w.destination_id from webhook w join delivery_destination d on d.id = w.destination_id
    where w.enabled and (
      d.last_failure_at >= d.failing_since + make_interval(days => ${days}::int)
      or (w.failure_warned_days > 0 and d.failing_since is null))
    order by w.id`.execute(db)
  return rows.map(({ destination_id }) => destination_id)
}

/** Since when a receiver has done nothing but fail. */
export interface ReceiverFailure {
  readonly failingSince: Date
  readonly lastFailureAt: Date
  readonly lastFailure: string | null
}

/** How a receiver fails; undefined when it does not. */
export async function findReceiverFailure(
  db: Kysely<Schema>,
  destinationId: DestinationId,
): Promise<ReceiverFailure | undefined> {
  return db
    .selectFrom('delivery_destination')
    .select([
      'failing_since as failingSince',
      'last_failure_at as lastFailureAt',
      'last_failure as lastFailure',
    ])
    .where('id', '=', destinationId)
    .where('failing_since', 'is not', null)
    .where('last_failure_at', 'is not', null)
    .$narrowType<{ failingSince: Date; lastFailureAt: Date }>()
    .executeTakeFirst()
}
