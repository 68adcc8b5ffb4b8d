import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import {
  DELIVERY_METHOD_POLL,
  DELIVERY_METHOD_PUSH,
  DEVICE_COMPLIANCE_CHANGE,
  findChangedTransmitterMember,
  parsePollRequest,
  parseStreamCreateRequest,
  parseStreamStatusMessage,
  parseStreamSubjectRequest,
  parseStreamUpdateRequest,
  parseVerificationRequest,
  VERIFICATION,
  type StreamState,
  type StreamSubjectState,
  type SubjectIdentifier,
} from '@heliograph/ssf'
import { createClientCredentials, type Authorization } from '../../src/index.ts'
import { serveOnLoopback } from './loopback-server.ts'
import { createTestKey, jwksOf, signSet, type TestKey } from './signing.ts'

type Json = Record<string, unknown>

export interface StreamOfDouble {
  readonly configuration: Json & { stream_id: string }
  status: Json
  readonly queue: Map<string, string>
  /** Every SET that was ever made, for replays. */
  readonly sent: { readonly jti: string; readonly token: string }[]
  readonly subjects: unknown[]
  /** Whether the transmitter sends what it queues to the endpoint of the receiver. */
  readonly isPush: boolean
}

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Answers a request instead of the transmitter; undefined leaves it to the transmitter. */
export type Interruption = (
  request: SeenRequest,
  response: ServerResponse,
) => boolean | undefined | Promise<boolean | undefined>

/** A transmitter that follows SSF 1.0, RFC 8935 and RFC 8936, with OAuth client credentials. */
export interface TransmitterDouble {
  readonly origin: string
  readonly issuer: string
  readonly key: TestKey
  readonly streams: Map<string, StreamOfDouble>
  readonly requests: SeenRequest[]
  readonly state: Map<string, StreamSubjectState>
  /** Answers of receivers to pushes. */
  readonly pushed: number[]
  interrupt: Interruption
  tokenLifetimeSeconds: number
  /** Ends every access token that was given. */
  revokeTokens(): void
  /** Signs an event for a stream, and pushes it or puts it in line. */
  emit(
    streamId: string,
    event: {
      readonly subject: SubjectIdentifier
      readonly type?: string
      readonly payload: Json
      readonly jti?: string
      readonly claims?: Json
    },
  ): Promise<string>
  tokenFor(claims: Json): Promise<string>
  close(): Promise<void>
}

export const CLIENT_ID = 'receiver 1'
export const CLIENT_SECRET = 'p&ss:w%rd'
const PAGE_SIZE = 2
const LONG_POLL_MS = 1_200

/** The credentials of the one client that the double knows. */
export function credentialsFor({ issuer }: TransmitterDouble, scope?: string): Authorization {
  return createClientCredentials({
    tokenEndpoint: `${issuer}/token`,
    clientId: CLIENT_ID,
    authentication: { method: 'client_secret_basic', clientSecret: CLIENT_SECRET },
    ...(scope === undefined ? {} : { scope }),
  })
}

