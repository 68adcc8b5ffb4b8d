import { sql, type Kysely, type Transaction } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const leaseTable = defineTable('sign_in_probe_lease')

/** A port that one proof has for a time. */
export type ProbeLease = RecordOf<typeof leaseTable>

/** The channel that tells every process that leases began or ended. */
export const PROBE_CHANNEL = 'heliograph_probe'

/** The ports that are free at a time, in no order. */
export async function listFreePorts(
  tx: Transaction<Schema>,
  ports: readonly number[],
  at: Date,
): Promise<number[]> {
  const leased = await tx
    .selectFrom('sign_in_probe_lease')
    .select('port')
    .where('leased_until', '>', at)
    .execute()
  const taken = new Set(leased.map(({ port }) => port))
  return ports.filter((port) => !taken.has(port))
}

/** How many ports an address has leased at a time. */
export async function countLeasesOfAddress(
  tx: Transaction<Schema>,
  ipAddress: string,
  at: Date,
): Promise<number> {
  const { count } = await tx
    .selectFrom('sign_in_probe_lease')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('ip_address', '=', ipAddress)
    .where('leased_until', '>', at)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** For how many sign-ins of a person from an address ports are leased at a time. */
export async function countProofs(
  tx: Transaction<Schema>,
  { personId, ipAddress }: { readonly personId: string | null; readonly ipAddress: string | null },
  at: Date,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct lease.proof_id)::int as count from sign_in_probe_lease lease
    join sign_in_attempt attempt on attempt.id = lease.attempt_id
    where lease.leased_until > ${at} and attempt.person_id = ${personId}
      and lease.ip_address is not distinct from ${ipAddress}`.execute(tx)
  return rows[0]?.count ?? 0
}

/** Leases free ports, whose expired leases end by it, and tells every process. */
export async function insertLeases(
  { tx, tellAfterCommit }: Pick<Change, 'tx' | 'tellAfterCommit'>,
  leases: readonly ProbeLease[],
): Promise<void> {
  const ports = leases.map(({ port }) => port)
  await tx.deleteFrom('sign_in_probe_lease').where('port', 'in', ports).execute()
  await tx
    .insertInto('sign_in_probe_lease')
    .values(leases.map((lease) => leaseTable.toInsert(lease)))
    .execute()
  tellAfterCommit(PROBE_CHANNEL, '')
}

/** The leases that hold at a time. */
export async function listLiveLeases(db: Kysely<Schema>, at: Date): Promise<ProbeLease[]> {
  const rows = await db
    .selectFrom('sign_in_probe_lease')
    .selectAll()
    .where('leased_until', '>', at)
    .execute()
  return rows.map((row) => leaseTable.fromRow(row))
}

/** The leases of an attempt that hold at a time, in the order in which the browser opens the ports. */
export async function listLeasesOfAttempt(
  db: Kysely<Schema>,
  attemptId: string,
  at: Date,
): Promise<ProbeLease[]> {
  const rows = await db
    .selectFrom('sign_in_probe_lease')
    .selectAll()
    .where('attempt_id', '=', attemptId)
    .where('leased_until', '>', at)
    .orderBy('position')
    .execute()
  return rows.map((row) => leaseTable.fromRow(row))
}

/** Marks the leases of an attempt, which the change has locked, as those of a proof that is being decided. */
export async function claimLeases(
  tx: Transaction<Schema>,
  attemptId: string,
  at: Date,
): Promise<void> {
  await leaseTable.update(tx, { attemptId }, { claimedAt: at })
}

/** Ends the leases of an attempt, and tells every process. */
export async function deleteLeasesOfAttempt(
  { tx, tellAfterCommit }: Pick<Change, 'tx' | 'tellAfterCommit'>,
  attemptId: string,
): Promise<void> {
  await leaseTable.delete(tx, { attemptId })
  tellAfterCommit(PROBE_CHANNEL, '')
}

/** Prolongs the leases of a proof whose browser has come to all of its ports, and tells every process. */
export async function prolongLeases(
  { tx, tellAfterCommit }: Pick<Change, 'tx' | 'tellAfterCommit'>,
  proofId: string,
  leasedUntil: Date,
): Promise<void> {
  await tx
    .updateTable('sign_in_probe_lease')
    .set({ leased_until: sql`greatest(leased_until, ${leasedUntil}::timestamptz)` })
    .where('proof_id', '=', proofId)
    .execute()
  tellAfterCommit(PROBE_CHANNEL, '')
}
