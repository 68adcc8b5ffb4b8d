/* Streams that push to receivers on the loopback address, and real engines that deliver to them. */
import { expect, vi } from 'vitest'
import type { DeliveryEngine } from '../../src/signals/dispatch/delivery-engine.ts'
import { createTestEngine } from './test-engine.ts'
import { systemClock, type Clock } from '../../src/platform/clock.ts'
import type { PushChannelDependencies } from '../../src/signals/push/push-channel.ts'
import { createTestPushChannel } from './test-push-channel.ts'
import { startLoopbackReceiver, type LoopbackReceiver, type Respond } from './loopback-receiver.ts'
import { createStreamsApi, type StreamIds, type StreamsApi } from './streams-api.ts'
import type { DestinationId } from '../../src/schema/branded-ids.ts'

export interface PushStreams {
  readonly streams: StreamsApi
  /** The log of the engines. */
  readonly log: Record<'debug' | 'info' | 'warn' | 'error', ReturnType<typeof vi.fn>>
  /** Accepts everything unless told otherwise. */
  startReceiver(respond?: Respond): Promise<LoopbackReceiver>
  /** Creates a stream that pushes to this receiver, by `delivery` and with the members of `more`. */
  createStream<Body extends StreamIds = StreamIds>(
    receiver: Pick<LoopbackReceiver, 'url'>,
    more?: {
      readonly name?: string
      readonly delivery?: object
      readonly [member: string]: unknown
    },
  ): Promise<Body & { readonly destinationId: DestinationId }>
  /** Delivers what is queued, found within a tenth of a second without being woken. */
  startEngine(options?: PushEngineOptions): Promise<DeliveryEngine>
  /** Until so many deliveries are recorded as delivered. */
  waitForDelivered(count: number): Promise<void>
  /** Has this closed by `reset`. */
  closeLater(close: () => Promise<unknown>): void
  /** Closes what was started, the latest first, and deletes every stream: for `afterEach`. */
  reset(): Promise<void>
  close(): Promise<void>
}

export interface PushEngineOptions {
  readonly retryDelaysMs?: readonly number[]
  readonly clock?: Clock
  readonly channel?: Partial<PushChannelDependencies>
}

/** Streams on a database of their own; 127.0.0.1 is allow-listed. Close it in `afterAll`. */
export async function createPushStreams(): Promise<PushStreams> {
  const streams = await createStreamsApi()
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const closes: (() => Promise<unknown>)[] = []
  async function closeStarted(): Promise<void> {
    for (const close of closes.splice(0).reverse()) await close()
  }
  return {
    streams,
    log,
    async startReceiver(respond) {
      const receiver = await startLoopbackReceiver(respond)
      closes.push(() => receiver.close())
      return receiver
    },
    async createStream<Body extends StreamIds>(
      { url }: Pick<LoopbackReceiver, 'url'>,
      { delivery = {}, ...more }: { readonly delivery?: object } = {},
    ) {
      const push = { method: 'urn:ietf:rfc:8935', endpoint_url: `${url}/events`, ...delivery }
      const stream = await streams.createStream<Body>({ name: 'push', delivery: push, ...more })
      return { ...stream, destinationId: await streams.getDestinationId(stream.id) }
    },
    async startEngine({ retryDelaysMs = [20, 20], clock = systemClock, channel = {} } = {}) {
      const { db, client } = streams
      const engine = createTestEngine({
        db,
        clock,
        log,
        client,
        channels: [{ ...createTestPushChannel(streams, channel), retryDelaysMs }],
        settings: { sweepIntervalMs: 100 },
      })
      closes.push(() => engine.close(0))
      await engine.start()
      return engine
    },
    waitForDelivered: (count) =>
      vi.waitFor(
        async () => {
          const delivered = await streams.db
            .selectFrom('delivery')
            .select('id')
            .where('state', '=', 'delivered')
            .execute()
          expect(delivered).toHaveLength(count)
        },
        { timeout: 10_000, interval: 20 },
      ),
    closeLater: (close) => void closes.push(close),
    async reset() {
      await closeStarted()
      await streams.clear()
    },
    async close() {
      await closeStarted()
      await streams.close()
    },
  }
}

/** The `jti` of a SET, which is not verified. */
export function jtiOf(token: string): unknown {
  return (
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { jti: unknown }
  ).jti
}
