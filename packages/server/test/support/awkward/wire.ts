/** An answer as a client sees it. */
export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** A request as a client writes it: the address whole, the body as the bytes that go out. */
export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** How awkward receivers reach the transmitter. */
export type Wire = (request: WireRequest) => Promise<WireAnswer>

/** Sends JSON to a path below the address of a transmitter. */
export type JsonSender = (
  method: WireRequest['method'],
  path: string,
  body?: object,
) => Promise<WireAnswer>

/** Every request carries the token; the type of the body is told only where there is one. */
export function createJsonSender(wire: Wire, baseUrl: string, token: string): JsonSender {
  const authorization = `Bearer ${token}`
  return (method, path, body) => {
    const request = { method, url: `${baseUrl}${path}` }
    if (body === undefined) return wire({ ...request, headers: { authorization } })
    const headers = { authorization, 'content-type': 'application/json' }
    return wire({ ...request, headers, body: JSON.stringify(body) })
  }
}

/** What a client says when it gives up. */
export class ClientFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ClientFailure'
  }
}

/** A JSON object; anything else is what the decoders of these clients fail on. */
export function decodeObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ClientFailure('cannot decode into an object')
  }
  return value as Record<string, unknown>
}

/** A text member of an object; empty when it is not there, as zero values are. */
export function textOf(object: Readonly<Record<string, unknown>>, name: string): string {
  const value = object[name]
  if (value === undefined) return ''
  if (typeof value !== 'string') throw new ClientFailure(`cannot decode ${name} into a string`)
  return value
}

/** Decodes a map of texts; anything else in it fails. */
export function decodeTexts(value: unknown): Record<string, string> {
  const object = decodeObject(JSON.stringify(value ?? {}))
  for (const name of Object.keys(object)) textOf(object, name)
  return object as Record<string, string>
}
