import type { Verdict } from '../dispatch/delivery-channel.ts'
import type { OutboundResult } from '../../platform/net/outbound-result.ts'

/** The receiver, or what stands before it, has too much to do. */
const OVERLOAD_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504])

/**
 * What the answer to a webhook means, in the words of Standard Webhooks: 2xx alone is success,
 * whatever the body; 410 ends the webhook; everything else is tried again, because the receiver or its
 * operator may mend it.
 */
export function classifyWebhook(result: OutboundResult): Verdict {
  if (result.kind === 'failed') {
    const { code, message } = result
    return { kind: 'retry', errorCode: code, error: message, isOverloaded: false }
  }
  const { status } = result
  if (status >= 200 && status < 300) return { kind: 'accepted' }
  const errorCode = `http_${status}`
  if (status === 410) {
    const error = 'The receiver answered 410: it wants no more events'
    return { kind: 'gone', errorCode, error }
  }
  const isOverloaded = OVERLOAD_STATUSES.has(status)
  return { kind: 'retry', errorCode, error: toSentence(status), isOverloaded }
}

function toSentence(status: number): string {
  if (status >= 300 && status < 400) {
    return `The receiver answered ${status}; redirects are not followed: give the webhook the final address`
  }
  return `The receiver answered ${status}`
}
