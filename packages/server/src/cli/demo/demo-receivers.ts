/*
 * The two receivers of the demo: one that events are pushed to and one that polls, both with the
 * published receiver. Each verifies every event before it counts.
 */
import { TransmitterError } from '@heliograph/receiver'
import { listen, type ListenSource } from '@heliograph/receiver/cli'
import { newSecret } from '../../platform/ids.ts'
import { findFreePort } from '../../platform/net/find-free-port.ts'
import type { ApiStream, DemoApi } from './demo-api.ts'
import type { EventTally } from './event-tally.ts'
import { toVerifiedEvent, type VerifiedEvent } from './verified-event.ts'

export interface DemoReceiversOptions {
  readonly baseUrl: string
  readonly api: DemoApi
  readonly pollKey: string
  readonly tally: EventTally
  readonly onEvent: (event: VerifiedEvent) => void
}

/** Receivers that run. */
export interface DemoReceivers {
  /** Stops both; events under way are finished and acknowledged. Safe to call twice. */
  stop(): Promise<void>
}

const STREAM_NAMES = { push: 'Demo push receiver', poll: 'Demo poll receiver' } as const
const HOST = '127.0.0.1'
const IDLE_PAUSE_MS = 1_000
/** What is received is printed by the demo itself. */
const SILENT = { write: () => undefined }

/** Creates a push and a poll stream through the API and receives from both. */
export async function startReceivers(options: DemoReceiversOptions): Promise<DemoReceivers> {
  const { api, baseUrl, pollKey } = options
  await deleteStreams(api)
  const stopping = new AbortController()
  const port = await findFreePort(HOST)
  const authorization = `Bearer ${newSecret()}`
  const endpointUrl = `http://${HOST}:${port}/events`
  const pushStream = await api.createStream(STREAM_NAMES.push, { endpointUrl, authorization })
  const pollStream = await api.createStream(STREAM_NAMES.poll)
  const receiving = Promise.all([
    receive(options, pushStream, { method: 'push', host: HOST, port, authorization }, stopping),
    receive(
      options,
      pollStream,
      {
        method: 'poll',
        url: `${baseUrl}/ssf_streams/${pollStream.stream_id}/events`,
        authorization: `Bearer ${pollKey}`,
        idlePauseMs: IDLE_PAUSE_MS,
      },
      stopping,
    ),
  ])
  // A failure is told to whoever stops them.
  receiving.catch(() => undefined)
  return {
    stop: async () => {
      stopping.abort()
      await receiving
    },
  }
}

/** Deletes the streams of the demo: on a kept folder, pushes to a receiver that is gone would go on. */
export async function deleteStreams(api: DemoApi): Promise<void> {
  const names: readonly string[] = Object.values(STREAM_NAMES)
  for (const stream of await api.listStreams()) {
    if (names.includes(stream.name)) await api.deleteStream(stream.id)
  }
}

async function receive(
  { tally, onEvent }: DemoReceiversOptions,
  { iss: issuer, aud: audience }: ApiStream,
  source: ListenSource,
  { signal }: AbortController,
): Promise<void> {
  await listen({
    source,
    issuer,
    audience,
    output: SILENT,
    diagnostics: SILENT,
    onEvent: (set) => {
      const event = toVerifiedEvent(set, source.method, Date.now())
      tally.addVerified(event)
      onEvent(event)
    },
    onProblem: (problem) => {
      const isRefused = !(problem instanceof TransmitterError) && problem.kind === 'refused'
      if (isRefused) tally.addRefused(problem.error.err)
    },
    signal,
  })
}
