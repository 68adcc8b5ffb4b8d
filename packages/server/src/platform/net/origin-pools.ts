/**
 * The kept connections of the guarded client: one pool per origin and TLS identity, the least recently used idle pools
 * closed beyond a bound. Knows no URLs and no results.
 */
import { Client, Pool, type Dispatcher } from 'undici'
import type { SecureContext } from 'node:tls'
import {
  openConnection,
  type ConnectionTarget,
  type ConnectorSettings,
} from './guarded-connector.ts'
import type { ConnectionSlot, OutboundExchange } from './outbound-exchange.ts'
import { TlsIdentityError } from './tls-identity-error.ts'
import type { TlsIdentity } from './trust.ts'

export interface PoolLimits {
  readonly connectionsPerOriginMax: number
  /** Origins with kept connections; origins that are busy are kept beyond this bound until they are idle. */
  readonly originsMax: number
  readonly keepAliveMs: number
  /** A connection older than this carries one last request, so that a changed name takes effect. */
  readonly connectionAgeMaxMs: number
  readonly responseHeaderBytesMax: number
}

/** Where to send: `origin` is the key of the pool. */
export interface PoolTarget extends ConnectionTarget {
  readonly origin: string
}

/** A TLS identity with the name by which its connections are told apart from all others. */
export interface OutboundTls extends TlsIdentity {
  /** Different for different material, also for an older version of the same. */
  readonly key: string
}

/** How connections are opened; the context is made once per pool. */
export interface PoolConnector extends Omit<ConnectorSettings, 'secureContext'> {
  secureContextFor(identity: TlsIdentity | undefined): SecureContext
}

interface ExchangeOptions extends Dispatcher.DispatchOptions {
  readonly exchange: OutboundExchange
}

/** The connections of one origin. */
class OriginPool {
  readonly #pool: Pool
  #inFlightCount = 0

  constructor(pool: Pool) {
    this.#pool = pool
  }

  get isIdle(): boolean {
    return this.#inFlightCount === 0
  }

  /** Sends the exchange; whoever dispatches calls `release` once when the exchange has settled. */
  dispatch(options: Dispatcher.DispatchOptions, exchange: OutboundExchange): void {
    this.#inFlightCount++
    const withExchange: ExchangeOptions = { ...options, exchange }
    this.#pool.dispatch(withExchange, exchange)
  }

  release(): void {
    this.#inFlightCount--
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  destroy(): Promise<void> {
    return this.#pool.destroy()
  }
}

/** Hands out pools by origin. Every connection is opened by `openConnection`, nowhere else. */
export class OriginPools {
  readonly #connector: PoolConnector
  readonly #plainContext: SecureContext
  readonly #limits: PoolLimits
  readonly #pools = new Map<string, OriginPool>()

  constructor(connector: PoolConnector, limits: PoolLimits) {
    this.#connector = connector
    this.#plainContext = connector.secureContextFor(undefined)
    this.#limits = limits
  }

  get size(): number {
    return this.#pools.size
  }

  /**
   * The pool of the target and identity, kept open until every exchange that was dispatched to it is
   * released. Throws `TlsIdentityError`.
   */
  poolFor(target: PoolTarget, tls?: OutboundTls): OriginPool {
    const key = tls === undefined ? target.origin : `${target.origin} ${tls.key}`
    const known = this.#pools.get(key)
    // A Map iterates in order of insertion: inserting anew keeps it in order of use.
    if (known !== undefined) this.#pools.delete(key)
    else this.#makeRoom()
    const pool = known ?? new OriginPool(this.#createPool(target, this.#contextFor(tls)))
    this.#pools.set(key, pool)
    return pool
  }

  /** Lets what is in flight end for at most `graceMs`, then breaks it off. */
  async close(graceMs: number): Promise<void> {
    const pools = [...this.#pools.values()]
    this.#pools.clear()
    const timer = setTimeout(() => pools.forEach((pool) => void pool.destroy()), graceMs)
    await Promise.allSettled(pools.map((pool) => pool.close()))
    clearTimeout(timer)
  }

  #makeRoom(): void {
    for (const [key, pool] of this.#pools) {
      if (this.#pools.size < this.#limits.originsMax) return
      if (!pool.isIdle) continue
      this.#pools.delete(key)
      void pool.close()
    }
  }

  #contextFor(tls: OutboundTls | undefined): SecureContext {
    if (tls === undefined) return this.#plainContext
    try {
      return this.#connector.secureContextFor(tls)
    } catch (error) {
      throw new TlsIdentityError(error)
    }
  }

  #createPool(target: PoolTarget, secureContext: SecureContext): Pool {
    const { connectionsPerOriginMax, keepAliveMs, responseHeaderBytesMax, connectionAgeMaxMs } =
      this.#limits
    const clientOptions: Client.Options = {
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      maxHeaderSize: responseHeaderBytesMax,
      // The exchange keeps stricter limits of its own: undici's are coarse and start anew with each byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
    }
    const connector = { ...this.#connector, secureContext }
    const factory = (origin: URL): Dispatcher =>
      new TrackedClient(origin, clientOptions, { target, connector, connectionAgeMaxMs })
    return new Pool(target.origin, {
      ...clientOptions,
      connections: connectionsPerOriginMax,
      factory,
    })
  }
}

interface TrackedClientSettings {
  readonly target: PoolTarget
  readonly connector: ConnectorSettings
  readonly connectionAgeMaxMs: number
}

/** One connection of a pool that tells each exchange which connection it got and how that was opened. */
class TrackedClient extends Client {
  readonly #slot: ConnectionSlot
  readonly #connectionAgeMaxMs: number

  constructor(origin: URL, options: Client.Options, settings: TrackedClientSettings) {
    const slot: ConnectionSlot = { current: newConnection() }
    super(origin, {
      ...options,
      connect: (_options, callback) => {
        slot.current = newConnection()
        openConnection(settings.connector, settings.target, slot.current).then(
          (socket) => callback(null, socket),
          (error: unknown) =>
            callback(error instanceof Error ? error : new Error(String(error)), null),
        )
      },
    })
    this.#slot = slot
    this.#connectionAgeMaxMs = settings.connectionAgeMaxMs
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const { exchange } = options as ExchangeOptions
    // A request whose time ran out in the queue is dropped here, before it could cost a connection.
    if (exchange.isSettled) return true
    exchange.useConnection(this.#slot)
    const { requestCount, openedAtMs } = this.#slot.current
    if (requestCount > 0 && performance.now() - openedAtMs > this.#connectionAgeMaxMs)
      options.reset = true
    return super.dispatch(options, handler)
  }
}

function newConnection(): ConnectionSlot['current'] {
  return {
    remoteAddress: undefined,
    dnsMs: null,
    connectMs: null,
    tlsMs: null,
    requestCount: 0,
    openedAtMs: performance.now(),
  }
}
