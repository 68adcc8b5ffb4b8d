/*
 * A connection of the driver with bounds: its beginning and its end do not wait for a server that is silent, and
 * with several servers it goes to the one that takes writes.
 */
import type { Socket } from 'node:net'
import { Client, type ClientConfig } from 'pg'
import { SECOND_MS } from '../clock.ts'
import { errorCodeOf } from '../error-code-of.ts'
import { readShortRows } from './short-rows.ts'

/** Says which of several servers is to be asked (`server-chooser.ts`). */
export interface ServerChoice {
  choose(): Promise<{ readonly host: string; readonly port: number }>
  /** The last answer has turned out to be wrong. */
  forget(): void
}

export interface DatabaseClientConfig extends ClientConfig {
  /** Chooses among several servers; without it there is one. */
  readonly chooser?: ServerChoice
  /** Hears every error that the server answers. */
  readonly onServerError?: (error: Error) => void
  /** Whether a pool gives it out, which ends what is of no use any more when it is given back. */
  readonly isPooled?: boolean
}

type OnConnected = ((error: Error) => void) | ((error: null, client: Client) => void)

/** A server that is there answers the start of a connection at once, a busy one within a second. */
const CONNECT_MAX_MS = 5 * SECOND_MS
const GOODBYE_MAX_MS = SECOND_MS

const READ_ONLY_TRANSACTION = '25006'
/** A server that only reads is connected to this often at most by each place of a pool: reads need it meanwhile. */
const REPLACED_AFTER_MS = 5 * SECOND_MS

/** The loss of a connection, in the words of the driver, by which it is known. */
export function terminated(reason: string): Error {
  return new Error(`Connection terminated: ${reason}`)
}

/** No server takes writes. Known as unavailable by its code, read_only_sql_transaction. */
export class NoWritableServer extends Error {
  override readonly name = 'NoWritableServer'
  readonly code = READ_ONLY_TRANSACTION
}

export class DatabaseClient extends Client {
  readonly #chooser: ServerChoice | undefined
  /** That below TLS, which hears how long the server is silent. */
  readonly #socket: Socket
  readonly #silentMaxMs: number
  #isOpen = false
  #isClosed = false
  readonly #openedMs = performance.now()
  #wasRefused = false

  constructor(config: DatabaseClientConfig = {}) {
    super(config)
    this.#chooser = config.chooser
    this.#socket = this.connection.stream as Socket
    this.#silentMaxMs = this.#socket.timeout ?? 0
    readShortRows(this.connection)
    // Whoever waits for a query hears of it there; nobody misses an idle connection.
    this.on('error', () => undefined)
    this.connection.on('errorMessage', (error: Error) => {
      config.onServerError?.(error)
      // A standby, or a server that was one: the next connection may lead to another.
      if (errorCodeOf(error) !== READ_ONLY_TRANSACTION) return
      this.#wasRefused = true
      if (config.isPooled !== true) setImmediate(() => this.#break('the server only reads'))
    })
  }

  /** Whether its server has refused a write: another connection may lead to one that takes it, unless this is new. */
  get isReplaceable(): boolean {
    return this.#wasRefused && performance.now() - this.#openedMs >= REPLACED_AFTER_MS
  }

  override connect(): Promise<Client>
  override connect(onConnected: OnConnected): void
  override connect(onConnected?: OnConnected): Promise<Client> | void {
    if (onConnected !== undefined) {
      const tell = onConnected as (error: Error | null, client: Client) => void
      this.#connect().then(
        () => tell(null, this),
        (error: unknown) => tell(error as Error, this),
      )
      return undefined
    }
    return this.#connect().then(() => this)
  }

  /** Whether the server is a standby, or was told to refuse writes. */
  async isReadOnly(): Promise<boolean> {
    const { rows } = await this.query<{ transaction_read_only: string }>(
      'show transaction_read_only',
    )
    return rows[0]?.transaction_read_only === 'on'
  }

  /** Lets the server be silent for as long as it may be about so many statements, which it answers at once. */
  allowSilenceOf(statementCount: number): void {
    this.#socket.setTimeout(this.#silentMaxMs * statementCount)
  }

  /** Closes the connection; a server that does not take the goodbye is not waited for. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (!this.#isOpen) {
      // The driver would never tell whoever waits for its beginning that there is none.
      this.#break('it was closed before it was open')
      return
    }
    const timer = setTimeout(() => this.connection.stream.destroy(), GOODBYE_MAX_MS)
    await this.end().catch(() => undefined)
    clearTimeout(timer)
  }

  async #connect(): Promise<void> {
    await this.#chooseServer()
    if (this.#isClosed) throw terminated('it was closed before it was open')
    const timer = setTimeout(() => this.#break('the server does not answer'), CONNECT_MAX_MS)
    try {
      await super.connect()
      this.#isOpen = true
      if (this.#chooser !== undefined && (await this.isReadOnly())) {
        this.#chooser.forget()
        this.#break('the server only reads')
        throw new NoWritableServer('the server only reads since a moment ago')
      }
    } catch (error) {
      // The driver leaves one open that it cannot go on with, as without a password, and a server waits a minute for
      // it.
      this.connection.stream.destroy()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async #chooseServer(): Promise<void> {
    try {
      Object.assign(this, await this.#chooser?.choose())
    } catch (error) {
      // The driver would open it later.
      this.connection.stream.destroy()
      throw error
    }
  }

  #break(reason: string): void {
    this.connection.stream.destroy(terminated(reason))
  }
}
