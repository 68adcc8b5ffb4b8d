import type { DeliveryEngine } from '../../src/signals/dispatch/delivery-engine.ts'
import type { LoopbackReceiver } from './loopback-receiver.ts'
import type { PushStreams } from './push-streams.ts'

/** A token endpoint that gives the tokens `token-1`, `token-2` and so on; closed with the test. */
export async function startTokenEndpoint(
  push: Pick<PushStreams, 'startReceiver'>,
  expiresIn?: number,
): Promise<LoopbackReceiver> {
  let count = 0
  return push.startReceiver((_request, response) => {
    count += 1
    const body = { access_token: `token-${count}`, token_type: 'Bearer', expires_in: expiresIn }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
}

/** The members of a delivery that have the client `client` fetch its tokens there. */
export function oauthBy(tokenEndpoint: LoopbackReceiver, more: object = {}) {
  const base = { token_endpoint: `${tokenEndpoint.url}/token`, client_id: 'client' }
  return { oauth: { ...base, client_secret: 'first secret', ...more } }
}

/** An engine that opens what streams authenticate with, at the time of the test. */
export function startAuthenticatingEngine(
  push: Pick<PushStreams, 'streams' | 'startEngine'>,
  retryDelaysMs: readonly number[] = [30, 30, 30],
): Promise<DeliveryEngine> {
  const { clock } = push.streams
  return push.startEngine({ clock, retryDelaysMs })
}
