import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { QueryExecutorProvider } from 'kysely'
import { escapeIdentifier } from 'pg'
import { SECOND_MS } from '../clock.ts'
import type { DatabaseConnection } from './connection.ts'
import { DatabaseClient } from './database-client.ts'
import type { DatabaseNetwork } from './database-network.ts'
import type { DatabaseLog } from './database-log.ts'
import type { AdvisoryLock } from './advisory-lock.ts'
import { UNAWAITED } from './unawaited.ts'

export type NotificationHandler = (payload: string) => void

/**
 * Hears what other transactions tell by `notify`, over one connection of its own. A notification is a
 * hint that may be lost while the connection is: whoever depends on it sweeps in `onReconnect` too.
 */
export interface Listener {
  /** Calls `handler` for each notification on the channel until the answer is called. */
  subscribe(channel: string, handler: NotificationHandler): () => void
  /** Begins to listen; a database that is down is tried again until `stop`. Call it once. */
  start(): void
  /** Calls `handler` whenever listening begins, the first time included, until the answer is called. */
  onReconnect(handler: () => void): () => void
  /**
   * Holds an advisory lock for as long as the connection lives, and takes it again after a reconnect:
   * others can tell by it that this process is there. Resolves when it is held for the first time, or
   * when the listener stops.
   */
  holdLock(lock: AdvisoryLock): Promise<void>
  /**
   * Whether an advisory lock was free; then the connection holds it until `unlock`, or until it breaks.
   * While there is no connection, no lock is free.
   */
  tryLock(lock: AdvisoryLock): Promise<boolean>
  /** Gives a lock of `tryLock` back; one that broke with its connection is not held any more. */
  unlock(lock: AdvisoryLock): Promise<void>
  /** Resolves when every subscription made so far is active. */
  whenListening(): Promise<void>
  /** How many milliseconds it has been since anything could be heard; 0 while it listens. */
  disconnectedForMs(): number
  /** Closes the connection. Nobody is called any more afterwards. */
  stop(): Promise<void>
}

export interface ListenerOptions {
  readonly log: DatabaseLog
  /** That of the process: when the host does not answer here, all connections that are silent end. */
  readonly network: DatabaseNetwork
}

/** How the connections of processes that listen are known. */
export const LISTENER_NAME = 'heliograph listener'

/** PostgreSQL takes payloads shorter than 8,000 bytes (NOTIFY). */
const PAYLOAD_BYTES_MAX = 7_999
const RECONNECT_DELAY_MIN_MS = 100
const RECONNECT_DELAY_MAX_MS = 2 * SECOND_MS
/** A connection that the network dropped without a word shows only when it is used. */
const PROBE_INTERVAL_MS = 2 * SECOND_MS
/** The probe reads nothing: a server that is merely busy answers it. */
const PROBE_MAX_MS = 5 * SECOND_MS
/** An answer may have arrived while this process was too busy to read it. */
const UNREAD_ANSWER_MS = 100
/** For what is said between the probes. */
const SILENT_MAX_MS = 10 * SECOND_MS

/** Creates a listener, which listens from `start` on. */
export function createListener(connection: DatabaseConnection, options: ListenerOptions): Listener {
  return new ReconnectingListener(connection, options)
}

/** @throws RangeError for a payload that no notification takes */
export function assertPayload(payload: string): void {
  if (Buffer.byteLength(payload) > PAYLOAD_BYTES_MAX) {
    throw new RangeError(`A notification takes at most ${PAYLOAD_BYTES_MAX} bytes`)
  }
  if (payload.includes('\0')) throw new RangeError('A notification takes no NUL')
}

/**
 * Tells the listeners of a channel something when the transaction commits; a transaction that rolls
 * back tells nothing. Equal payloads of one transaction arrive once. For what is rare and what nothing looks for again:
 * such commits wait for each other (commit-notifier.ts).
 */
export async function notify(
  db: QueryExecutorProvider,
  channel: string,
  payload = '',
): Promise<void> {
  assertPayload(payload)
  await sql`${UNAWAITED} select pg_notify(${channel}, ${payload})`.execute(db)
}

/** A promise that is resolved from outside; opening it again changes nothing. */
interface Gate<Value> {
  readonly opened: Promise<Value>
  open(value: Value): void
}

