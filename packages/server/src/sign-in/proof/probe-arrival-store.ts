import { sql, type Insertable, type Kysely } from 'kysely'
import type { CamelCased } from '../../platform/db/record-table.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const arrivalTable = defineTable('sign_in_probe_arrival')

/** Who came to a leased port. */
export type ProbeArrival = RecordOf<typeof arrivalTable>

/** One that is not stored yet. */
export type NewProbeArrival = CamelCased<Insertable<Schema['sign_in_probe_arrival']>>

/** Adds an arrival, and answers its id; undefined for a second request of the browser to the same port. */
export async function insertArrival(
  db: Kysely<Schema>,
  arrival: NewProbeArrival,
): Promise<string | undefined> {
  const row = await db
    .insertInto('sign_in_probe_arrival')
    .values(arrivalTable.toInsert(arrival))
    .onConflict((conflict) =>
      conflict.columns(['proof_id', 'port']).where('kind', '=', 'counted').doNothing(),
    )
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/**
 * Adds a connection without a request, and answers its id; undefined where the proof has many, or its attempt is gone.
 * One statement, so that a busy process or database delays it little: devices are judged soon after they have answered.
 * It came by the clock of the database rather too early than too late, for another process compares that with when
 * devices answered: where the statement had to wait, by the clock of this process.
 */
export async function insertIdle(
  db: Kysely<Schema>,
  arrival: Omit<ProbeArrival, 'id' | 'kind'>,
  { openForMs, countMax }: { readonly openForMs: number; readonly countMax: number },
): Promise<string | undefined> {
  const { proofId, attemptId, port, reason, ipAddress, clientPort, serviceAddress } = arrival
  const { rows } = await sql<{ id: string }>`
    insert into sign_in_probe_arrival
      (proof_id, attempt_id, port, kind, reason, ip_address, client_port, service_address, arrived_at)
    select ${proofId}::uuid, id, ${port}::integer, 'idle', ${reason}::text, ${ipAddress}::text,
      ${clientPort}::integer, ${serviceAddress}::text, least(${arrival.arrivedAt}::timestamptz,
        clock_timestamp() - ${openForMs}::float8 * interval '1 millisecond')
    from sign_in_attempt where id = ${attemptId} and ${countMax}::integer > (
      select count(*) from sign_in_probe_arrival
      where attempt_id = ${attemptId} and proof_id = ${proofId} and kind = 'idle')
    returning id`.execute(db)
  return rows[0]?.id
}

/** Says of a connection without a request what became of it. */
export async function updateReason(db: Kysely<Schema>, id: string, reason: string): Promise<void> {
  await arrivalTable.updateAll(db, { id }, { reason })
}

/** To how many ports the browser of a proof has come, counted up to a bound. */
export async function countCounted(
  db: Kysely<Schema>,
  proofId: string,
  countMax: number,
): Promise<number> {
  const rows = await db
    .selectFrom('sign_in_probe_arrival')
    .select('id')
    .where('proof_id', '=', proofId)
    .where('kind', '=', 'counted')
    .limit(countMax)
    .execute()
  return rows.length
}

const ARRIVALS_READ_MAX = 100

/** Who came to the ports of a proof, in their order. */
export async function listArrivals(
  db: Kysely<Schema>,
  { attemptId, proofId }: Pick<ProbeArrival, 'attemptId' | 'proofId'>,
): Promise<ProbeArrival[]> {
  // The index is one of attempts.
  const rows = await db
    .selectFrom('sign_in_probe_arrival')
    .selectAll()
    .where('attempt_id', '=', attemptId)
    .where('proof_id', '=', proofId)
    .orderBy('id')
    .limit(ARRIVALS_READ_MAX)
    .execute()
  return rows.map((row) => arrivalTable.fromRow(row))
}
