/*
 * What happened to a device, from every record that tells of it, as one list: the latest first. SQL only. Each
 * source is read by an index of the device, and no further than a page needs.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'

/** What an entry tells of. */
export const TIMELINE_KINDS = [
  'status_changed',
  'check_result_changed',
  'issue_opened',
  'issue_resolved',
  'issue_snoozed',
  'exemption_requested',
  'exemption_decided',
  'registration_requested',
  'registration_decided',
  'registered',
  'reenrollment_requested',
  'enrolled',
  'deletion_requested',
  'sign_in',
] as const

export type TimelineKind = (typeof TIMELINE_KINDS)[number]

/** Something that happened to a device. */
export interface TimelineEntry {
  /** Its place in the list: later ones come first. */
  readonly place: string
  readonly kind: TimelineKind
  readonly occurredAt: Date
  /** The record that tells of it. */
  readonly recordType: string
  readonly recordId: string
  /** What it is about in words: the title of an issue, the name of a check, an application. */
  readonly subject: string
  /** Why, in words. */
  readonly reason: string
  readonly fromState: string | null
  readonly toState: string | null
  readonly actorName: string | null
  readonly txn: string | null
  /** The check whose configuration was changed by the same cause. */
  readonly configuredCheckId: string | null
}

interface Source {
  readonly kind: TimelineKind
  readonly from: RawBuilder<unknown>
  readonly at: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
  readonly recordType: string
  readonly subject?: RawBuilder<unknown>
  readonly reason?: RawBuilder<unknown>
  readonly states?: readonly [RawBuilder<unknown>, RawBuilder<unknown>]
  readonly actor?: RawBuilder<unknown>
  readonly txn?: RawBuilder<unknown>
  readonly configuredCheckId?: RawBuilder<unknown>
}

/** Where entries come from: tables with their rows of one device. */
function sourcesOf(
  deviceId: string,
  { showsSignIns }: { readonly showsSignIns: boolean },
): readonly Source[] {
  const device = deviceSources(deviceId).filter(({ kind }) => showsSignIns || kind !== 'sign_in')
  return [...postureSources(deviceId), ...requestSources(deviceId), ...device]
}

function postureSources(deviceId: string): readonly Source[] {
  const issue = sql`issue i where i.device_id = ${deviceId}`
  const states = [sql`t.from_status`, sql`t.to_status`] as const
  return [
    {
      kind: 'status_changed',
      from: sql`device_status_transition t
        left join check_configuration_change g on g.txn = t.txn where t.device_id = ${deviceId}`,
      ...{ at: sql`t.occurred_at`, id: sql`t.id`, recordType: 'device_status_transition' },
      ...{ reason: sql`t.reason`, states: [sql`t.from_state`, sql`t.to_state`] },
      ...{ actor: sql`t.actor_name`, txn: sql`t.txn`, configuredCheckId: sql`g.check_id::text` },
    },
    {
      kind: 'check_result_changed',
      from: sql`check_transition t join posture_check c on c.id = t.check_id
        where t.device_id = ${deviceId}`,
      ...{ at: sql`t.occurred_at`, id: sql`t.id`, recordType: 'check_transition' },
      ...{ subject: sql`c.name`, reason: sql`t.reason`, states },
      ...{ actor: sql`t.actor_name`, txn: sql`t.txn` },
    },
    {
      kind: 'issue_opened',
      ...{ from: issue, at: sql`i.detected_at`, id: sql`i.id`, recordType: 'issue' },
      subject: sql`i.title`,
    },
    {
      kind: 'issue_resolved',
      from: sql`${issue} and i.resolved_at is not null`,
      ...{ at: sql`i.resolved_at`, id: sql`i.id`, recordType: 'issue', subject: sql`i.title` },
    },
    {
      kind: 'issue_snoozed',
      from: sql`${issue} and i.snoozed_at is not null`,
      ...{ at: sql`i.snoozed_at`, id: sql`i.id`, recordType: 'issue', subject: sql`i.title` },
    },
  ]
}

