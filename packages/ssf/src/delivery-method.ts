/** Push delivery over HTTP. RFC 8935, SSF 1.0 section 6.1.1. */
export const DELIVERY_METHOD_PUSH = 'urn:ietf:rfc:8935'

/** Poll delivery over HTTP. RFC 8936, SSF 1.0 section 6.1.2. */
export const DELIVERY_METHOD_POLL = 'urn:ietf:rfc:8936'

/** The delivery methods that are understood. */
export const DELIVERY_METHODS = [DELIVERY_METHOD_PUSH, DELIVERY_METHOD_POLL] as const

/** One of {@link DELIVERY_METHODS}. */
export type DeliveryMethod = (typeof DELIVERY_METHODS)[number]

/** Tells whether a delivery method is understood. */
export function isDeliveryMethod(method: string): method is DeliveryMethod {
  return method === DELIVERY_METHOD_PUSH || method === DELIVERY_METHOD_POLL
}
