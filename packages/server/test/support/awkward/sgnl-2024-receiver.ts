/* The receiver that SGNL published in 2024: it looks at no status, and its DELETE has no `Bearer`. */
import { type Wire, type WireAnswer } from './wire.ts'

export interface Sgnl2024Settings {
  /** Without a path nothing is appended to the well-known part. */
  readonly transmitterUrl: string
  readonly token: string
  readonly eventTypes: readonly string[]
}

export class Sgnl2024Receiver {
  readonly #wire: Wire
  readonly #settings: Sgnl2024Settings
  #configurationUrl = ''
  streamId = ''

  constructor(wire: Wire, settings: Sgnl2024Settings) {
    this.#wire = wire
    this.#settings = settings
  }

  /** Takes the `stream_id` of whatever is answered, and none from a refusal. */
  async configure(): Promise<void> {
    const { origin, pathname } = new URL(this.#settings.transmitterUrl)
    const path = pathname === '/' ? '' : pathname
    const url = `${origin}/.well-known/ssf-configuration${path}`
    const metadata = await this.#wire({ method: 'GET', url })
    this.#configurationUrl = memberOf(metadata, 'configuration_endpoint')
    const body = {
      delivery: { method: 'urn:ietf:rfc:8936' },
      events_requested: this.#settings.eventTypes,
    }
    const created = await this.#post(this.#configurationUrl, body)
    this.streamId = memberOf(created, 'stream_id')
  }

  /** Acknowledges all it gets before it has read any of it. The poll URL is a setting of its own. */
  async poll(pollUrl: string): Promise<Record<string, string>> {
    const answer = await this.#post(pollUrl, { ack: [], maxEvents: 10, returnImmediately: true })
    const sets = setsOf(answer)
    const ack = Object.keys(sets)
    // Its zero stands for nothing and is left out, so that SETs come back here too.
    if (ack.length > 0) await this.#post(pollUrl, { ack, returnImmediately: true })
    return sets
  }

  async delete(): Promise<WireAnswer> {
    return this.#wire({
      method: 'DELETE',
      url: `${this.#configurationUrl}?stream_id=${this.streamId}`,
      headers: { authorization: this.#settings.token },
    })
  }

  #post(url: string, body: object): Promise<WireAnswer> {
    const headers = {
      authorization: `Bearer ${this.#settings.token}`,
      'content-type': 'application/json',
    }
    return this.#wire({ method: 'POST', url, headers, body: JSON.stringify(body) })
  }
}

function memberOf({ text }: WireAnswer, name: string): string {
  const value = (JSON.parse(text) as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : ''
}

function setsOf({ text }: WireAnswer): Record<string, string> {
  return (JSON.parse(text) as { sets?: Record<string, string> }).sets ?? {}
}
