import { SET_MEDIA_TYPE } from '@heliograph/ssf'
import type { OutboundRequest } from '../../platform/net/guarded-client.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { authorizationHeaderContext } from './authorization-header.ts'
import type { PushTarget } from './push-target-store.ts'

/**
 * The headers of every push to a target. RFC 8935 section 2.1; the stored authorization header goes
 * out exactly as it was given (SSF 1.0 section 6.1.1), and none is sent when none was given.
 */
export function pushHeaders(target: PushTarget, sealer: Sealer): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': SET_MEDIA_TYPE,
    accept: 'application/json',
  }
  if (target.authorizationHeaderSealed !== null) {
    const context = authorizationHeaderContext(target.streamId)
    headers['authorization'] = sealer.openText(target.authorizationHeaderSealed, context)
  }
  return headers
}

/** The push of one signed SET: the compact token is the whole body. RFC 8935 section 2.1. */
export function toPushRequest(
  target: PushTarget,
  headers: Readonly<Record<string, string>>,
  token: string,
): OutboundRequest {
  return { url: target.endpointUrl, method: 'POST', headers, body: token }
}
