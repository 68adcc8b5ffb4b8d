/* The push channel for tests that are not about what surrounds it. */
import type { Kysely } from 'kysely'
import type { Clock } from '../../src/platform/clock.ts'
import type { GuardedClient } from '../../src/platform/net/guarded-client.ts'
import type { Sealer } from '../../src/platform/secrets/sealed-box.ts'
import type { Schema } from '../../src/schema/schema.ts'
import type { DeliveryChannel } from '../../src/signals/dispatch/delivery-channel.ts'
import {
  createPushChannel,
  type PushChannelDependencies,
} from '../../src/signals/push/push-channel.ts'
import { createPushConnections } from '../../src/signals/push/push-connection.ts'
import type { KeyRing } from '../../src/signals/signing/key-ring.ts'
import type { RefusedKeys } from '../../src/signals/signing/refused-keys.ts'
import { UNWATCHED } from './test-engine.ts'

/** Takes every refusal of a key as the last word. */
export const FINAL_REFUSALS: RefusedKeys = {
  onRefused: () => ({ kind: 'final' }),
  idle: () => Promise.resolve(),
}

interface Parts {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly sealer: Sealer
  readonly keyRing: KeyRing
  readonly client: Pick<GuardedClient, 'request'>
}

/** A channel that opens connections as the service does; the rest only when it is given. */
export function createTestPushChannel(
  parts: Parts,
  given: Partial<PushChannelDependencies> = {},
): DeliveryChannel {
  return createPushChannel({
    db: parts.db,
    keyRing: parts.keyRing,
    refusedKeys: FINAL_REFUSALS,
    openConnection: createPushConnections(parts),
    baseUrl: 'https://trust.example.com',
    topics: UNWATCHED,
    ...given,
  })
}
