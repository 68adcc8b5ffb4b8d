/*
 * What the OpenID conformance suite does as a receiver: requests with TLS verification, and checks of
 * what comes back that know nothing of this project's own code.
 */
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'

export interface SuiteAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown
}

export interface SuiteRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** An access token; none is sent without. */
  readonly token?: string | undefined
  /** Sent as JSON; a text is sent as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Members of the discovery document that the suite works with. */
export interface TransmitterMetadata {
  readonly issuer: string
  readonly jwks_uri: string
  readonly configuration_endpoint: string
  readonly status_endpoint: string
  readonly verification_endpoint: string
  readonly add_subject_endpoint: string
  readonly remove_subject_endpoint: string
  readonly [member: string]: unknown
}

/** The suite's HTTP client gives up after a minute. */
const TIMEOUT_MS = 60_000

/** A client that trusts one certificate authority. */
export class SuiteClient {
  readonly #dispatcher: Agent

  constructor(caPem: string) {
    this.#dispatcher = new Agent({ connect: { ca: caPem }, headersTimeout: TIMEOUT_MS })
  }

  async send(url: string, options: SuiteRequest = {}): Promise<SuiteAnswer> {
    const { method = 'GET', token, body, headers = {} } = options
    const {
      statusCode,
      headers: answered,
      body: stream,
    } = await request(url, {
      method,
      dispatcher: this.#dispatcher,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await stream.text()
    return { status: statusCode, headers: answered, text, json: toJson(text) }
  }

  /** An access token by client credentials, the client named in the Authorization header. */
  async fetchToken(
    tokenEndpoint: string,
    client: { readonly id: string; readonly secret: string },
    scope: string,
  ): Promise<string> {
    const credentials = Buffer.from(`${client.id}:${client.secret}`).toString('base64')
    const answer = await this.send(tokenEndpoint, {
      method: 'POST',
      headers: {
        authorization: `Basic ${credentials}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope }).toString(),
    })
    const { access_token: token } = answer.json as { access_token?: string }
    if (token === undefined) throw new Error(`no token: ${answer.status} ${answer.text}`)
    return token
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy()
  }
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** A value that nobody can have guessed, as the suite makes them. */
export function uniqueValue(prefix: string): string {
  return `${prefix}_${randomUUID()}`
}