function requestSources(deviceId: string): readonly Source[] {
  const requestOf = (table: string) => sql`${sql.table(table)} r where r.device_id = ${deviceId}`
  return [
    {
      kind: 'exemption_requested',
      from: requestOf('exemption_request'),
      ...{ at: sql`r.requested_at`, id: sql`r.id`, recordType: 'exemption_request' },
      reason: sql`r.requester_message`,
    },
    {
      kind: 'exemption_decided',
      from: sql`${requestOf('exemption_request')} and r.decided_at is not null`,
      ...{ at: sql`r.decided_at`, id: sql`r.id`, recordType: 'exemption_request' },
      ...{ states: [sql`null`, sql`r.status`], actor: sql`r.decided_by` },
    },
    {
      kind: 'registration_requested',
      from: requestOf('registration_request'),
      ...{ at: sql`r.requested_at`, id: sql`r.id`, recordType: 'registration_request' },
      reason: sql`r.requester_message`,
    },
    {
      kind: 'registration_decided',
      from: sql`${requestOf('registration_request')} and r.decided_at is not null`,
      ...{ at: sql`r.decided_at`, id: sql`r.id`, recordType: 'registration_request' },
      ...{ states: [sql`null`, sql`r.status`], actor: sql`r.decided_by` },
    },
    {
      kind: 'reenrollment_requested',
      from: requestOf('reenrollment_request'),
      ...{ at: sql`r.requested_at`, id: sql`r.id`, recordType: 'reenrollment_request' },
      ...{ subject: sql`r.host_name`, reason: sql`r.reason`, states: [sql`null`, sql`r.status`] },
    },
  ]
}

function deviceSources(deviceId: string): readonly Source[] {
  const device = (column: string) =>
    sql`device d where d.id = ${deviceId} and ${sql.ref(column)} is not null`
  return [
    {
      kind: 'registered',
      from: sql`device d left join person p on p.id = d.owner_person_id
        where d.id = ${deviceId} and d.registered_at is not null`,
      ...{ at: sql`d.registered_at`, id: sql`d.id`, recordType: 'device', subject: sql`p.name` },
    },
    {
      kind: 'enrolled',
      from: device('d.enrolled_at'),
      ...{ at: sql`d.enrolled_at`, id: sql`d.id`, recordType: 'device', subject: sql`d.name` },
    },
    {
      kind: 'deletion_requested',
      from: device('d.deletion_requested_at'),
      ...{ at: sql`d.deletion_requested_at`, id: sql`d.id`, recordType: 'device' },
      actor: sql`d.deletion_requested_by`,
    },
    {
      kind: 'sign_in',
      from: sql`auth_log_session s where s.device_id = ${deviceId}`,
      ...{ at: sql`s.started_at`, id: sql`s.id`, recordType: 'auth_log', subject: sql`s.app_name` },
      ...{ states: [sql`s.initial_status`, sql`s.result`], actor: sql`s.person_name` },
      txn: sql`s.txn`,
    },
  ]
}

/**
 * A page of what happened to a device. The key of the window is the `place` of an entry, and entries come in the
 * order of their places, which is against that of the times.
 */
export async function listTimeline(
  db: Kysely<Schema>,
  deviceId: string,
  { afterId, limit }: PageWindow,
  shown: { readonly showsSignIns: boolean },
): Promise<TimelineEntry[]> {
  const sources = sourcesOf(deviceId, shown).map((source) =>
    selectSource(source, { afterId, limit }),
  )
  const { rows } = await sql<TimelineEntry>`
    select * from (${sql.join(sources, sql` union all `)}) as entry
    order by place limit ${limit}`.execute(db)
  return rows
}

/** A time as a text whose order is against that of the times: what is left of a time far away. */
function placeOf({ at, id, kind }: Source): RawBuilder<string> {
  const left = sql`(32503680000000000 - (extract(epoch from ${at}) * 1000000)::bigint)`
  return sql<string>`(lpad(${left}::text, 17, '0') || ' ' || ${sql.lit(kind)} || ' '
    || lpad((9223372036854775807 - ${id})::text, 19, '0')) collate "C"`
}

function selectSource(source: Source, { afterId, limit }: PageWindow): RawBuilder<unknown> {
  const { kind, from, at, id, recordType, subject, reason, states, actor, txn } = source
  const [fromState = sql`null`, toState = sql`null`] = states ?? []
  const place = placeOf(source)
  const isBehind = afterId === undefined ? sql`true` : sql`${place} > ${afterId}`
  return sql`(
    select ${place} as place, ${sql.lit(kind)} as kind, ${at} as "occurredAt",
      ${sql.lit(recordType)} as "recordType", ${id}::text as "recordId",
      coalesce(${subject ?? sql`null`}, '') as subject, coalesce(${reason ?? sql`null`}, '') as reason,
      ${fromState}::text as "fromState", ${toState}::text as "toState",
      ${actor ?? sql`null`}::text as "actorName", ${txn ?? sql`null`}::text as txn,
      ${source.configuredCheckId ?? sql`null`}::text as "configuredCheckId"
    from ${from} and ${isBehind}
    order by place limit ${limit})`
}