/** Starts the double; `path` becomes the path of its issuer. */
export async function startTransmitterDouble(
  options: { readonly path?: string; readonly algorithm?: string } = {},
): Promise<TransmitterDouble> {
  const path = options.path ?? '/ssf'
  const key = await createTestKey('double-1', options.algorithm ?? 'ES256')
  const tokens = new Map<string, number>()
  let counter = 0
  const server = await serveOnLoopback((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.statusCode = 500
      response.end(String(error))
    })
  })
  const issuer = `${server.url}${path}`
  const double: TransmitterDouble = {
    origin: server.url,
    issuer,
    key,
    streams: new Map(),
    requests: [],
    state: new Map(),
    pushed: [],
    interrupt: () => undefined,
    tokenLifetimeSeconds: 600,
    revokeTokens: () => tokens.clear(),
    tokenFor: (claims) => signSet(key, claims),
    async emit(streamId, event) {
      const stream = double.streams.get(streamId)
      if (stream === undefined) throw new Error('no such stream')
      const jti = event.jti ?? `jti-${(counter += 1)}`
      const token = await signSet(key, {
        iss: issuer,
        aud: stream.configuration['aud'],
        jti,
        iat: Math.floor(Date.now() / 1000),
        txn: `txn-${jti}`,
        ...event.claims,
        sub_id: event.subject,
        events: { [event.type ?? DEVICE_COMPLIANCE_CHANGE]: event.payload },
      })
      stream.sent.push({ jti, token })
      await deliver(stream, jti, token)
      return jti
    },
    close: () => server.close(),
  }

  async function deliver(stream: StreamOfDouble, jti: string, token: string): Promise<void> {
    if (!stream.isPush) {
      stream.queue.set(jti, token)
      return
    }
    const delivery = stream.configuration['delivery'] as Json
    const authorization = delivery['authorization_header'] as string | undefined
    const response = await fetch(delivery['endpoint_url'] as string, {
      method: 'POST',
      headers: {
        'content-type': 'application/secevent+jwt',
        accept: 'application/json',
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: token,
    })
    double.pushed.push(response.status)
    await response.arrayBuffer()
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', server.url)
    const seen = {
      method: request.method ?? '',
      path: url.pathname + url.search,
      headers: request.headers,
      body: await text(request),
    }
    double.requests.push(seen)
    if ((await double.interrupt(seen, response)) === true) return
    const result = await route(seen, url)
    response.writeHead(result.status, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...result.headers,
    })
    response.end(result.body === undefined ? undefined : JSON.stringify(result.body))
  }

  async function route(seen: SeenRequest, url: URL): Promise<Answer> {
    if (url.pathname === `/.well-known/ssf-configuration${path}`) {
      return { status: 200, body: discoveryDocument(), headers: { 'cache-control': 'max-age=600' } }
    }
    if (url.pathname === `${path}/jwks.json`) return { status: 200, body: jwksOf(key) }
    if (url.pathname === `${path}/token`) return issueToken(seen)
    const token = /^Bearer (.+)$/.exec(seen.headers.authorization ?? '')?.[1] ?? ''
    if ((tokens.get(token) ?? 0) < Date.now()) {
      const challenge = token === '' ? 'Bearer' : 'Bearer error="invalid_token"'
      return { status: 401, headers: { 'www-authenticate': challenge } }
    }
    return routeManagement(seen, url)
  }

  function discoveryDocument(): Json {
    return {
      spec_version: '1_0',
      issuer,
      jwks_uri: `${issuer}/jwks.json`,
      delivery_methods_supported: [DELIVERY_METHOD_PUSH, DELIVERY_METHOD_POLL],
      configuration_endpoint: `${issuer}/streams`,
      status_endpoint: `${issuer}/status`,
      add_subject_endpoint: `${issuer}/subjects:add`,
      remove_subject_endpoint: `${issuer}/subjects:remove`,
      verification_endpoint: `${issuer}/verify`,
      authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
      default_subjects: 'ALL',
    }
  }

  function issueToken(seen: SeenRequest): Answer {
    const parameters = new URLSearchParams(seen.body)
    const basic = Buffer.from((seen.headers.authorization ?? '').replace('Basic ', ''), 'base64')
    const expected = new URLSearchParams({ [CLIENT_ID]: CLIENT_SECRET }).toString()
    const isBasic = basic.toString() === expected.replace('=', ':')
    const isPost =
      parameters.get('client_id') === CLIENT_ID &&
      (parameters.get('client_secret') === CLIENT_SECRET || parameters.has('client_assertion'))
    if (parameters.get('grant_type') !== 'client_credentials' || !(isBasic || isPost)) {
      return { status: 401, body: { error: 'invalid_client', error_description: 'not known' } }
    }
    const token = `token-${(counter += 1)}`
    tokens.set(token, Date.now() + double.tokenLifetimeSeconds * 1000)
    const expires_in = double.tokenLifetimeSeconds
    return { status: 200, body: { access_token: token, token_type: 'bearer', expires_in } }
  }

  async function routeManagement(seen: SeenRequest, url: URL): Promise<Answer> {
    const name = url.pathname.slice(path.length)
    const streamId = url.searchParams.get('stream_id')
    if (name === '/streams') return routeStreams(seen, streamId)
    const extension = /^\/streams\/([^/]+)\/(state|replay)$/.exec(name)
    if (extension?.[1] !== undefined) {
      return routeExtension(extension[1], extension[2] ?? '', seen, url)
    }
    const poll = /^\/poll\/(.+)$/.exec(name)?.[1]
    if (poll !== undefined) return routePoll(poll, seen)
    if (name === '/status' && seen.method === 'GET') {
      const stream = double.streams.get(streamId ?? '')
      return stream === undefined ? { status: 404 } : { status: 200, body: stream.status }
    }
    return routePosts(name, parseBody(seen))
  }

  async function routePosts(name: string, body: unknown): Promise<Answer> {
    const id = typeof body === 'object' && body !== null && 'stream_id' in body && body.stream_id
    const stream = double.streams.get(String(id))
    if (stream === undefined) return { status: 404 }
    if (name === '/status') {
      const parsed = parseStreamStatusMessage(body)
      if (!parsed.ok) return { status: 400 }
      stream.status = { ...parsed.value }
      return { status: 200, body: stream.status }
    }
    if (name === '/verify') {
      const parsed = parseVerificationRequest(body)
      if (!parsed.ok) return { status: 400 }
      const { stream_id, state } = parsed.value
      // Like a transmitter at work, it answers first and sends later.
      setTimeout(() => {
        const event = { subject: { format: 'opaque', id: stream_id } as const, type: VERIFICATION }
        const payload: Json = state === undefined ? {} : { state }
        double.emit(stream_id, { ...event, payload }).catch(() => undefined)
      }, 5)
      return { status: 204 }
    }
    const parsed = parseStreamSubjectRequest(body)
    if (!parsed.ok) return { status: 400 }
    if (name === '/subjects:add') stream.subjects.push(parsed.value.subject)
    else stream.subjects.length = 0
    return { status: name === '/subjects:add' ? 200 : 204 }
  }

  function routeStreams(seen: SeenRequest, streamId: string | null): Answer {
    if (seen.method === 'GET' && streamId === null) {
      return { status: 200, body: [...double.streams.values()].map((one) => one.configuration) }
    }
    if (seen.method === 'GET' || seen.method === 'DELETE') {
      const stream = double.streams.get(streamId ?? '')
      if (stream === undefined) return { status: 404 }
      if (seen.method === 'GET') return { status: 200, body: stream.configuration }
      double.streams.delete(stream.configuration.stream_id)
      return { status: 204 }
    }
    return seen.method === 'POST' ? createStream(seen) : changeStream(seen)
  }

  function createStream(seen: SeenRequest): Answer {
    const parsed = parseStreamCreateRequest(parseBody(seen))
    if (!parsed.ok) return { status: 400, body: { err: 'invalid_request' } }
    const stream_id = `s${(counter += 1)}`
    const { delivery, ...supplied } = parsed.value
    const isPush = delivery?.method === DELIVERY_METHOD_PUSH
    const configuration = {
      stream_id,
      iss: issuer,
      aud: 'https://receiver.example.com',
      events_supported: [DEVICE_COMPLIANCE_CHANGE],
      events_delivered: (supplied.events_requested ?? []).filter(
        (type) => type === DEVICE_COMPLIANCE_CHANGE,
      ),
      delivery: isPush
        ? delivery
        : { method: DELIVERY_METHOD_POLL, endpoint_url: `${issuer}/poll/${stream_id}` },
      min_verification_interval: 0,
      ...supplied,
    }
    double.streams.set(stream_id, {
      configuration,
      status: { stream_id, status: 'enabled' },
      queue: new Map(),
      sent: [],
      subjects: [],
      isPush,
    })
    return { status: 201, body: configuration }
  }

  function changeStream(seen: SeenRequest): Answer {
    const parsed = parseStreamUpdateRequest(parseBody(seen))
    if (!parsed.ok) return { status: 400 }
    const stream = double.streams.get(parsed.value.stream_id)
    if (stream === undefined) return { status: 404 }
    const { configuration } = stream
    const current = configuration as unknown as Parameters<typeof findChangedTransmitterMember>[1]
    if (findChangedTransmitterMember(parsed.value.transmitterMembers, current) !== undefined) {
      return { status: 400 }
    }
    const { description, ...supplied } = parsed.value.supplied
    if (seen.method === 'PUT' || description === null) delete configuration['description']
    Object.assign(configuration, supplied, typeof description === 'string' ? { description } : {})
    return { status: 200, body: configuration }
  }

  async function routePoll(streamId: string, seen: SeenRequest): Promise<Answer> {
    const stream = double.streams.get(streamId)
    if (stream === undefined) return { status: 404 }
    const parsed = parsePollRequest(parseBody(seen), { acknowledgementsMax: 1000 })
    if (!parsed.ok) return { status: 400 }
    const { ack, setErrs, maxEvents = 100, returnImmediately = false } = parsed.value
    for (const jti of [...ack, ...setErrs.keys()]) stream.queue.delete(jti)
    const untilMs = Date.now() + (returnImmediately ? 0 : LONG_POLL_MS)
    while (stream.queue.size === 0 && Date.now() < untilMs) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    const sets = Object.fromEntries([...stream.queue].slice(0, maxEvents))
    const isMore = maxEvents > 0 && stream.queue.size > maxEvents
    return { status: 200, body: isMore ? { sets, moreAvailable: true } : { sets } }
  }

  async function routeExtension(
    streamId: string,
    name: string,
    seen: SeenRequest,
    url: URL,
  ): Promise<Answer> {
    const stream = double.streams.get(streamId)
    if (stream === undefined) return { status: 404 }
    if (name === 'replay') {
      for (const { jti, token } of stream.sent) await deliver(stream, jti, token)
      const queued = stream.sent.length
      return {
        status: 202,
        body: { queued, first_sequence: null, last_sequence: null, complete: true },
      }
    }
    const start = Number(url.searchParams.get('cursor') ?? 0)
    const entries = [...double.state.values()]
    const isLast = start + PAGE_SIZE >= entries.length
    const page: StreamState = {
      as_of_sequence: Math.max(0, ...entries.map(({ sequence }) => sequence ?? 0)),
      as_of: Math.floor(Date.now() / 1000),
      subjects: entries.slice(start, start + PAGE_SIZE),
      next_cursor: isLast ? null : String(start + PAGE_SIZE),
    }
    return { status: seen.method === 'GET' ? 200 : 405, body: page }
  }

  return double
}

interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

function parseBody(seen: SeenRequest): unknown {
  try {
    return JSON.parse(seen.body)
  } catch {
    return undefined
  }
}
