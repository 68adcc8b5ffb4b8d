/*
 * Receives events by push in a runtime with Web APIs, such as an edge worker: the module exports a
 * `fetch` handler, settings and storage come in as bindings.
 */
import {
  createPushHandler,
  createSetVerifier,
  toComplianceKey,
  type JtiStore,
  type PushHandler,
} from '@heliograph/receiver'
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'

/** A key-value namespace, as such runtimes offer it. */
interface KeyValueStore {
  get(key: string): Promise<string | null>
  put(key: string, value: string, options?: { expirationTtl?: number }): Promise<void>
}

interface Bindings {
  readonly ISSUER: string
  readonly JWKS_URI: string
  readonly AUDIENCE: string
  readonly PUSH_AUTHORIZATION: string
  readonly EVENTS: KeyValueStore
}

const SEEN_FOR_SECONDS = 14 * 24 * 60 * 60

/** Remembers handled events in the key-value store, longer than any transmitter retries. */
function createKeyValueJtiStore(events: KeyValueStore): JtiStore {
  const keyOf = (jti: string, iss: string) => `seen:${iss}:${jti}`
  return {
    isSeen: async (jti, iss) => (await events.get(keyOf(jti, iss))) !== null,
    markSeen: (jti, iss) => events.put(keyOf(jti, iss), '1', { expirationTtl: SEEN_FOR_SECONDS }),
  }
}

function createHandler(bindings: Bindings): PushHandler {
  return createPushHandler({
    verifier: createSetVerifier({
      issuer: bindings.ISSUER,
      audience: bindings.AUDIENCE,
      keys: { jwksUri: bindings.JWKS_URI },
    }),
    authorization: bindings.PUSH_AUTHORIZATION,
    seen: createKeyValueJtiStore(bindings.EVENTS),
    async onEvent({ event, subject }) {
      if (!event.isKnown || event.type !== DEVICE_COMPLIANCE_CHANGE) return
      const { current_status } = event.payload
      await bindings.EVENTS.put(`compliance:${toComplianceKey(subject)}`, current_status)
    },
  })
}

/** Kept over requests, and with it the keys of the transmitter. */
let handler: PushHandler | undefined

export default {
  async fetch(request: Request, bindings: Bindings): Promise<Response> {
    if (new URL(request.url).pathname !== '/events') return new Response(null, { status: 404 })
    handler ??= createHandler(bindings)
    return handler(request)
  },
}
