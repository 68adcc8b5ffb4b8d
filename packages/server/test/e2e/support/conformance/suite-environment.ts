/*
 * A transmitter as the OpenID conformance suite meets it: a service of its own with TLS, OAuth clients
 * and a device whose status the operator can flip. Its helpers do what most modules begin with.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { reservePort } from '../../../support/reserve-ports.ts'
import { createPreparedFolder } from '../prepared-folder.ts'
import { ServiceProcess } from '../service-process.ts'
import { pollOnce, PushSink, waitForSet, type ReceivedSet } from './event-feed.ts'
import { COMPLIANCE_CHANGE, EVENT_BASE, type SuiteKey } from './set-checks.ts'
import {
  SuiteClient,
  uniqueValue,
  type SuiteAnswer,
  type TransmitterMetadata,
} from './suite-client.ts'

export type DeliveryMode = 'push' | 'poll'

/** A stream configuration as far as the suite reads it. */
export interface SuiteStream {
  readonly stream_id: string
  readonly iss: string
  readonly aud: string
  readonly description?: string
  readonly events_delivered: readonly string[]
  readonly events_requested?: readonly string[]
  readonly events_supported?: readonly string[]
  readonly delivery: { readonly method: string; readonly endpoint_url: string }
  readonly min_verification_interval?: number
}

const METHODS = { push: 'urn:ietf:rfc:8935', poll: 'urn:ietf:rfc:8936' } as const
export const SESSION_REVOKED = `${EVENT_BASE}/caep/event-type/session-revoked`
/** What every module of the suite asks for. */
export const REQUESTED_EVENTS = [
  SESSION_REVOKED,
  `${EVENT_BASE}/caep/event-type/credential-change`,
  COMPLIANCE_CHANGE,
]

/** Everything that the modules work with. */
export class SuiteEnvironment {
  readonly service: ServiceProcess
  readonly client: SuiteClient
  readonly sink: PushSink
  readonly metadata: TransmitterMetadata
  readonly keys: readonly SuiteKey[]
  readonly manageToken: string
  readonly readToken: string
  readonly otherToken: string
  readonly deviceId: string
  readonly #pushUrl: string
  /** A device that was never evaluated is not compliant. */
  #isBlocked = true
  readonly #folder: string

  private constructor(parts: Parts) {
    this.service = parts.service
    this.client = parts.client
    this.sink = parts.sink
    this.metadata = parts.metadata
    this.keys = parts.keys
    this.manageToken = parts.tokens[0]
    this.readToken = parts.tokens[1]
    this.otherToken = parts.tokens[2]
    this.deviceId = parts.deviceId
    this.#pushUrl = parts.pushUrl
    this.#folder = parts.folder
  }

  static async start(): Promise<SuiteEnvironment> {
    const folder = await createPreparedFolder('heliograph-suite-')
    const service = new ServiceProcess({
      dataDir: join(folder, 'data'),
      port: await reservePort(),
      isTls: true,
      environment: { HELIOGRAPH_LOG_LEVEL: 'warn', HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '100000' },
    })
    await service.start()
    const client = new SuiteClient(await fetchAuthority(service.baseUrl))
    const sink = new PushSink()
    const pushUrl = await sink.listen()
    const metadata = await readMetadata(client, service.baseUrl)
    const tokens = await createTokens(client, service)
    const { keys } = (await client.send(metadata.jwks_uri)).json as { keys: SuiteKey[] }
    const deviceId = await enrollDevice(client, service)
    const parts = { service, client, sink, pushUrl, metadata, tokens, keys, deviceId, folder }
    return new SuiteEnvironment(parts)
  }

