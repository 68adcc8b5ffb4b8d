/*
 * The Go receiver library of SGNL (`ssfreceiver`): the requests that it makes, and what it cannot take.
 */
import {
  ClientFailure,
  decodeObject,
  decodeTexts,
  textOf,
  type Wire,
  type WireAnswer,
} from './wire.ts'

export interface SgnlSettings {
  readonly metadataUrl: string
  readonly token: string
  readonly eventTypes: readonly string[]
  /** Null polls. */
  readonly pushEndpoint: string | null
}

/** What it knows of its stream. */
export interface SgnlStream {
  readonly id: string
  readonly pollUrl: string
  readonly jwksUri: string
  readonly issuer: string
}

const POLL = 'urn:ietf:rfc:8936'
const PUSH = 'urn:ietf:rfc:8935'

export class SgnlLibrary {
  readonly #wire: Wire
  readonly #settings: SgnlSettings
  #metadata: Readonly<Record<string, unknown>> = {}
  #stream: SgnlStream | undefined

  constructor(wire: Wire, settings: SgnlSettings) {
    this.#wire = wire
    this.#settings = settings
  }

  get stream(): SgnlStream {
    if (this.#stream === undefined) throw new ClientFailure('there is no stream')
    return this.#stream
  }

  /** Takes over the only stream there is, or creates one. */
  async setup(): Promise<SgnlStream> {
    this.#metadata = decodeObject(
      await this.#call({ method: 'GET', url: this.#settings.metadataUrl }, 200),
    )
    const methods = this.#metadata['delivery_methods_supported']
    if (!Array.isArray(methods) || !methods.includes(this.#method)) {
      throw new ClientFailure('transmitter does not support delivery method')
    }
    this.#stream = (await this.#findExisting()) ?? (await this.#create())
    return this.#stream
  }

  /** Its own spelling of the limit, and a member that nobody asked for. */
  async poll(maxEvents: number): Promise<Record<string, string>> {
    const body = { stream_id: this.stream.id, max_events: maxEvents, returnImmediately: true }
    return decodePollAnswer(await this.#post(this.stream.pollUrl, body, 200))
  }

  /** Says nothing of how many SETs it wants back, and throws away those that come. */
  async acknowledge(jtis: readonly string[]): Promise<WireAnswer> {
    const { id, pollUrl } = this.stream
    const body = { stream_id: id, ack: jtis, returnImmediately: true }
    return this.#send({ method: 'POST', url: pollUrl, body: JSON.stringify(body) })
  }

  async verify(state: string): Promise<void> {
    await this.#post(this.#endpoint('verification_endpoint'), { ...this.#own(), state }, 200)
  }

  async addSubject(subject: object): Promise<void> {
    const body = { ...this.#own(), subject, verified: true }
    await this.#post(this.#endpoint('add_subject_endpoint'), body, 200)
  }

  async removeSubject(subject: object): Promise<void> {
    await this.#post(this.#endpoint('remove_subject_endpoint'), { ...this.#own(), subject }, 200)
  }

  async setStatus(status: string): Promise<void> {
    await this.#post(this.#endpoint('status_endpoint'), { ...this.#own(), status }, 200)
  }

  async replaceConfiguration(): Promise<void> {
    const body = JSON.stringify({ ...this.#own(), ...this.#wish() })
    const url = this.#endpoint('configuration_endpoint')
    toStream(await this.#call({ method: 'PUT', url, body }, 200), this.#metadata)
  }

  async delete(): Promise<void> {
    const url = `${this.#endpoint('configuration_endpoint')}?stream_id=${this.stream.id}`
    await this.#call({ method: 'DELETE', url }, 204)
  }

  get #method(): string {
    return this.#settings.pushEndpoint === null ? POLL : PUSH
  }

  async #findExisting(): Promise<SgnlStream | undefined> {
    const url = this.#endpoint('configuration_endpoint')
    const answer = await this.#send({ method: 'GET', url })
    if (answer.status === 404) return undefined
    const text = expectStatus(answer, 200)
    const listed: unknown = JSON.parse(text)
    // Whatever is no array is read as one stream.
    if (!Array.isArray(listed)) return toStream(text, this.#metadata)
    if (listed.length > 1) {
      throw new ClientFailure('multiple streams found: cannot automatically select one')
    }
    return listed.length === 0 ? undefined : toStream(JSON.stringify(listed[0]), this.#metadata)
  }

  async #create(): Promise<SgnlStream> {
    const url = this.#endpoint('configuration_endpoint')
    return toStream(await this.#post(url, this.#wish(), 201), this.#metadata)
  }

  /** The address is there although a poll has none. */
  #wish() {
    const { eventTypes, pushEndpoint } = this.#settings
    return {
      delivery: { method: this.#method, endpoint_url: pushEndpoint ?? '' },
      events_requested: eventTypes,
    }
  }

  #own() {
    return { stream_id: this.stream.id }
  }

  #endpoint(name: string): string {
    return textOf(this.#metadata, name)
  }

  #post(url: string, body: object, status: number): Promise<string> {
    return this.#call({ method: 'POST', url, body: JSON.stringify(body) }, status)
  }

  async #call(request: Parameters<Wire>[0], status: number): Promise<string> {
    return expectStatus(await this.#send(request), status)
  }

  /** The credential goes with everything, the discovery document included. */
  #send(request: Parameters<Wire>[0]): Promise<WireAnswer> {
    const contentType = request.body === undefined ? {} : { 'content-type': 'application/json' }
    const headers = { ...contentType, authorization: `Bearer ${this.#settings.token}` }
    return this.#wire({ ...request, headers })
  }
}

function expectStatus({ status, text }: WireAnswer, expected: number): string {
  if (status !== expected) throw new ClientFailure(`request failed with status ${status}: ${text}`)
  return text
}

/** A map of maps of texts: any other member beside `sets`, a boolean for one, breaks it. */
function decodePollAnswer(text: string): Record<string, string> {
  const maps = Object.entries(decodeObject(text)).map(
    ([name, value]) => [name, decodeTexts(value)] as const,
  )
  return Object.fromEntries(maps)['sets'] ?? {}
}

function toStream(text: string, metadata: Readonly<Record<string, unknown>>): SgnlStream {
  const configuration = decodeObject(text)
  const id = textOf(configuration, 'stream_id')
  const issuer = textOf(configuration, 'iss')
  const { aud, events_delivered: delivered } = configuration
  const delivery = decodeTexts(configuration['delivery'])
  if (id === '' || issuer === '') throw new ClientFailure('stream_id and issuer are required')
  if ([aud].flat().length === 0) throw new ClientFailure('at least one audience is required')
  if (!URL.canParse(delivery['endpoint_url'] ?? '')) {
    throw new ClientFailure('endpoint_url is required')
  }
  if (!Array.isArray(delivered) || delivered.length === 0) {
    throw new ClientFailure('at least one delivered event type is required')
  }
  const pollUrl = delivery['endpoint_url'] ?? ''
  return { id, issuer, pollUrl, jwksUri: textOf(metadata, 'jwks_uri') }
}
