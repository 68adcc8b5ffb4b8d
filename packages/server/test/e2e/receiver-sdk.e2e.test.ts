/*
 * The published receiver against the service as a process: everything that a receiver does with streams,
 * through the standard surface and with what goes beyond it.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DELIVERY_METHOD_PUSH, DEVICE_COMPLIANCE_CHANGE, STREAM_UPDATED } from '@heliograph/ssf'
import {
  createClientCredentials,
  createComplianceState,
  createMemoryComplianceStore,
  createMemoryJtiStore,
  createPollClient,
  createPushHandler,
  createSetVerifier,
  createStreamClient,
  createVerificationWaiter,
  TransmitterError,
  type AuthorizationSource,
  type SequenceGap,
  type StreamClient,
  type VerifiedSet,
} from '@heliograph/receiver'
import { toNodeHandler } from '@heliograph/receiver/node'
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ReportingAgent } from './support/reporting-agent.ts'
import { reservePort } from '../support/reserve-ports.ts'
import { createPreparedFolder } from './support/prepared-folder.ts'
import { ServiceProcess } from './support/service-process.ts'

let folder: string
let service: ServiceProcess
let issuer: string
let authorization: AuthorizationSource
let client: StreamClient
let key: string
const deviceIds: string[] = []

beforeAll(async () => {
  folder = await createPreparedFolder('heliograph-sdk-')
  service = new ServiceProcess({
    dataDir: join(folder, 'data'),
    port: await reservePort(),
    environment: { HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '1000000', HELIOGRAPH_LOG_LEVEL: 'warn' },
  })
  await service.start()
  issuer = `${service.baseUrl}/ssf`
  const made = (await service.command(
    ...['ssf-clients', 'create', '--name', 'sdk', '--scope', 'ssf.read ssf.manage'],
  )) as { client_id: string; client_secret: string; token_endpoint: string }
  authorization = createClientCredentials({
    tokenEndpoint: made.token_endpoint,
    clientId: made.client_id,
    authentication: { method: 'client_secret_basic', clientSecret: made.client_secret },
    scope: 'ssf.read ssf.manage',
  })
  client = createStreamClient({ issuer, authorization })
  key = await createKey()
  await enroll(['one', 'two', 'three'])
})

afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true, force: true })
})

async function createKey(): Promise<string> {
  const admin = ['--email', 'admin@example.com', '--first-name', 'Ada', '--last-name', 'Admin']
  await service.command('admins', 'create', ...admin)
  const permission = 'Manage Shared Signals Framework Streams=a test'
  const responsible = ['--responsible', 'admin@example.com', '--permission', permission]
  const created = await service.command('keys', 'create', '--name', 'sdk', ...responsible)
  return (created as { key: string }).key
}

/** Devices that are there and say nothing; their posture changes by command. */
async function enroll(names: readonly string[]): Promise<void> {
  const created = await service.command('enrollment-secrets', 'create', '--name', 'sdk')
  for (const name of names) {
    await new ReportingAgent(service.baseUrl, name, new Set()).enroll(
      (created as { secret: string }).secret,
    )
  }
  const response = await fetch(`${service.baseUrl}/devices`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { data } = (await response.json()) as { data: { id: string }[] }
  deviceIds.push(...data.map(({ id }) => id))
  expect(deviceIds).toHaveLength(names.length)
}

const subjectOf = (sub: string) => ({ format: 'iss_sub', iss: issuer, sub }) as const

async function turn(deviceId: string, to: 'blocked' | 'good'): Promise<void> {
  await service.command('devices', 'simulate-change', '--device', deviceId, '--to', to)
}

/** The choice of a stream that only its operator has. */
async function choose(streamId: string, choices: object): Promise<void> {
  const response = await fetch(`${service.baseUrl}/ssf_streams/${streamId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ssf_stream: choices }),
  })
  expect([response.status, await response.text()]).toEqual([200, expect.anything()])
}

function verifierFor(aud: string | readonly string[]) {
  return createSetVerifier({
    issuer,
    audience: aud,
    keys: { jwksUri: `${service.baseUrl}/ssf/jwks.json` },
  })
}

describe('the receiver, with a poll stream', () => {
  it('keeps track of devices, notices what it missed, and makes it good', async () => {
    const [one = '', two = '', three = ''] = deviceIds
    const created = await client.createStream({
      events_requested: [DEVICE_COMPLIANCE_CHANGE],
      description: 'poll',
      heliograph_sequence: true,
    })
    const { stream_id: id } = created
    if (created.heliograph_sequence !== true) await choose(id, { heliograph_sequence: true })
    expect((await client.listStreams()).map(({ stream_id }) => stream_id)).toEqual([id])
    expect(await client.updateStream(id, { description: 'changed' })).toMatchObject({
      description: 'changed',
    })

    const gaps: SequenceGap[] = []
    const compliance = createComplianceState({
      store: createMemoryComplianceStore(),
      source: (options) => client.statePages(id, options),
      onGap: (gap) => void gaps.push(gap),
      onError: (error) => expect.fail(String(error)),
      gapGraceMs: 100,
    })
    const verifications = createVerificationWaiter({ refusesUnknownState: true })
    const lost = new Set<string>()
    const poller = createPollClient({
      endpointUrl: created.delivery.endpoint_url,
      authorization,
      verifier: verifierFor(created.aud),
      seen: createMemoryJtiStore(),
      idlePauseMs: 100,
      onEvent: verifications.watch(async (set) => {
        const device = set.subject.format === 'complex' ? set.subject.device : set.subject
        const sub = device?.format === 'iss_sub' ? device.sub : ''
        // What is acknowledged and forgotten, as by a receiver that lost its disk.
        if (!lost.delete(sub)) await compliance.apply(set)
      }),
    })
    const stopped = new AbortController()
    const polling = poller.start(stopped.signal)

    const proof = await client.verifyAndWait(id, { verifications })
    expect(proof.subject).toEqual({ format: 'opaque', id })
    // What was before the stream: nothing is told of it but by the state.
    expect(await compliance.statusOf(subjectOf(one))).toBeUndefined()
    expect(await compliance.reconcile()).toMatchObject({ added: 3, removed: 0 })
    expect(await compliance.statusOf(subjectOf(one))).toBe('not-compliant')

    await turn(one, 'good')
    await vi.waitUntil(async () => (await compliance.statusOf(subjectOf(one))) === 'compliant')
    lost.add(two)
    await turn(two, 'good')
    await vi.waitUntil(() => lost.size === 0)
    expect(await compliance.statusOf(subjectOf(two))).toBe('not-compliant')
    await turn(three, 'good')
    await vi.waitUntil(async () => (await compliance.statusOf(subjectOf(two))) === 'compliant')
    expect(gaps).toHaveLength(1)
    expect(await compliance.reconcile()).toMatchObject({ added: 0, changed: 0, removed: 0 })

    const replayed = await client.replay(id, { from_sequence: gaps[0]?.from ?? 1 })
    expect(replayed).toMatchObject({ complete: true, first_sequence: gaps[0]?.from })
    stopped.abort()
    await polling
    await compliance.close()
    await client.deleteStream(id)
    await expect(client.getStream(id)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the receiver, with a push stream', () => {
  it('is told of events, of its subjects alone, and of what becomes of the stream', async () => {
    const [one = '', two = ''] = deviceIds
    const received: VerifiedSet[] = []
    const verifications = createVerificationWaiter()
    const state = { audience: '' }
    const secret = 'Bearer given-to-the-stream'
    const server = createServer(
      toNodeHandler((request) =>
        createPushHandler({
          verifier: verifierFor(state.audience),
          authorization: secret,
          onEvent: verifications.watch((set) => void received.push(set)),
        })(request),
      ),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const created = await client.createStream({
      events_requested: [DEVICE_COMPLIANCE_CHANGE],
      delivery: {
        method: DELIVERY_METHOD_PUSH,
        endpoint_url: `http://127.0.0.1:${port}/events`,
        authorization_header: secret,
      },
    })
    const { stream_id: id } = created
    state.audience = String(created.aud)
    await client.verifyAndWait(id, { verifications })

    await client.removeSubject(id, subjectOf(two))
    await turn(two, 'blocked')
    await turn(one, 'blocked')
    const changes = () => received.filter(({ event }) => event.type === DEVICE_COMPLIANCE_CHANGE)
    await vi.waitUntil(() => changes().length > 0)
    expect(changes().map(({ subject }) => JSON.stringify(subject))).toEqual([
      expect.stringContaining(`"sub":"${one}"`),
    ])
    await client.addSubject(id, subjectOf(two))
    expect(await client.setStatus(id, 'paused', { reason: 'maintenance' })).toMatchObject({
      status: 'paused',
    })
    await turn(two, 'good')
    expect(await client.getStatus(id)).toMatchObject({ status: 'paused' })
    await client.setStatus(id, 'enabled')
    await vi.waitUntil(() => changes().length > 1)
    // The operator, not the receiver, stops the stream: that is told.
    await choose(id, { enabled: false })
    await vi.waitUntil(() => received.some(({ event }) => event.type === STREAM_UPDATED))
    await client.deleteStream(id)
    server.close()
    server.closeAllConnections()
  })

  it('is told apart what is refused, and by whom', async () => {
    const stranger = createStreamClient({ issuer, authorization: 'Bearer unknown' })
    const failure: unknown = await stranger.listStreams().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TransmitterError)
    expect(failure).toMatchObject({ code: 'unauthorized', status: 401, error: 'invalid_token' })
    const invalid = client.createStream({
      delivery: { method: DELIVERY_METHOD_PUSH, endpoint_url: 'https://192.0.2.1/events' },
    })
    await expect(invalid).rejects.toMatchObject({ code: 'refused' })
  })
})
