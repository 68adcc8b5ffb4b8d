import { sql, type Kysely } from 'kysely'
import type { Change } from '../../changes/change.ts'
import type { Schema } from '../../schema/schema.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import {
  QUESTION_ANSWER_CHANNEL,
  QUESTION_CHANNEL,
  WAITING_QUESTIONS_MAX,
  type AskedQuestion,
} from './device-question.ts'

const IDS_PER_NOTIFICATION = 150

/** A question before it is asked. */
export interface NewQuestion extends AskedQuestion {
  readonly id: string
}

/** A question that waits for its answer. */
export interface OpenQuestion {
  readonly id: string
  readonly deviceId: string
  readonly sql: string
  readonly expiresAt: Date
}

/** A question that waits no more. */
export interface EndedQuestion {
  readonly id: string
  readonly status: 'answered' | 'failed' | 'expired'
  readonly rows: readonly OsqueryRow[] | null
  readonly askedAt: Date
  readonly answeredAt: Date | null
}

/** An answer to store. */
export interface GivenAnswer {
  readonly id: string
  readonly status: 'answered' | 'failed'
  readonly rows: readonly OsqueryRow[]
  readonly errorMessage: string | null
}

/**
 * Inserts questions to devices that can be asked and tells the intakes. Answers the ids of those that were inserted:
 * left out are devices that are gone or disabled, and what is too much for one device.
 */
export async function insertQuestions(
  { tx, tellAfterCommit }: Pick<Change, 'tx' | 'tellAfterCommit'>,
  questions: readonly NewQuestion[],
  { askedAt, expiresAt }: { readonly askedAt: Date; readonly expiresAt: Date },
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string; deviceId: string }>`
      insert into device_question (id, device_id, purpose, sql, status, asked_at, expires_at)
      select given.id, device.id, given.purpose, given.sql, 'waiting',
        ${askedAt}::timestamptz, ${expiresAt}::timestamptz
      from jsonb_to_recordset(${JSON.stringify(questions)}::jsonb)
        as given(id uuid, "deviceId" bigint, purpose text, sql text)
      join device on device.id = given."deviceId"
        and device.node_key_hash is not null and device.agent_disabled_at is null
      where (select count(*) from device_question waiting where waiting.device_id = device.id
        and waiting.status = 'waiting' and waiting.expires_at > ${askedAt}) < ${WAITING_QUESTIONS_MAX}
      returning id, device_id as "deviceId"`.execute(tx)
  tellIds(tellAfterCommit, QUESTION_CHANNEL, [...new Set(rows.map(({ deviceId }) => deviceId))])
  return new Set(rows.map(({ id }) => id))
}

/** The questions that wait for devices, oldest first; for all devices without ids. */
export async function listOpenQuestions(
  db: Kysely<Schema>,
  now: Date,
  deviceIds: readonly string[] | 'all',
): Promise<OpenQuestion[]> {
  const ofDevices =
    deviceIds === 'all' ? sql`` : sql`and device_id = any(${[...deviceIds]}::bigint[])`
  const { rows } = await sql<OpenQuestion>`
    select id, device_id as "deviceId", sql, expires_at as "expiresAt" from device_question
    where status = 'waiting' and expires_at > ${now} ${ofDevices}
    order by asked_at, id`.execute(db)
  return rows
}

/** Those of the questions that wait no more. */
export async function listEndedQuestions(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<EndedQuestion[]> {
  const { rows } = await sql<EndedQuestion>`
    select id, status, rows, asked_at as "askedAt", answered_at as "answeredAt"
    from device_question where id = any(${[...ids]}::uuid[]) and status <> 'waiting'`.execute(db)
  return rows
}

/** Ends questions for which nobody waits any more; those that have an answer keep it. */
export async function expireQuestions(db: Kysely<Schema>, ids: readonly string[]): Promise<void> {
  await sql`update device_question set status = 'expired'
    where id = any(${[...ids]}::uuid[]) and status = 'waiting'`.execute(db)
}

/**
 * Stores what a device answered to questions of its own that wait, and tells who waits after the commit. Left out are
 * repeated and late answers and those to questions that were put to another device.
 */
export async function updateAnsweredQuestions(
  { tx, tellAfterCommit }: Pick<Change, 'tx' | 'tellAfterCommit'>,
  deviceId: string,
  answers: readonly GivenAnswer[],
  answeredAt: Date,
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update device_question question
    set status = given.status, rows = given.rows, error_message = given."errorMessage",
      answered_at = ${answeredAt}
    from jsonb_to_recordset(${JSON.stringify(answers)}::jsonb)
      as given(id uuid, status text, rows jsonb, "errorMessage" text)
    where question.id = given.id and question.device_id = ${deviceId}
      and question.status = 'waiting' and question.expires_at > ${answeredAt}
    returning question.id`.execute(tx)
  tellIds(
    tellAfterCommit,
    QUESTION_ANSWER_CHANNEL,
    rows.map(({ id }) => id),
  )
}

function tellIds(
  tellAfterCommit: Change['tellAfterCommit'],
  channel: string,
  ids: readonly string[],
): void {
  for (let start = 0; start < ids.length; start += IDS_PER_NOTIFICATION) {
    tellAfterCommit(channel, ids.slice(start, start + IDS_PER_NOTIFICATION).join(' '))
  }
}
