/* Whom the subjects of a stream are: the devices and people that this service knows by their identifiers. */
import type { SimpleSubject, SubjectIdentifier } from '@heliograph/ssf'
import { sql, type Kysely } from 'kysely'
import { isId } from '../../platform/ids.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Stream } from '../streams/stream-store.ts'
import type { SubjectRecord } from './subject-store.ts'

/** A record that a subject names. */
interface NamedRecord {
  readonly id: string
  readonly name: string
}

/** A subject with whom it names; null where this service knows nobody by it. */
interface KnownSubject extends SubjectRecord {
  readonly device: NamedRecord | null
  readonly person: NamedRecord | null
}

/**
 * Finds whom subjects name, in two statements however many they are. Pairwise identifiers name nobody: they
 * cannot be turned back.
 */
export async function readKnownSubjects(
  db: Kysely<Schema>,
  stream: Pick<Stream, 'issuer' | 'hasPairwiseIdentifiers'>,
  subjects: readonly SubjectRecord[],
): Promise<KnownSubject[]> {
  const named = subjects.map((record) => ({
    record,
    deviceId: stream.hasPairwiseIdentifiers ? undefined : toDeviceId(record.subject, stream.issuer),
    email: toEmail(record.subject),
  }))
  const devices = await listDeviceNames(
    db,
    named.flatMap(({ deviceId }) => deviceId ?? []),
  )
  const people = await listPersonNames(
    db,
    named.flatMap(({ email }) => email ?? []),
  )
  return named.map(({ record, deviceId = '', email = '' }) => ({
    ...record,
    device: devices.get(deviceId) ?? null,
    person: people.get(email) ?? null,
  }))
}

function toDeviceId(subject: SubjectIdentifier, issuer: string): string | undefined {
  const part = partOf(subject, 'device')
  if (part?.format === 'opaque') return isId(part.id) ? part.id : undefined
  if (part?.format !== 'iss_sub' || part.iss !== issuer) return undefined
  return isId(part.sub) ? part.sub : undefined
}

function toEmail(subject: SubjectIdentifier): string | undefined {
  const part = partOf(subject, 'user')
  return part?.format === 'email' ? part.email.toLowerCase() : undefined
}

/** A simple subject may be either; see `isAboutEvent`. */
function partOf(subject: SubjectIdentifier, member: 'device' | 'user'): SimpleSubject | undefined {
  return subject.format === 'complex' ? subject[member] : subject
}

async function listDeviceNames(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, NamedRecord>> {
  const rows = await db
    .selectFrom('device')
    .select(['id', 'name'])
    .where('id', '=', sql<string>`any(${ids}::bigint[])`)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** By email address in lower case. */
async function listPersonNames(
  db: Kysely<Schema>,
  emails: readonly string[],
): Promise<ReadonlyMap<string, NamedRecord>> {
  const rows = await db
    .selectFrom('person')
    .select(['id', 'name', 'email'])
    .where(sql`lower(email)`, '=', sql<string>`any(${emails}::text[])`)
    .where('deprovisioned_at', 'is', null)
    .execute()
  return new Map(rows.map(({ email, ...row }) => [email.toLowerCase(), row]))
}
