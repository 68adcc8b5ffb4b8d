/*
 * Where reporting queries run: checked, as a role that can read the reporting views and nothing else, a
 * few at a time, each on a connection of its own. Never on the connections of the service.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { AppError } from '../../../platform/app-error.ts'
import { SECOND_MS } from '../../../platform/clock.ts'
import { isAccessRefusal } from '../../../platform/db/unavailable.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { Schema } from '../../../schema/schema.ts'
import { checkReportingSql } from '../check-reporting-sql.ts'
import { QuerySlots } from './query-slots.ts'
import type { ReportingAccess } from './reporting-access.ts'
import {
  ensureRole,
  getRolePowers,
  grantReportingViews,
  type RolePowers,
} from './reporting-role-store.ts'
import {
  ForeignSession,
  readRows,
  type SessionLimits,
  type SessionResult,
} from './reporting-session-store.ts'
import { toRunRefusal } from './run-refusal.ts'

/** Rows of a result beyond this are left out. */
export const RESULT_ROWS_MAX = 10_000

const STATEMENT_TIMEOUT_MS = 10 * SECOND_MS
const START_MAX_MS = SECOND_MS
/** More would take memory and processors from the service; each may use a gigabyte on the server. */
const CONCURRENCY_MAX = 2

export interface SandboxDependencies {
  readonly db: Kysely<Schema>
  readonly log: Pick<Logger, 'warn'>
  readonly access: ReportingAccess
  /** The largest result, in bytes of JSON. */
  readonly resultBytesMax: number
}

/** Connects at the first query. */
export class ReportingSandbox {
  readonly resultBytesMax: number
  readonly #db: Kysely<Schema>
  readonly #log: Pick<Logger, 'warn'>
  readonly #access: ReportingAccess
  readonly #limits: SessionLimits
  readonly #slots = new QuerySlots(CONCURRENCY_MAX)
  readonly #closing = new AbortController()
  #reported: string | undefined
  /** A start does not wait for an address that does not answer, and so did not look where it leads. */
  #isOneDatabase = false

  constructor({ db, log, access, resultBytesMax }: SandboxDependencies) {
    this.resultBytesMax = resultBytesMax
    this.#db = db
    this.#log = log
    this.#access = access
    this.#limits = {
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      rows: RESULT_ROWS_MAX,
      bytes: resultBytesMax,
    }
  }

  /**
   * The rows of a reporting query.
   *
   * @throws AppError `conflict` for SQL that is not allowed, fails, takes too long or answers too much;
   * `reporting_not_set_up`; `unavailable`
   */
  readonly run = async (sql: string): Promise<SessionResult> => {
    const select = await checkAgain(sql)
    return this.#slots.run(async () => {
      if (this.#closing.signal.aborted) throw stopping()
      await this.#makeReady()
      try {
        return await this.#read(select)
      } catch (error) {
        throw toRunRefusal(error, this.#limits)
      }
    })
  }

  /** Prepares, and leaves a server that does not answer to itself. */
  readonly start = async (): Promise<void> => {
    const over = new AbortController()
    const patience = sleep(START_MAX_MS, undefined, { signal: over.signal })
    await Promise.race([this.prepare(), patience.catch(() => undefined)])
    over.abort()
  }

  /** Makes the role ready; what stands in the way is logged. */
  readonly prepare = async (): Promise<void> => {
    try {
      await this.#makeReady()
      await this.#read('select')
    } catch (error) {
      // Those that were told already, and those that the next query will meet again.
      if (!(error instanceof AppError) && !this.#closing.signal.aborted) {
        this.#report(describe(error))
      }
    }
  }

  /** Ends the queries that run. */
  readonly close = (): void => this.#closing.abort()

  /** Brings the role to what it needs, and refuses one that may do more. */
  async #makeReady(): Promise<void> {
    const { role, ownPassword } = this.#access
    let powers = await getRolePowers(this.#db, role)
    if (!powers.exists && ownPassword !== undefined) {
      await this.#ensureRole(ownPassword)
      powers = await getRolePowers(this.#db, role)
    }
    this.#assertConfined(powers)
    if (powers.reads_views) return
    await grantReportingViews(this.#db, role)
  }

  #assertConfined(powers: RolePowers): void {
    const { role } = this.#access
    if (!powers.exists) throw this.#notSetUp(`there is no role ${role}`)
    if (powers.is_service_role) throw this.#notSetUp(`${role} is the role of the service itself`)
    if (powers.has_attributes) throw this.#notSetUp(`the role ${role} has rights on the server`)
    if (powers.is_member) throw this.#notSetUp(`the role ${role} is a member of another role`)
    if (powers.reaches !== null) throw this.#notSetUp(`the role ${role} reaches ${powers.reaches}`)
  }

  async #assertOneDatabase(): Promise<void> {
    this.#isOneDatabase ||= (await this.#access.isOneDatabase?.(this.#closing.signal)) ?? true
    if (this.#isOneDatabase) return
    throw this.#notSetUp(
      'HELIOGRAPH_REPORTING_DATABASE_URL leads to another database than DATABASE_URL',
    )
  }

  async #read(select: string): Promise<SessionResult> {
    try {
      await this.#assertOneDatabase()
      return await readRows(this.#access, select, this.#limits, this.#closing.signal)
    } catch (error) {
      if (error instanceof ForeignSession) throw this.#notSetUp(error.message)
      if (!isAccessRefusal(error)) throw error
      const { ownPassword } = this.#access
      if (ownPassword === undefined) throw this.#notSetUp(error.message)
      // Another master key, or a database that was restored: the role has another password.
      await this.#ensureRole(ownPassword)
      return readRows(this.#access, select, this.#limits, this.#closing.signal)
    }
  }

  async #ensureRole(password: string): Promise<void> {
    try {
      await ensureRole(this.#db, this.#access.role, password)
    } catch (error) {
      if (!isAccessRefusal(error)) throw error
      throw this.#notSetUp(`the role of the service may not make the role ${this.#access.role}`)
    }
  }

  /** What stands in the way is for the operator, and in the log. */
  #notSetUp(reason: string): AppError {
    this.#report(reason)
    return new AppError(
      'reporting_not_set_up',
      'Reporting queries wait until the operator has set up their database role: docs/operations.md says how, and the log of the service what is missing.',
      { cause: new Error(reason) },
    )
  }

  #report(reason: string): void {
    if (this.#reported === reason) return
    this.#reported = reason
    this.#log.warn(
      { reason },
      'reporting queries cannot run: their database role is not set up, see docs/operations.md',
    )
  }
}

/**
 * A saved query was checked when it was saved, by this program or another one, whose tables and rules
 * were others.
 */
async function checkAgain(sql: string): Promise<string> {
  try {
    return await checkReportingSql(sql)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError('conflict', `The query is no longer allowed: its ${error.message}`, {
      cause: error,
    })
  }
}

function stopping(): AppError {
  return new AppError('unavailable', 'The service is stopping.', { retryAfterSeconds: 5 })
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
