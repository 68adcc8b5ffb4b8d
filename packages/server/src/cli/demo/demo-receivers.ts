/*
 * The two receivers of the demo: one that events are pushed to and one that polls, both with the
 * published receiver. Each verifies every event before it counts.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createMemoryJtiStore,
  createPollClient,
  createPushHandler,
  createRemoteKeySource,
  createSetVerifier,
  discoverTransmitter,
  TransmitterError,
  type KeySource,
  type RefusedOutcome,
  type VerifiedSet,
} from '@heliograph/receiver'
import { toNodeHandler, type NodeHandler } from '@heliograph/receiver/node'
import { newSecret } from '../../platform/ids.ts'
import type { ApiStream, DemoApi } from './demo-api.ts'
import { DemoError } from './demo-error.ts'
import type { EventTally } from './event-tally.ts'
import { toVerifiedEvent, type Method, type VerifiedEvent } from './verified-event.ts'

export interface DemoReceiversOptions {
  readonly baseUrl: string
  readonly api: DemoApi
  readonly pollKey: string
  readonly tally: EventTally
  /** An event is acknowledged when this has resolved. */
  readonly onEvent: (event: VerifiedEvent) => void | Promise<void>
}

/** Receivers that run. */
export interface DemoReceivers {
  /** Stops both; events under way are finished and acknowledged. Safe to call twice. */
  stop(): Promise<void>
}

const STREAM_NAMES = { push: 'Demo push receiver', poll: 'Demo poll receiver' } as const
const IDLE_PAUSE_MS = 1_000

/** Creates a push and a poll stream through the API and receives from both. */
export async function startReceivers(options: DemoReceiversOptions): Promise<DemoReceivers> {
  const { api, baseUrl } = options
  await deleteStreams(api)
  const keys = await openKeys(baseUrl)
  const authorization = `Bearer ${newSecret()}`
  // The handler can only be made once the stream is known, and the stream needs the address.
  let handler: NodeHandler = (_request, response) => void response.writeHead(503).end()
  const server = createServer((request, response) => handler(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpointUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
  const stopping = new AbortController()
  try {
    const push = { endpointUrl, authorization }
    const pushStream = await api.createStream(STREAM_NAMES.push, push)
    handler = toNodeHandler(
      createPushHandler({
        ...createIntake(options, 'push', pushStream, keys),
        authorization,
        onRefused: (outcome) => countRefusal(options.tally, outcome),
      }),
    )
    const pollStream = await api.createStream(STREAM_NAMES.poll)
    const client = createPollClient({
      ...createIntake(options, 'poll', pollStream, keys),
      endpointUrl: `${baseUrl}/ssf_streams/${pollStream.stream_id}/events`,
      authorization: `Bearer ${options.pollKey}`,
      idlePauseMs: IDLE_PAUSE_MS,
      onError: (problem) => countRefusal(options.tally, problem),
    })
    const polling = client.start(stopping.signal)
    return {
      stop: async () => {
        stopping.abort()
        await polling
        await closeServer(server)
      },
    }
  } catch (error) {
    await closeServer(server)
    throw error
  }
}

/** Deletes the streams of the demo: on a kept folder, pushes to a receiver that is gone would go on. */
export async function deleteStreams(api: DemoApi): Promise<void> {
  const names: readonly string[] = Object.values(STREAM_NAMES)
  for (const stream of await api.listStreams()) {
    if (names.includes(stream.name)) await api.deleteStream(stream.id)
  }
}

function createIntake(
  { tally, onEvent }: DemoReceiversOptions,
  method: Method,
  stream: ApiStream,
  keys: KeySource,
) {
  return {
    verifier: createSetVerifier({ issuer: stream.iss, audience: stream.aud, keys }),
    seen: createMemoryJtiStore(),
    onEvent: async (set: VerifiedSet) => {
      const event = toVerifiedEvent(set, method, Date.now())
      tally.addVerified(event)
      await onEvent(event)
    },
  }
}

/** The keys are found as every receiver finds them: through the discovery document. */
async function openKeys(baseUrl: string): Promise<KeySource> {
  const { jwks_uri: jwksUri } = await discoverTransmitter(baseUrl)
  if (jwksUri === undefined) throw new DemoError('The discovery document names no keys.')
  return createRemoteKeySource({ jwksUri })
}

function countRefusal(tally: EventTally, problem: TransmitterError | RefusedOutcome): void {
  if (!(problem instanceof TransmitterError) && problem.kind === 'refused') {
    tally.addRefused(problem.error.err)
  }
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    // The service keeps its connections open; what was answered is answered.
    setTimeout(() => server.closeAllConnections(), 500).unref()
  })
}
