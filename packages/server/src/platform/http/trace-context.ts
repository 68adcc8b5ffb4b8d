import type { IncomingHttpHeaders } from 'node:http'

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/
const ALL_ZERO = /^0+$/

/**
 * The trace id of a caller's `traceparent` header (W3C Trace Context, section 3.2); `undefined` when
 * there is none or it is not valid, as the specification asks.
 */
export function readTraceId(headers: IncomingHttpHeaders): string | undefined {
  const header = headers['traceparent']
  if (typeof header !== 'string' || header.length > 512) return undefined
  const [, traceId, parentId] = TRACEPARENT.exec(header) ?? []
  if (traceId === undefined || parentId === undefined) return undefined
  return ALL_ZERO.test(traceId) || ALL_ZERO.test(parentId) ? undefined : traceId
}
