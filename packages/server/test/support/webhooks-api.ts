import { vi } from 'vitest'
import type { DeliveryEngine } from '../../src/signals/dispatch/delivery-engine.ts'
import { createTestEngine, SILENT } from './test-engine.ts'
import type { DeliverySettings } from '../../src/signals/dispatch/delivery-settings.ts'
import { createDeliverySender } from '../../src/signals/dispatch/delivery-sender.ts'
import { systemClock, type Clock } from '../../src/platform/clock.ts'
import { createWebhookChannel } from '../../src/signals/webhooks/webhook-channel.ts'
import { webhookDeliveryRoutes } from '../../src/signals/webhooks/webhook-delivery-routes.ts'
import { webhookEventRoutes } from '../../src/signals/webhooks/webhook-event-routes.ts'
import { webhookRoutes } from '../../src/signals/webhooks/webhook-routes.ts'
import { createGuardedClient, type GuardedClient } from '../../src/platform/net/guarded-client.ts'
import { parseAllowedTargets } from '../../src/platform/net/target-policy.ts'
import { createListener } from '../../src/platform/db/listener.ts'
import { DELIVERY_CHANNEL, toDestinationId } from '../../src/signals/dispatch/delivery-store.ts'
import { createTestApi, type TestAnswer, type TestApi, type TestRequest } from './api-app.ts'
import type { DestinationId } from '../../src/schema/branded-ids.ts'
import { DatabaseNetwork } from '../../src/platform/db/database-network.ts'

/** A webhook as a test reads it. */
export interface TestWebhook {
  readonly id: string
  readonly secret: string | null
  readonly public_key: string | null
  readonly identifier: string
  readonly enabled: boolean
  readonly disabled_reason: string | null
  readonly old_secrets_end_at: string | null
  readonly header_names: readonly string[]
  readonly updated_at: string
}

export interface WebhooksApi extends Pick<TestApi, 'db' | 'clock' | 'runChange' | 'sealer'> {
  readonly api: TestApi
  readonly client: GuardedClient
  readonly wake: ReturnType<typeof vi.fn<(destinationId: DestinationId) => void>>
  /** Sends a request with the permission for webhooks. */
  call<Body>(url: string, request?: TestRequest): Promise<TestAnswer<Body>>
  /**
   * An engine that delivers, with a schedule of milliseconds; started, and woken by what is queued.
   * Close it before the API.
   */
  startEngine(options?: EngineOptions): Promise<DeliveryEngine>
  /** Creates a webhook; what is left out has a value that works. */
  create(input?: object): Promise<TestWebhook>
  close(): Promise<void>
}

export interface EngineOptions {
  readonly client?: Pick<GuardedClient, 'request'>
  /** When requests are signed; the clock of the system unless told otherwise. */
  readonly clock?: Clock
  readonly retryDelaysMs?: readonly number[]
  readonly settings?: Partial<DeliverySettings>
}

/** Every route of webhooks on a database of its own; 127.0.0.1 is allow-listed. */
export async function createWebhooksApi(
  options: { webhooksMax?: number } = {},
): Promise<WebhooksApi> {
  const allowed = parseAllowedTargets('127.0.0.1')
  if (!allowed.ok) throw new Error(allowed.reason)
  const client = createGuardedClient({
    policy: allowed.policy,
    userAgent: 'Heliograph test',
    // Receivers of these tests have addresses: nothing is ever looked up outside.
    resolver: () => Promise.reject(new Error('unexpected look-up')),
  })
  const engines = new Set<DeliveryEngine>()
  const wake = vi.fn((destinationId: DestinationId) =>
    engines.forEach((one) => one.wake(destinationId)),
  )
  const { webhooksMax = 100 } = options
  const api = await createTestApi((parts) => {
    const channels = [createWebhookChannel(parts)]
    const sender = createDeliverySender({ ...parts, log: SILENT, client, channels })
    const targetPolicy = allowed.policy
    return [
      ...webhookRoutes({ ...parts, sender, targetPolicy, webhooksMax }),
      ...webhookDeliveryRoutes(parts),
      ...webhookEventRoutes(parts.db),
    ]
  })
  const { db, clock, runChange, sealer } = api
  const listener = createListener(api.connection, { log: SILENT, network: new DatabaseNetwork() })
  listener.subscribe(DELIVERY_CHANNEL, (payload) => wake(toDestinationId(payload)))
  listener.start()
  await listener.whenListening()
  const key = await api.createKey(['Manage Webhooks'])
  const call: WebhooksApi['call'] = (url, request = {}) => api.request(url, { key, ...request })
  return {
    db,
    clock,
    runChange,
    sealer,
    api,
    client,
    wake,
    call,
    startEngine: async (engineOptions = {}) => {
      const { clock: ownClock = systemClock, settings = {} } = engineOptions
      const { retryDelaysMs = [20, 20, 20] } = engineOptions
      const engine = createTestEngine({
        db,
        clock: ownClock,
        log: SILENT,
        client: engineOptions.client ?? client,
        runChange,
        channels: [
          {
            ...createWebhookChannel({ db, clock: ownClock, sealer }),
            retryDelaysMs,
            busyRetryDelayMinMs: 0,
          },
        ],
        settings: { sweepIntervalMs: 50, ...settings },
      })
      engines.add(engine)
      await engine.start()
      const close = engine.close.bind(engine)
      engine.close = async (graceMs) => {
        engines.delete(engine)
        await close(graceMs)
      }
      return engine
    },
    create: async (input = {}) => {
      const payload = {
        name: 'Tickets',
        url: 'https://receiver.example.com/webhooks',
        events: ['issues.new'],
        ...input,
      }
      const answer = await call<TestWebhook>('/webhooks', { method: 'POST', payload })
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      return answer.body
    },
    close: async () => {
      await Promise.all([...engines].map((engine) => engine.close(0)))
      await listener.stop()
      await api.close()
      await client.close()
    },
  }
}
