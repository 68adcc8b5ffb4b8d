/* Clients of which one habit matters, each with that habit. */
import { decodeJwt } from 'jose'
import {
  ClientFailure,
  createJsonSender,
  type JsonSender,
  type Wire,
  type WireAnswer,
} from './wire.ts'

/** Bodies as authentik knows them: more members than the standard has, and a state that is null. */
export class AuthentikClient {
  readonly #issuer: string
  readonly #send: JsonSender

  constructor(wire: Wire, issuer: string, token: string) {
    this.#issuer = issuer
    this.#send = createJsonSender(wire, issuer, token)
  }

  create(eventTypes: readonly string[]): Promise<WireAnswer> {
    return this.#send('POST', '/streams', {
      iss: this.#issuer,
      aud: ['authentik'],
      delivery: { method: 'urn:ietf:rfc:8936', endpoint_url: null },
      events_requested: eventTypes,
      format: 'iss_sub',
    })
  }

  /** For authentik this deletes everything. */
  deleteWithoutId(): Promise<WireAnswer> {
    return this.#send('DELETE', '/streams')
  }

  verify(streamId: string): Promise<WireAnswer> {
    return this.#send('POST', '/verify', { stream_id: streamId, state: null })
  }
}

/** The poller of goSignals: says how long it wants to wait, and leaves out what is zero. */
export class GoSignalsPoller {
  readonly #send: JsonSender

  constructor(wire: Wire, url: string, token: string) {
    this.#send = createJsonSender(wire, url, token)
  }

  async poll(timeoutSecs: number): Promise<Record<string, string>> {
    const { status, text } = await this.#send('POST', '', { maxEvents: 50, timeoutSecs })
    if (status !== 200) throw new ClientFailure(`poll failed: ${status}`)
    return (JSON.parse(text) as { sets: Record<string, string> }).sets
  }
}

/** caep.dev as a receiver: its list of event types is null when none was chosen. */
export class CaepDevReceiver {
  readonly #send: JsonSender

  constructor(wire: Wire, issuer: string, token: string) {
    this.#send = createJsonSender(wire, issuer, token)
  }

  create(endpointUrl: string, eventTypes: readonly string[] | null): Promise<WireAnswer> {
    const delivery = { method: 'urn:ietf:rfc:8935', endpoint_url: endpointUrl }
    return this.#send('POST', '/streams', { delivery, events_requested: eventTypes })
  }

  /** What its users could not see: what became of their events. */
  async deliveries(streamId: string): Promise<readonly Record<string, unknown>[]> {
    const { text } = await this.#send('GET', `/streams/${streamId}/deliveries`)
    return (JSON.parse(text) as { deliveries: Record<string, unknown>[] }).deliveries
  }

  async delivery(streamId: string, eventId: string): Promise<Record<string, unknown>> {
    const { text } = await this.#send('GET', `/streams/${streamId}/deliveries/${eventId}`)
    return JSON.parse(text) as Record<string, unknown>
  }
}

/** Reads the subject inside the event, and nothing without it, as Okta does. */
export function readInnerSubject(token: string): unknown {
  const subject = firstEvent(token)['subject']
  if (subject === undefined) throw new ClientFailure('the event has no subject')
  return subject
}

/** Refuses events that have a subject of their own, as Apple does. */
export function readTopSubject(token: string): unknown {
  if ('subject' in firstEvent(token)) throw new ClientFailure('the event has an extra member')
  const subject = decodeJwt(token)['sub_id']
  if (subject === undefined) throw new ClientFailure('the token has no sub_id')
  return subject
}

function firstEvent(token: string): Record<string, unknown> {
  const { events } = decodeJwt<{ events: Record<string, Record<string, unknown>> }>(token)
  return Object.values(events)[0] ?? {}
}
