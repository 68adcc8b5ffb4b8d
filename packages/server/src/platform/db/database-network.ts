/*
 * The connections of a process to its database, as the network sees them. A host that vanishes without a word
 * leaves connections that wait for ever, and the driver has no bound for that: these end when they have been silent
 * for too long, when somebody has found out that the host is silent, and when the process can wait no longer. Of
 * several servers the one that takes writes is chosen. Knows no SQL of the service.
 */
import { Socket } from 'node:net'
import type { ClientConfig } from 'pg'
import { SECOND_MS } from '../clock.ts'
import { toServers, type DatabaseConnection } from './connection.ts'
import { findDatabaseFault, hindersWrites, type DatabaseFault } from './database-fault.ts'
import { terminated, type DatabaseClientConfig } from './database-client.ts'
import { ServerChooser } from './server-chooser.ts'

/** How much each socket had received at some moment. */
export type ReceivedBytes = ReadonlyMap<Socket, number>

/** The system then asks an idle peer once a second, and gives up after ten questions. */
const KEEP_ALIVE_DELAY_MS = 10 * SECOND_MS
/**
 * For the server: a client whose host has vanished is gone, with its transaction and its locks, within half a
 * minute. Connections by a Unix socket ignore it.
 */
const SERVER_KEEP_ALIVE =
  '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=25000'

/**
 * What statements count on; a server, a database or a role may be set to something else: the forms of values that the
 * driver reads and backups hold, names as migrations compare them, and that whoever has waited for a row sees what it
 * has become.
 */
const SESSION_SETTINGS = [
  'datestyle=ISO',
  'intervalstyle=postgres',
  'extra_float_digits=1',
  'timezone=UTC',
  'quote_all_identifiers=off',
  String.raw`default_transaction_isolation=read\ committed`,
]
  .map((setting) => `-c ${setting}`)
  .join(' ')

export class DatabaseNetwork {
  readonly #open = new Set<Socket>()
  readonly #choosers = new Map<DatabaseConnection, ServerChooser>()
  #writeFault: DatabaseFault | undefined
  readonly #closing = new AbortController()
  #closedWith: string | undefined

  /** Is aborted once nothing can reach the database any more. */
  readonly closed: AbortSignal = this.#closing.signal

  /**
   * The settings of connections of this process. All waiting is over after `silentMaxMs` without a byte in
   * either direction, 0 is never; then the connection is of no use any more, and its queries fail.
   */
  settings(connection: DatabaseConnection, silentMaxMs: number): DatabaseClientConfig {
    const chooser = this.#chooserOf(connection)
    return {
      ...this.#toConfig(toServers(connection)[0], silentMaxMs),
      ...(chooser && { chooser }),
      onServerError: (error) => {
        const fault = findDatabaseFault(error)
        if (fault !== undefined && hindersWrites(fault)) this.#writeFault = fault
      },
    }
  }

  /** What last kept a statement of this process from writing; undefined when nothing did since `forgetWriteFault`. */
  writeFault(): DatabaseFault | undefined {
    return this.#writeFault
  }

  /** Something was written again. */
  forgetWriteFault(): void {
    this.#writeFault = undefined
  }

  /** To be given to `breakSilent` later. */
  received(): ReceivedBytes {
    return new Map([...this.#open].map((socket) => [socket, socket.bytesRead]))
  }

  /**
   * Ends the connections that have received nothing since then: the host behind one of them has not answered
   * meanwhile. What they wait for fails as unavailable; idle ones are replaced when they are needed.
   */
  breakSilent(since: ReceivedBytes): void {
    for (const [socket, bytesRead] of since) {
      const isSilent = this.#open.has(socket) && socket.bytesRead === bytesRead
      if (isSilent) socket.destroy(terminated('the database does not answer'))
    }
  }

  /** Ends every connection and lets none begin: whatever still waits for the database fails at once. */
  close(reason: string): void {
    this.#closedWith = reason
    this.#closing.abort()
    for (const socket of this.#open) socket.destroy(terminated(reason))
  }

  #chooserOf(connection: DatabaseConnection): ServerChooser | undefined {
    const servers = toServers(connection)
    if (servers.length === 1) return undefined
    const known = this.#choosers.get(connection)
    if (known !== undefined) return known
    const chooser = new ServerChooser(servers.map((server) => this.#toConfig(server, 0)))
    this.#choosers.set(connection, chooser)
    return chooser
  }

  #toConfig(server: ClientConfig, silentMaxMs: number): ClientConfig {
    const { options = '' } = server
    return {
      ...server,
      // What the operator says counts: the server takes the last of several.
      options: `${SERVER_KEEP_ALIVE} ${options} ${SESSION_SETTINGS}`.trim(),
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      stream: () => this.#create(silentMaxMs),
    }
  }

  #create(silentMaxMs: number): Socket {
    const socket = new Socket()
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    // The driver listens from when it connects on, which it may never come to.
    socket.on('error', () => undefined)
    socket.setTimeout(silentMaxMs, () => {
      // A message of several statements may have allowed more than the connection began with.
      const silentMs = socket.timeout ?? silentMaxMs
      socket.destroy(terminated(`the database was silent for ${silentMs / SECOND_MS} seconds`))
    })
    if (this.#closedWith !== undefined) {
      const refusal = terminated(this.#closedWith)
      // The driver connects in this turn, and listens for errors then.
      setImmediate(() => socket.destroy(refusal))
    }
    return socket
  }
}