  async stop(): Promise<void> {
    this.sink.close()
    await this.client.close()
    await this.service.stop()
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** As modules begin: whatever streams an earlier one has left are deleted. */
  async cleanUp(): Promise<void> {
    const streams = (await this.read()).json as SuiteStream[]
    for (const { stream_id: id } of streams) await this.delete(id)
    this.sink.received.length = 0
  }

  /** The body with which the suite creates streams. */
  createBody(mode: DeliveryMode, authorizationHeader?: string): Record<string, unknown> {
    const push = {
      method: METHODS.push,
      endpoint_url: this.#pushUrl,
      ...(authorizationHeader === undefined ? {} : { authorization_header: authorizationHeader }),
    }
    return {
      events_requested: REQUESTED_EVENTS,
      description: 'Created by the conformance suite',
      delivery: mode === 'push' ? push : { method: METHODS.poll },
    }
  }

  async create(mode: DeliveryMode, authorizationHeader?: string): Promise<SuiteStream> {
    const header = authorizationHeader ?? `Bearer ${uniqueValue('push_token')}`
    const answer = await this.send('POST', this.createBody(mode, header))
    if (answer.status !== 201) throw new Error(`create: ${answer.status} ${answer.text}`)
    return answer.json as SuiteStream
  }

  /** A request to the configuration endpoint. */
  send(
    method: 'POST' | 'PATCH' | 'PUT',
    body: unknown,
    token: string | undefined = this.manageToken,
  ): Promise<SuiteAnswer> {
    return this.client.send(this.metadata.configuration_endpoint, { method, body, token })
  }

  read(streamId?: string, token: string | undefined = this.manageToken): Promise<SuiteAnswer> {
    return this.client.send(withStreamId(this.metadata.configuration_endpoint, streamId), { token })
  }

  delete(streamId?: string, token: string | undefined = this.manageToken): Promise<SuiteAnswer> {
    const url = withStreamId(this.metadata.configuration_endpoint, streamId)
    return this.client.send(url, { method: 'DELETE', token })
  }

  readStatus(streamId: string, token: string | undefined = this.manageToken): Promise<SuiteAnswer> {
    return this.client.send(withStreamId(this.metadata.status_endpoint, streamId), { token })
  }

  /** The suite names the stream in the query too. */
  setStatus(streamId: string, status: string): Promise<SuiteAnswer> {
    return this.client.send(withStreamId(this.metadata.status_endpoint, streamId), {
      method: 'POST',
      token: this.manageToken,
      body: { stream_id: streamId, status },
    })
  }

  verify(body: unknown, token: string | undefined = this.manageToken): Promise<SuiteAnswer> {
    const { verification_endpoint: url } = this.metadata
    return this.client.send(url, { method: 'POST', token, body })
  }

  /** Keeps to the interval that the stream asks for. */
  async respectInterval({ min_verification_interval: seconds = 0 }: SuiteStream): Promise<void> {
    await sleep(seconds * 1_000 + 50)
  }

  /** What has come for a stream so far; polled SETs stay unacknowledged. */
  look(mode: DeliveryMode, stream: SuiteStream): Promise<readonly ReceivedSet[]> {
    if (mode === 'poll') {
      return pollOnce(this.client, stream.delivery.endpoint_url, this.manageToken)
    }
    return Promise.resolve(
      this.sink.received.filter(({ claims }) => [claims.aud].flat().includes(stream.aud)),
    )
  }

  waitFor(
    mode: DeliveryMode,
    stream: SuiteStream,
    isWanted: (set: ReceivedSet) => boolean,
    timeoutMs = 90_000,
  ): Promise<ReceivedSet> {
    return waitForSet(() => this.look(mode, stream), isWanted, timeoutMs)
  }

  /**
   * What the operator of a transmitter is asked to do while the suite waits: makes the device the other
   * word, which is answered.
   */
  async flipDevice(): Promise<'compliant' | 'not-compliant'> {
    this.#isBlocked = !this.#isBlocked
    const to = this.#isBlocked ? 'blocked' : 'good'
    await this.service.command('devices', 'simulate-change', '--device', this.deviceId, '--to', to)
    return this.#isBlocked ? 'not-compliant' : 'compliant'
  }
}

interface Parts {
  readonly service: ServiceProcess
  readonly client: SuiteClient
  readonly sink: PushSink
  readonly pushUrl: string
  readonly metadata: TransmitterMetadata
  readonly keys: readonly SuiteKey[]
  readonly tokens: readonly [manage: string, read: string, other: string]
  readonly deviceId: string
  readonly folder: string
}

function withStreamId(endpoint: string, streamId: string | undefined): string {
  return streamId === undefined ? endpoint : `${endpoint}?stream_id=${streamId}`
}

/** Before the authority is known, nothing can be verified. */
async function fetchAuthority(baseUrl: string): Promise<string> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  const { body } = await request(`${baseUrl}/osquery/certificate.pem`, { dispatcher })
  const pem = await body.text()
  await dispatcher.destroy()
  return pem
}

/** SSF 1.0 section 7.2.1: the well-known part goes between host and path of the issuer. */
async function readMetadata(client: SuiteClient, baseUrl: string): Promise<TransmitterMetadata> {
  const { json } = await client.send(`${baseUrl}/.well-known/ssf-configuration/ssf`)
  return json as TransmitterMetadata
}

async function createTokens(
  client: SuiteClient,
  service: ServiceProcess,
): Promise<[string, string, string]> {
  const scopes = ['ssf.read ssf.manage', 'ssf.read', 'ssf.read ssf.manage']
  const tokens: string[] = []
  for (const [index, scope] of scopes.entries()) {
    const name = `Suite ${index}`
    const created = await service.command('ssf-clients', 'create', '--name', name, '--scope', scope)
    const { client_id: id, client_secret: secret, token_endpoint: url } = created as SsfClient
    tokens.push(await client.fetchToken(url, { id, secret }, scope))
  }
  const [manage = '', read = '', other = ''] = tokens
  return [manage, read, other]
}

interface SsfClient {
  readonly client_id: string
  readonly client_secret: string
  readonly token_endpoint: string
}

async function enrollDevice(client: SuiteClient, service: ServiceProcess): Promise<string> {
  const created = await service.command('enrollment-secrets', 'create', '--name', 'suite')
  const { secret } = created as { secret: string }
  await client.send(`${service.baseUrl}/osquery/enroll`, {
    method: 'POST',
    body: {
      enroll_secret: secret,
      host_identifier: 'suite-device',
      platform_type: '9',
      host_details: { system_info: { hostname: 'suite-device', uuid: 'suite-device' } },
    },
  })
  // The first device of a new service.
  return '1'
}
