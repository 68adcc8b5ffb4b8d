import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import type { CheckStatus } from '../../../schema/status-values.ts'
import type { Platform } from '../../../schema/tables/device-tables.ts'
import type { OsqueryRow } from '../../../schema/tables/column-types.ts'

/** The last answer of a device to a check. */
export interface LastAnswer {
  readonly deviceId: string
  readonly deviceName: string
  readonly checkId: string
  readonly checkName: string
  readonly checkSlug: string
  readonly platform: Platform
  readonly status: CheckStatus
  readonly ranAt: Date | null
  readonly rows: readonly OsqueryRow[]
}

/** Somebody or something that can see what is known of devices. */
export interface Onlooker {
  readonly kind: 'admin' | 'api_key' | 'stream' | 'webhook'
  readonly name: string
  /** The access of an admin, the admin who is responsible for a key, the host of a receiver. */
  readonly detail: string | null
}

/** A question that an admin asked a device beside the checks. */
export interface AskedLiveQuery {
  readonly deviceName: string
  readonly name: string
  readonly sql: string
  readonly answeredAt: Date
}

/** The last answers of the devices of a person, to one check where it is named. */
export async function listLastAnswers(
  db: Kysely<Schema>,
  personId: string,
  checkId?: string,
): Promise<LastAnswer[]> {
  const { rows } = await sql<LastAnswer>`
    select d.id as "deviceId", d.name as "deviceName", c.id as "checkId", c.name as "checkName",
      c.slug as "checkSlug", d.platform, r.status, r.rows,
      case when r.follows_round then greatest(r.ran_at, o.ran_at) else r.ran_at end as "ranAt"
    from device d
    join check_result r on r.device_id = d.id
    join posture_check c on c.id = r.check_id
    left join device_round o on o.device_id = d.id
    where d.owner_person_id = ${personId} and d.registered_at is not null
      and r.status <> 'out_of_scope'
      and ${checkId === undefined ? sql`true` : sql`c.id = ${checkId}::bigint`}
    order by d.name, d.id, c.name, c.id
    limit 20000`.execute(db)
  return rows
}

/** Everybody who can see devices: admins, keys, and the receivers of streams and webhooks that are on. */
export async function listOnlookers(db: Kysely<Schema>, at: Date): Promise<Onlooker[]> {
  const { rows } = await sql<Onlooker>`
    select 'admin' as kind, a.first_name || ' ' || a.last_name as name, a.access as detail, 1 as place, a.id
    from admin_user a where a.deactivated_at is null and a.access <> 'billing_only'
    union all
    select 'api_key', k.name, a.first_name || ' ' || a.last_name, 2, k.id
    from api_key k left join admin_user a on a.id = k.responsible_admin_id
    where k.revoked_at is null and (k.expires_at is null or k.expires_at > ${at})
    union all
    select 'stream', s.name, substring(s.endpoint_url from '^https?://([^/:?#]+)'), 3, s.id
    from ssf_stream s where s.status <> 'disabled'
    union all
    select 'webhook', w.name, substring(w.url from '^https?://([^/:?#]+)'), 4, w.id
    from webhook w where w.enabled
    order by place, name, id
    limit 2000`.execute(db)
  return rows.map(({ kind, name, detail }) => ({ kind, name, detail }))
}

/** The questions beside the checks that devices of a person have answered, the last ones first. */
export async function listAskedLiveQueries(
  db: Kysely<Schema>,
  personId: string,
): Promise<AskedLiveQuery[]> {
  const { rows } = await sql<AskedLiveQuery>`
    select d.name as "deviceName", c.name, c.sql, r.answered_at as "answeredAt"
    from live_query_result r
    join live_query_campaign c on c.id = r.campaign_id
    join device d on d.id = r.device_id
    where d.owner_person_id = ${personId} and d.registered_at is not null
    order by r.answered_at desc, r.id desc
    limit 500`.execute(db)
  return rows
}