function createGate<Value>(): Gate<Value> {
  let open: (value: Value) => void = () => undefined
  const opened = new Promise<Value>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

class ReconnectingListener implements Listener {
  readonly #connection: DatabaseConnection
  readonly #log: DatabaseLog
  readonly #network: DatabaseNetwork
  readonly #handlers = new Map<string, Set<NotificationHandler>>()
  readonly #reconnectHandlers = new Set<() => void>()
  readonly #locks = new Map<AdvisoryLock, Gate<void>>()
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #client: DatabaseClient | undefined
  readonly #heldLocks = new Set<AdvisoryLock>()
  #lastQuery: Promise<unknown> = Promise.resolve()
  #connected = createGate<DatabaseClient | undefined>()
  #disconnectedSinceMs: number | undefined = performance.now()

  constructor(connection: DatabaseConnection, { log, network }: ListenerOptions) {
    this.#connection = connection
    this.#log = log
    this.#network = network
  }

  start(): void {
    this.#running = this.#run()
  }

  subscribe(channel: string, handler: NotificationHandler): () => void {
    const handlers = this.#handlers.get(channel)
    if (handlers === undefined) {
      this.#handlers.set(channel, new Set([handler]))
      this.#send(`listen ${escapeIdentifier(channel)}`)
    } else {
      handlers.add(handler)
    }
    return () => this.#unsubscribe(channel, handler)
  }

  onReconnect(handler: () => void): () => void {
    this.#reconnectHandlers.add(handler)
    return () => void this.#reconnectHandlers.delete(handler)
  }

  async holdLock(lock: AdvisoryLock): Promise<void> {
    const held = createGate<void>()
    this.#locks.set(lock, held)
    const client = this.#client
    if (client !== undefined) {
      await this.#takeLock(client, lock, held).catch(() => client.close())
    }
    await held.opened
  }

  async tryLock(lock: AdvisoryLock): Promise<boolean> {
    const client = this.#client
    return client !== undefined && this.#tryLock(client, lock)
  }

  async unlock(lock: AdvisoryLock): Promise<void> {
    const client = this.#client
    if (client === undefined) return
    try {
      await this.#query(client, 'select pg_advisory_unlock($1, $2)', [...lock])
    } catch {
      // The lock must not outlive its use: a connection that cannot give it back ends.
      await client.close()
    }
  }

  async whenListening(): Promise<void> {
    for (;;) {
      const client = await this.#connected.opened
      if (client === undefined || this.#isStopping()) return
      try {
        // Statements run in order: when this one is done, those before it are.
        await this.#query(client, 'select')
        return
      } catch {
        await sleep(RECONNECT_DELAY_MIN_MS)
      }
    }
  }

  disconnectedForMs(): number {
    return this.#disconnectedSinceMs === undefined
      ? 0
      : performance.now() - this.#disconnectedSinceMs
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#handlers.clear()
    this.#reconnectHandlers.clear()
    this.#connected.open(undefined)
    for (const held of this.#locks.values()) held.open()
    await this.#running
  }

  #unsubscribe(channel: string, handler: NotificationHandler): void {
    const handlers = this.#handlers.get(channel)
    if (handlers?.delete(handler) !== true || handlers.size > 0) return
    this.#handlers.delete(channel)
    this.#send(`unlisten ${escapeIdentifier(channel)}`)
  }

  /** A statement that fails means a broken connection; the next one begins with every channel. */
  #send(statement: string): void {
    const client = this.#client
    if (client === undefined) return
    this.#query(client, statement).catch(() => client.close())
  }

  /** One statement after the other, as the driver wants them. */
  #query<Row extends object>(
    client: DatabaseClient,
    text: string,
    values?: unknown[],
  ): Promise<Row[]> {
    const rows = this.#lastQuery.then(async () => (await client.query<Row>(text, values)).rows)
    this.#lastQuery = rows.catch(() => undefined)
    return rows
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    let delayMs = RECONNECT_DELAY_MIN_MS
    while (!this.#isStopping()) {
      try {
        await this.#session(() => {
          delayMs = RECONNECT_DELAY_MIN_MS
        })
      } catch (error) {
        if (!signal.aborted)
          this.#log.warn({ err: error, delayMs }, 'database.listener_disconnected')
      }
      await sleep(delayMs, undefined, { signal }).catch(() => undefined)
      delayMs = Math.min(delayMs * 2, RECONNECT_DELAY_MAX_MS)
    }
  }

  /** One connection from its beginning to its end; throws why it ended. */
  async #session(onListening: () => void): Promise<void> {
    const client = new DatabaseClient({
      ...this.#network.settings(this.#connection, SILENT_MAX_MS),
      application_name: LISTENER_NAME,
    })
    const ended = new Promise<Error>((resolve) => {
      client.on('error', resolve)
      client.on('end', () => resolve(new Error('The connection was closed')))
    })
    client.on('notification', ({ channel, payload }) => this.#deliver(channel, payload ?? ''))
    const stop = () => void client.close()
    this.#stopping.signal.addEventListener('abort', stop)
    try {
      await client.connect()
      if (this.#isStopping()) return
      this.#client = client
      this.#lastQuery = Promise.resolve()
      await this.#listen(client)
      onListening()
      await Promise.race([this.#probe(client, ended), ended])
      throw await ended
    } finally {
      this.#stopping.signal.removeEventListener('abort', stop)
      this.#forget()
      const closed = client.close()
      if (this.#isStopping()) await closed
    }
  }

  async #listen(client: DatabaseClient): Promise<void> {
    for (const channel of this.#handlers.keys()) {
      await this.#query(client, `listen ${escapeIdentifier(channel)}`)
    }
    for (const [lock, held] of this.#locks) await this.#takeLock(client, lock, held)
    this.#disconnectedSinceMs = undefined
    this.#connected.open(client)
    for (const handler of this.#reconnectHandlers) this.#call(handler)
  }

  /** Does not wait for a session of ours that the server has not missed yet; the probe tries again. */
  async #takeLock(client: DatabaseClient, lock: AdvisoryLock, held: Gate<void>): Promise<void> {
    if (this.#heldLocks.has(lock) || !(await this.#tryLock(client, lock))) return
    this.#heldLocks.add(lock)
    held.open()
  }

  async #tryLock(client: DatabaseClient, lock: AdvisoryLock): Promise<boolean> {
    const rows = await this.#query<{ is_held: boolean }>(
      client,
      'select pg_try_advisory_lock($1, $2) as is_held',
      [...lock],
    )
    return rows[0]?.is_held === true
  }

  /** Throws when the connection does not answer; resolves when it has ended. */
  async #probe(client: DatabaseClient, ended: Promise<Error>): Promise<void> {
    const over = new AbortController()
    void ended.then(() => over.abort())
    const isOverAfter = (ms: number) => sleep(ms, false, { signal: over.signal }).catch(() => true)
    for (;;) {
      if (await isOverAfter(PROBE_INTERVAL_MS)) return
      const received = this.#network.received()
      const answered = this.#query(client, 'select')
      if (!(await isAnswered(answered, isOverAfter))) {
        this.#network.breakSilent(received)
        throw new Error('The database does not answer')
      }
      for (const [lock, held] of this.#locks) await this.#takeLock(client, lock, held)
    }
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  #forget(): void {
    if (this.#client === undefined) return
    this.#client = undefined
    this.#heldLocks.clear()
    const wasListening = this.#disconnectedSinceMs === undefined
    this.#disconnectedSinceMs ??= performance.now()
    // One that was not opened yet is waited for still: it opens with the next connection.
    if (wasListening && !this.#isStopping()) this.#connected = createGate()
  }

  #deliver(channel: string, payload: string): void {
    for (const handler of this.#handlers.get(channel) ?? []) this.#call(() => handler(payload))
  }

  /** A handler that fails must not end the connection that the others use. */
  #call(handler: () => void): void {
    try {
      handler()
    } catch (error) {
      this.#log.error({ err: error }, 'database.listener_handler_failed')
    }
  }
}

/** Whether the answer came in time. Rejects as the query does. */
async function isAnswered(
  answered: Promise<unknown>,
  wait: (ms: number) => Promise<unknown>,
): Promise<boolean> {
  const inTime = async (ms: number) =>
    Promise.race([answered.then(() => true), wait(ms).then(() => false)])
  return (await inTime(PROBE_MAX_MS)) || (await inTime(UNREAD_ANSWER_MS))
}
