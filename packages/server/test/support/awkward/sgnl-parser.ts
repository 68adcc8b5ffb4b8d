/* How the Go library of SGNL (`secevent`) reads a SET, and what it refuses. */
import { createPublicKey, verify, type JsonWebKey } from 'node:crypto'
import { ClientFailure, decodeObject, textOf, type Wire } from './wire.ts'

export interface SgnlEvent {
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
}

const SUBJECT_FORMATS: ReadonlySet<unknown> = new Set([
  'email',
  'phone_number',
  'iss_sub',
  'uri',
  'opaque',
  'complex',
])
const COMPLIANCE = 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'

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
  const format = subject['format']
  if (!SUBJECT_FORMATS.has(format))
    throw new ClientFailure(`unknown subject format ${String(format)}`)
  if (format !== 'complex') return
  for (const [name, member] of Object.entries(subject)) if (name !== 'format') checkSubject(member)
}

function readEvent(claims: Record<string, unknown>): SgnlEvent {
  const events = Object.entries(decodeObject(JSON.stringify(claims['events'] ?? null)))
  const [[type = '', value] = []] = events
  if (events.length !== 1) throw new ClientFailure('expected exactly one event')
  const payload = decodeObject(JSON.stringify(value))
  const at = payload['event_timestamp']
  if (at !== undefined && !Number.isSafeInteger(at)) {
    throw new ClientFailure('cannot decode event_timestamp into an int64')
  }
  if (type === COMPLIANCE) checkCompliance(payload)
  return { type, payload, claims }
}

function checkCompliance(payload: Record<string, unknown>): void {
  const [previous, current] = [
    textOf(payload, 'previous_status'),
    textOf(payload, 'current_status'),
  ]
  for (const status of [previous, current]) {
    if (status !== 'compliant' && status !== 'not-compliant') {
      throw new ClientFailure(`invalid compliance status ${status}`)
    }
  }
  if (previous === current) throw new ClientFailure('previous and current status must differ')
}

function fromBase64Url(text: string): Buffer {
  return Buffer.from(text, 'base64url')
}
