/* How the Go library of SGNL (`secevent`) reads a SET, and what it refuses. */
import { createPublicKey, verify, type JsonWebKey } from 'node:crypto'
import { ClientFailure, decodeObject, decodeTexts, textOf, type Wire } from './wire.ts'

export interface SgnlEvent {
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
}

/** What each simple format must hold. Its `iss_sub` has `issuer`, where RFC 9493 section 3.2.3 has `iss`. */
const MEMBERS_OF_FORMAT: ReadonlyMap<string, readonly string[]> = new Map([
  ['email', ['email']],
  ['phone_number', ['phone']],
  ['iss_sub', ['issuer', 'sub']],
  ['uri', ['uri']],
  ['opaque', ['id']],
])
/** The members of a complex subject that it looks at. */
const COMPONENTS = ['user', 'device', 'session', 'application', 'tenant', 'org_unit', 'group']
const INITIATING_ENTITIES = ['admin', 'user', 'policy', 'system']
const STREAM_STATUSES = ['enabled', 'paused', 'disabled']
const EVENT_TYPES = 'https://schemas.openid.net/secevent'
const COMPLIANCE = `${EVENT_TYPES}/caep/event-type/device-compliance-change`
const VERIFICATION = `${EVENT_TYPES}/ssf/event-type/verification`
const STREAM_UPDATED = `${EVENT_TYPES}/ssf/event-type/stream-updated`

/** Fetches the key set for every SET that it reads. */
export class SgnlParser {
  readonly #wire: Wire
  readonly #jwksUri: string
  readonly #issuer: string

  constructor(
    wire: Wire,
    { jwksUri, issuer }: { readonly jwksUri: string; readonly issuer: string },
  ) {
    this.#wire = wire
    this.#jwksUri = jwksUri
    this.#issuer = issuer
  }

  async parse(token: string): Promise<SgnlEvent> {
    const [head = '', body = '', signature = ''] = token.split('.')
    const header = decodeObject(fromBase64Url(head).toString())
    const algorithm = textOf(header, 'alg')
    if (algorithm !== 'RS256' && algorithm !== 'ES256') {
      throw new ClientFailure(`signing method ${algorithm} is invalid`)
    }
    const key = createPublicKey({ format: 'jwk', key: await this.#fetchKey(textOf(header, 'kid')) })
    if (!verify('sha256', Buffer.from(`${head}.${body}`), key, fromBase64Url(signature))) {
      throw new ClientFailure('signature is invalid')
    }
    const claims = decodeObject(fromBase64Url(body).toString())
    if (textOf(claims, 'iss') !== this.#issuer) throw new ClientFailure('token has invalid issuer')
    if (textOf(claims, 'jti') === '') throw new ClientFailure('JWT ID (jti) claim is required')
    checkSubject(claims['sub_id'])
    return readEvent(claims)
  }

  async #fetchKey(kid: string): Promise<JsonWebKey> {
    if (kid === '') throw new ClientFailure('kid header not found')
    const { status, text } = await this.#wire({ method: 'GET', url: this.#jwksUri })
    if (status !== 200) throw new ClientFailure(`failed to fetch JWKS: ${status}`)
    const { keys } = JSON.parse(text) as { keys: (JsonWebKey & { kid?: string })[] }
    const key = keys.find((each) => each.kid === kid)
    if (key === undefined) throw new ClientFailure(`key ${kid} not found`)
    return key
  }
}

function checkSubject(value: unknown): void {
  const subject = decodeObject(JSON.stringify(value ?? null))
  const format = textOf(subject, 'format')
  if (format === 'complex') {
    checkComplexSubject(subject)
    return
  }
  const members = MEMBERS_OF_FORMAT.get(format)
  if (members === undefined) throw new ClientFailure(`unsupported subject format: ${format}`)
  // All members of a simple subject are texts to it.
  const texts = decodeTexts(subject)
  for (const name of members) {
    if ((texts[name] ?? '').trim() === '') throw new ClientFailure(`${name} is required`)
  }
}

function checkComplexSubject(subject: Record<string, unknown>): void {
  const components = COMPONENTS.flatMap((name) => (name in subject ? [subject[name]] : []))
  if (components.length === 0) {
    throw new ClientFailure('complex subject must have at least one component')
  }
  components.forEach(checkSubject)
}

function readEvent(claims: Record<string, unknown>): SgnlEvent {
  const events = Object.entries(decodeObject(JSON.stringify(claims['events'] ?? null)))
  const [[type = '', value] = []] = events
  if (events.length !== 1) throw new ClientFailure('exactly one event must be present')
  const payload = decodeObject(JSON.stringify(value))
  switch (type) {
    case COMPLIANCE:
      checkMetadata(payload)
      checkCompliance(payload)
      break
    case VERIFICATION:
      textOf(payload, 'state')
      break
    case STREAM_UPDATED:
      checkOneOf(STREAM_STATUSES, textOf(payload, 'status'))
      textOf(payload, 'reason')
      break
    default:
      throw new ClientFailure(`no parser registered for event type: ${type}`)
  }
  return { type, payload, claims }
}

function checkMetadata(payload: Record<string, unknown>): void {
  const at = payload['event_timestamp'] ?? 0
  if (!Number.isSafeInteger(at)) {
    throw new ClientFailure('cannot decode event_timestamp into an int64')
  }
  if (Number(at) < 0) throw new ClientFailure('event timestamp cannot be negative')
  if ('initiating_entity' in payload) {
    checkOneOf(INITIATING_ENTITIES, textOf(payload, 'initiating_entity'))
  }
  for (const name of ['reason_admin', 'reason_user']) decodeTexts(payload[name])
}

function checkCompliance(payload: Record<string, unknown>): void {
  const [previous, current] = [
    textOf(payload, 'previous_status'),
    textOf(payload, 'current_status'),
  ]
  for (const status of [previous, current]) checkOneOf(['compliant', 'not-compliant'], status)
  if (previous === current) throw new ClientFailure('previous and current status must differ')
}

function checkOneOf(words: readonly string[], word: string): void {
  if (!words.includes(word)) throw new ClientFailure(`invalid value ${word}`)
}

function fromBase64Url(text: string): Buffer {
  return Buffer.from(text, 'base64url')
}
