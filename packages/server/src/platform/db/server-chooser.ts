/*
 * Chooses among the servers of one database the one that takes writes, as libpq does with
 * `target_session_attrs=read-write` (PostgreSQL, "Database Connection Control Functions"); node-postgres knows one
 * server only. All are asked at once, so that one that is away delays nobody.
 */
import type { ClientConfig } from 'pg'
import { SECOND_MS } from '../clock.ts'
import { DatabaseClient, NoWritableServer, terminated } from './database-client.ts'
import { isAccessRefusal } from './unavailable.ts'

/** Where a server is; a host that begins with `/` is the folder of a Unix socket. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
}

/** Connections begin in bursts: they share one answer. */
const ANSWER_AGE_MAX_MS = SECOND_MS

export class ServerChooser {
  readonly #servers: readonly ClientConfig[]
  #answer: { readonly address: Promise<ServerAddress>; readonly untilMs: number } | undefined

  constructor(servers: readonly ClientConfig[]) {
    this.#servers = servers
  }

  /** The last answer has turned out to be wrong. */
  forget(): void {
    this.#answer = undefined
  }

  /**
   * The server that takes writes at the moment, or did a second ago.
   *
   * @throws NoWritableServer; the error of a server that refuses access; where none answers, one of a connection
   */
  choose(): Promise<ServerAddress> {
    const nowMs = performance.now()
    if (this.#answer === undefined || this.#answer.untilMs < nowMs) {
      this.#answer = { address: this.#ask(), untilMs: nowMs + ANSWER_AGE_MAX_MS }
    }
    return this.#answer.address
  }

  async #ask(): Promise<ServerAddress> {
    try {
      return await Promise.any(this.#servers.map(askWhetherWritable))
    } catch (error) {
      const reasons = error instanceof AggregateError ? (error.errors as unknown[]) : [error]
      throw reasons.find(isAccessRefusal) ?? toFailure(reasons)
    }
  }
}

/** Of servers that are all away, the failure is of the kind of the first. */
function toFailure(reasons: readonly unknown[]): Error {
  const texts = reasons.map((reason) => (reason instanceof Error ? reason.message : String(reason)))
  const text = `no server takes writes: ${texts.join('; ')}`
  const cause = new AggregateError(reasons)
  if (reasons.some((reason) => reason instanceof NoWritableServer)) {
    return new NoWritableServer(text, { cause })
  }
  return Object.assign(terminated(text), { cause }, codeOf(reasons[0]))
}

async function askWhetherWritable(server: ClientConfig): Promise<ServerAddress> {
  const client = new DatabaseClient({ ...server, application_name: 'heliograph server choice' })
  const { host, port } = client
  try {
    await client.connect()
    if (!(await client.isReadOnly())) return { host, port }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw Object.assign(new Error(`${host}:${port}: ${reason}`, { cause: error }), codeOf(error))
  } finally {
    void client.close()
  }
  throw new NoWritableServer(`${host}:${port} only reads`)
}

function codeOf(error: unknown): object {
  return error instanceof Error && 'code' in error ? { code: error.code } : {}
}
