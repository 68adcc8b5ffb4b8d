import type { IncomingMessage } from 'node:http'
import type { AddressList } from '../net/address-list.ts'

/**
 * Creates the function that says where a request comes from before it passes the router, whose `request.ip` says the
 * same: the address of the connection, or of that of a proxy which `isTrusted`, the one that it names, and so on.
 * Undefined when the connection has ended.
 */
export function createSenderAddress(
  isTrusted: AddressList | undefined,
): (request: IncomingMessage) => string | undefined {
  if (isTrusted === undefined) return ({ socket }) => socket.remoteAddress
  return ({ headers, socket }) => {
    const named = String(headers['x-forwarded-for'] ?? '').split(',')
    let address = socket.remoteAddress
    for (const text of named.reverse()) {
      const next = text.trim()
      if (next === '') continue
      if (!isTrusted(address)) break
      address = next
    }
    return address
  }
}
