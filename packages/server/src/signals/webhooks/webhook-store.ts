import { sql, type Insertable, type Kysely, type Selectable, type Updateable } from 'kysely'
import { afterKey, type PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type { WebhookSecretTable, WebhookTable } from '../../schema/tables/webhook-tables.ts'
import { isId } from '../../platform/ids.ts'
import { notFound } from '../../platform/app-error.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'

export type Webhook = Selectable<WebhookTable>
export type WebhookSecret = Selectable<WebhookSecretTable>

/** A webhook with what is known of its receiver, its pace and its secrets. */
export interface WebhookRecord extends Webhook {
  readonly rate_limit_per_second: number | null
  readonly public_key: string | null
  /** When the last of its old secrets stops signing; null when there is none. */
  readonly old_secrets_end_at: Date | null
  readonly failing_since: Date | null
  readonly last_success_at: Date | null
  readonly queued_count: number
  readonly dead_count: number
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
  return selectRecords(db, now)
    .where(afterKey(sql.ref('webhook.id'), window))
    .orderBy('webhook.id')
    .limit(window.limit)
    .execute()
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
  const row = isId(id)
    ? await selectRecords(db, now).where('webhook.id', '=', id).executeTakeFirst()
    : undefined
  if (row === undefined) throw notFound('webhook', id)
  return row
}

/**
 * A webhook; with `isLocked`, until the transaction ends.
 *
 * @throws AppError `not_found`
 */
export async function getWebhook(
  db: Kysely<Schema>,
  id: string,
  options: { readonly isLocked?: boolean } = {},
): Promise<Webhook> {
  const row = isId(id)
    ? await db
        .selectFrom('webhook')
        .selectAll()
        .where('id', '=', id)
        .$if(options.isLocked === true, (query) => query.forUpdate())
        .executeTakeFirst()
    : undefined
  if (row === undefined) throw notFound('webhook', id)
  return row
}

export async function insertWebhook(
  db: Kysely<Schema>,
  webhook: Insertable<WebhookTable>,
): Promise<Webhook> {
  return db.insertInto('webhook').values(webhook).returningAll().executeTakeFirstOrThrow()
}

export async function updateWebhook(
  db: Kysely<Schema>,
  id: string,
  values: Updateable<WebhookTable>,
): Promise<Webhook> {
  return db
    .updateTable('webhook')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteWebhookRow(db: Kysely<Schema>, id: string): Promise<void> {
  await db.deleteFrom('webhook').where('id', '=', id).execute()
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
  secret: Insertable<WebhookSecretTable>,
): Promise<void> {
  await db.insertInto('webhook_secret').values(secret).execute()
}

/** The secrets of a webhook that still sign at `now`: the present one last. */
export async function listLiveSecrets(
  db: Kysely<Schema>,
  webhookId: string,
  now: Date,
): Promise<WebhookSecret[]> {
  return db
    .selectFrom('webhook_secret')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where((where) => where.or([where('ends_at', 'is', null), where('ends_at', '>', now)]))
    .orderBy(sql`ends_at asc nulls last`)
    .orderBy('id')
    .execute()
}

/** Removes the secrets that have stopped signing; the audit log tells that there were any. */
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

/** The webhook of a destination, locked until the transaction ends; undefined when it is gone. */
export async function findWebhookOfDestination(
  db: Kysely<Schema>,
  destinationId: string,
): Promise<Webhook | undefined> {
  return db
    .selectFrom('webhook')
    .selectAll()
    .where('destination_id', '=', destinationId)
    .forUpdate()
    .executeTakeFirst()
}
