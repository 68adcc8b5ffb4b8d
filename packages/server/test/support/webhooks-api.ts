import { vi } from 'vitest'
import { webhookRoutes } from '../../src/webhooks/webhook-routes.ts'
import { createGuardedClient, type GuardedClient } from '../../src/platform/net/guarded-client.ts'
import { parseAllowedTargets } from '../../src/platform/net/target-policy.ts'
import { createTestApi, type TestAnswer, type TestApi, type TestRequest } from './api-app.ts'

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
  readonly wake: ReturnType<typeof vi.fn<(destinationId: string) => void>>
  /** Sends a request with the permission for webhooks. */
  call<Body>(url: string, request?: TestRequest): Promise<TestAnswer<Body>>
  /** Creates a webhook; what is left out has a value that works. */
  create(input?: object): Promise<TestWebhook>
  close(): Promise<void>
}

/** Every route of webhooks on a database of its own; 127.0.0.1 is allow-listed. */
export async function createWebhooksApi(
  options: { webhooksMax?: number } = {},
): Promise<WebhooksApi> {
  const allowed = parseAllowedTargets('127.0.0.1')
  if (!allowed.ok) throw new Error(allowed.reason)
  const client = createGuardedClient({ policy: allowed.policy, userAgent: 'Heliograph test' })
  const wake = vi.fn<(destinationId: string) => void>()
  const api = await createTestApi((parts) =>
    webhookRoutes({
      ...parts,
      client,
      wake,
      targetPolicy: allowed.policy,
      webhooksMax: options.webhooksMax ?? 100,
    }),
  )
  const { db, clock, runChange, sealer } = api
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
      await api.close()
      await client.close()
    },
  }
}
