import type { Kysely } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import type { GuardedClient, OutboundRequest } from '../../platform/net/guarded-client.ts'
import type { OutboundResult } from '../../platform/net/outbound-result.ts'
import type { PrepareOptions } from '../dispatch/delivery-channel.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { createAccessTokens } from './access-tokens.ts'
import { createAssertionSigner } from './client-assertion.ts'
import { openPushCredential } from './push-credential.ts'
import { pushHeaders, toPushRequest } from './push-request.ts'
import { sendWithToken } from './push-sender.ts'
import type { PushTarget } from './push-target-store.ts'

/** A receiver that can be pushed to, its credentials at hand. */
export interface PushConnection {
  /** The request of a signed SET. */
  toRequest(token: string): OutboundRequest
  /** Sends such a request with an access token; undefined when it goes out as it is. */
  readonly send: ((request: OutboundRequest) => Promise<OutboundResult>) | undefined
}

/** Opens the credentials of a target, as they are now; fresh ones when the credentials are to be tried. */
export type OpenPushConnection = (
  target: PushTarget,
  options?: PrepareOptions,
) => Promise<PushConnection>

export interface PushConnectionDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly sealer: Sealer
  readonly keyRing: { activeKid(): string }
  readonly client: Pick<GuardedClient, 'request'>
}

/** Creates what opens connections; those of one opener share their access tokens unless told otherwise. */
export function createPushConnections(
  dependencies: PushConnectionDependencies,
): OpenPushConnection {
  const { db, clock, sealer, client } = dependencies
  const signAssertion = createAssertionSigner(dependencies)
  const newTokens = () => createAccessTokens({ clock, client, signAssertion })
  const sharedTokens = newTokens()
  return async (target, { hasFreshCredentials = false } = {}) => {
    const tokens = hasFreshCredentials ? newTokens() : sharedTokens
    const { authentication, streamRowId } = target
    const credential =
      authentication === null
        ? undefined
        : await openPushCredential(db, sealer, { streamRowId, authentication }, clock.now())
    const headers = pushHeaders(target, sealer)
    const { oauth, tls } = credential ?? {}
    return {
      toRequest: (token) => ({
        ...toPushRequest(target, headers, token),
        ...(tls === undefined ? {} : { tls }),
      }),
      send:
        oauth === undefined
          ? undefined
          : (request) => sendWithToken(oauth, request, { client, tokens }),
    }
  }
}
