/* What the receiver has written down, as the proofs read it. */
import { Inbox } from '../high-availability/receivers.ts'
import type { Arrival } from './arrival.ts'

/** What came by webhook, by the id of the event. */
export class WebhookInbox {
  readonly problems: string[] = []
  readonly #bodies = new Map<string, string>()
  repeatedCount = 0

  get count(): number {
    return this.#bodies.size
  }

  has(eventId: string): boolean {
    return this.#bodies.has(eventId)
  }

  take(eventId: string, body: string): void {
    const known = this.#bodies.get(eventId)
    if (known === undefined) this.#bodies.set(eventId, body)
    else {
      this.repeatedCount += 1
      if (known !== body) this.problems.push(`${eventId} came again with other bytes`)
    }
  }
}

export interface ReceiverEvidence {
  readonly push: Inbox
  readonly poll: Inbox
  readonly webhook: WebhookInbox
  readonly problems: readonly string[]
}

export function toReceiverEvidence(arrivals: readonly Arrival[]): ReceiverEvidence {
  const inboxes = { push: new Inbox(), poll: new Inbox() }
  const webhook = new WebhookInbox()
  const problems: string[] = []
  for (const arrival of arrivals) {
    if (arrival.way === 'problem') problems.push(arrival.text)
    else if (arrival.way === 'webhook') webhook.take(arrival.eventId, arrival.body)
    else inboxes[arrival.way].take(toSet(arrival.token))
  }
  return { ...inboxes, webhook, problems: [...problems, ...webhook.problems] }
}

/** The claims of a token that the receiver has verified. */
function toSet(token: string) {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
  const claims = JSON.parse(payload) as Record<string, unknown>
  return { token, claims, jti: String(claims['jti']), txn: String(claims['txn']) }
}
