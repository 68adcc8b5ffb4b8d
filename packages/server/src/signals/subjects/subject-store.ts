import type { StreamRowId } from '../../schema/branded-ids.ts'
import { createHash } from 'node:crypto'
import type { SubjectIdentifier } from '@heliograph/ssf'
import { sql, type Kysely } from 'kysely'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import { toCanonicalJson } from '../../platform/canonical-json.ts'
import { defineTable } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const subjectTable = defineTable('ssf_stream_subject', { ssf_stream_id: 'streamRowId' })

/** What a receiver said about a subject of a stream. */
export interface SubjectStatement {
  readonly streamRowId: StreamRowId
  readonly subject: SubjectIdentifier
  readonly matchKeys: readonly string[]
  readonly isIncluded: boolean
}

/** A statement as it is kept. */
export interface SubjectRecord extends SubjectStatement {
  readonly id: string
  readonly isVerified: boolean
  readonly createdAt: Date
}

/** SHA-256 of a subject, whatever the order of its members. */
export function hashSubject(subject: SubjectIdentifier): Buffer {
  return createHash('sha256').update(toCanonicalJson(subject)).digest()
}

export async function insertSubject(
  db: Kysely<Schema>,
  {
    subject,
    matchKeys,
    ...statement
  }: SubjectStatement & { readonly isVerified: boolean; readonly createdAt: Date },
): Promise<void> {
  await subjectTable.insert(db, {
    ...statement,
    subjectHash: hashSubject(subject),
    subject: JSON.stringify(subject),
    matchKeys: [...matchKeys],
  })
}

/** Forgets what was said about one subject. */
export async function deleteSubject(
  db: Kysely<Schema>,
  streamRowId: StreamRowId,
  subject: SubjectIdentifier,
): Promise<void> {
  await subjectTable.delete(db, { streamRowId, subjectHash: hashSubject(subject) })
}

/** Forgets everything that was said about the subjects of a stream. */
export async function deleteSubjects(db: Kysely<Schema>, streamRowId: StreamRowId): Promise<void> {
  await subjectTable.delete(db, { streamRowId })
}

/** How many subjects of a stream were added and how many removed, as far as that is still said. */
export async function countSubjects(
  db: Kysely<Schema>,
  streamRowId: StreamRowId,
): Promise<{ readonly included: number; readonly excluded: number }> {
  const { rows } = await sql<{ included: number; excluded: number }>`
    select count(*) filter (where is_included)::integer as included,
      count(*) filter (where not is_included)::integer as excluded
    from ssf_stream_subject where ssf_stream_id = ${streamRowId}`.execute(db)
  return rows[0] ?? { included: 0, excluded: 0 }
}

/** A page of what was said about the subjects of a stream, oldest word first. */
export async function listSubjects(
  db: Kysely<Schema>,
  streamRowId: StreamRowId,
  window: PageWindow,
): Promise<SubjectRecord[]> {
  const query = db
    .selectFrom('ssf_stream_subject')
    .selectAll()
    .where('ssf_stream_id', '=', streamRowId)
  return (await readPage(query, 'id', window)).map(toRecord)
}

/** What was said about subjects that events with these keys may be about, oldest word first. */
export async function listStatements(
  db: Kysely<Schema>,
  streamRowIds: readonly StreamRowId[],
  keys: readonly string[],
): Promise<SubjectRecord[]> {
  const rows = await db
    .selectFrom('ssf_stream_subject')
    .selectAll()
    .where('ssf_stream_id', '=', sql<StreamRowId>`any(${streamRowIds}::bigint[])`)
    .where(sql<boolean>`match_keys && ${keys}::text[]`)
    .orderBy('id')
    .execute()
  return rows.map(toRecord)
}

function toRecord(row: Parameters<typeof subjectTable.fromRow>[0]): SubjectRecord {
  // The subject is written by `insertSubject` and by nothing else.
  return { ...subjectTable.fromRow(row), subject: row.subject as unknown as SubjectIdentifier }
}
