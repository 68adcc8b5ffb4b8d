/*
 * One connection of the reporting role for one query: opened, bounded, read row by row, closed. Nothing of
 * a session outlives the query, whatever the query did to it. Does not decide which SQL may run.
 */
import { escapeIdentifier, escapeLiteral, Query } from 'pg'
import { MINUTE_MS, SECOND_MS } from '../../../platform/clock.ts'
import { DatabaseClient } from '../../../platform/db/database-client.ts'
import { DatabaseNetwork } from '../../../platform/db/database-network.ts'
import type { ReportingAccess } from './reporting-access.ts'

export interface SessionLimits {
  readonly statementTimeoutMs: number
  /** Rows beyond this are left out. */
  readonly rows: number
  /** Bytes of all rows as JSON; a result that is larger is refused. */
  readonly bytes: number
}

/** Rows as JSON texts, with their bytes in UTF-8. */
export interface SessionResult {
  readonly rows: readonly string[]
  readonly bytes: number
}

/** A result is larger than the limit of bytes. */
export class ResultTooLarge extends Error {
  override readonly name = 'ResultTooLarge'
}

/** The server did not end a statement in time. */
export class StatementTooSlow extends Error {
  override readonly name = 'StatementTooSlow'
}

/** The session is not that of the reporting role. */
export class ForeignSession extends Error {
  override readonly name = 'ForeignSession'
}

const CONNECT_MAX_MS = 5 * SECOND_MS
/** The server ends a statement by its own timeout; one that gets around it loses its connection. */
const GRACE_MS = 2 * SECOND_MS

/**
 * The state of a session, whatever the role or the database have as their defaults. Those of the grammar
 * make the server read a text as it was checked.
 */
const toPreparation = ({ statementTimeoutMs }: SessionLimits): string => `
  begin transaction read only;
  set local standard_conforming_strings = on;
  set local transform_null_equals = off;
  set local search_path = reporting, pg_catalog, pg_temp;
  set local statement_timeout = ${statementTimeoutMs};
  set local lock_timeout = ${SECOND_MS};
  set local idle_in_transaction_session_timeout = ${MINUTE_MS};
  set local timezone = 'UTC';
  set local datestyle = 'ISO';
  set local intervalstyle = 'postgres';
  set local work_mem = '8MB';
  set local max_parallel_workers_per_gather = 0;
  set local jit = off`

/** A row that alone is too large does not leave the server. `result.*` is the row, also beside a column `result`. */
const toText = (select: string, times: readonly string[], { rows }: SessionLimits): string => `
  select case when octet_length(text) <= $1 then text end as text
  from (select (${['to_jsonb(result.*)', ...times.map(toWireTime)].join(' || ')})::text as text from (
${select}
  ) as result limit ${rows}) as rows`

/**
 * A time as the API writes it; in JSON of PostgreSQL it has an offset, and no fraction where that is zero. What has no
 * such form, infinity and years before 1 or after 9999, stays as it is.
 */
function toWireTime(name: string): string {
  const column = `result.${escapeIdentifier(name)}`
  return `jsonb_build_object(${escapeLiteral(name)},
    case when isfinite(${column}) and extract(year from ${column}) between 1 and 9999
      then to_jsonb(to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) else to_jsonb(${column}) end)`
}

/**
 * Runs one SELECT that has been checked. `signal` ends it at once.
 *
 * @throws ResultTooLarge; StatementTooSlow; ForeignSession; the errors of the driver and the server
 */
export async function readRows(
  access: ReportingAccess,
  select: string,
  limits: SessionLimits,
  signal: AbortSignal,
): Promise<SessionResult> {
  const silentMaxMs = limits.statementTimeoutMs + GRACE_MS
  const client = new DatabaseClient({
    ...new DatabaseNetwork().settings(access.connection, silentMaxMs),
    application_name: 'heliograph reporting',
  })
  const deadline = AbortSignal.timeout(CONNECT_MAX_MS + limits.statementTimeoutMs + GRACE_MS)
  const ended = AbortSignal.any([signal, deadline])
  const end = () => void client.close()
  ended.addEventListener('abort', end)
  try {
    await client.connect()
    await client.query(toPreparation(limits))
    await assertOwnSession(client, access)
    const times = await listTimes(client, select)
    return await streamRows(client, toText(select, times, limits), limits)
  } catch (error) {
    throw deadline.aborted ? new StatementTooSlow('no end in time', { cause: error }) : error
  } finally {
    ended.removeEventListener('abort', end)
    // With a query under way this closes the socket; the server ends the query when it next writes.
    end()
  }
}

/** A pooler or a parameter of the URL may have logged in somebody else. */
async function assertOwnSession(client: DatabaseClient, { role }: ReportingAccess): Promise<void> {
  const { rows } = await client.query<{ is_own: boolean }>(
    `select current_user = $1 and session_user = $1 and current_setting('is_superuser') = 'off' as is_own`,
    [role],
  )
  if (rows[0]?.is_own !== true) throw new ForeignSession('another role was logged in')
}

/** The type `timestamp with time zone` in the catalogue of every server. */
const TIMESTAMPTZ_OID = 1184

/** The columns that are times, of those that have a name of their own. A parameter keeps it to one statement. */
async function listTimes(client: DatabaseClient, select: string): Promise<string[]> {
  const text = `select * from (\n${select}\n) as result limit $1`
  const { fields } = await client.query({ text, values: [0] })
  return fields
    .filter(({ dataTypeID }) => dataTypeID === TIMESTAMPTZ_OID)
    .map(({ name }) => name)
    .filter((name) => fields.filter((field) => field.name === name).length === 1)
}

/** Rows are counted as they arrive; with one too many nothing more is read. */
function streamRows(
  client: DatabaseClient,
  text: string,
  { bytes: bytesMax }: SessionLimits,
): Promise<SessionResult> {
  return new Promise((resolve, reject) => {
    const rows: string[] = []
    let bytes = 0
    const query = client.query(new Query({ text, values: [bytesMax] }))
    query.on('row', ({ text: row }: { text: string | null }) => {
      bytes += row === null ? Infinity : Buffer.byteLength(row)
      if (row !== null && bytes <= bytesMax) rows.push(row)
      else reject(new ResultTooLarge('the result is too large'))
    })
    query.on('error', reject)
    query.on('end', () => resolve({ rows, bytes }))
  })
}
