import type { RequestFacts } from '../platform/http/route.ts'
import type { Principal } from '../platform/http/principal.ts'
import type { ChangeOrigin } from './change.ts'

/** Who makes a change over the REST API. */
export function toOrigin(context: RequestFacts & { readonly principal: Principal }): ChangeOrigin {
  const { id, name, kind } = context.principal
  return {
    actor: { type: kind === 'admin' ? 'User' : 'ApiKey', id, name, email: null },
    requestId: context.requestId,
    ipAddress: context.address,
    companion: context.companion,
  }
}
