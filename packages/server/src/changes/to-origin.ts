import type { ChangeOrigin } from './change.ts'

/** A request that changes something, by a known caller. */
interface ChangeRequest extends Pick<ChangeOrigin, 'transactionHooks'> {
  readonly principal: {
    readonly kind: string
    readonly id: string
    readonly name: string
    readonly session?: { readonly email: string }
  }
  readonly requestId: string
  readonly address: string
}

/** Who makes a change that a request asks for, on every surface. */
export function toOrigin({
  principal,
  requestId,
  address,
  transactionHooks,
}: ChangeRequest): ChangeOrigin {
  const { id, name, kind, session } = principal
  return {
    actor: { type: kind === 'admin' ? 'User' : 'ApiKey', id, name, email: session?.email ?? null },
    requestId,
    ipAddress: address,
    transactionHooks,
  }
}
