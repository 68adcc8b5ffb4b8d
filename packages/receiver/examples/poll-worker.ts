/*
 * A worker that keeps one stream at the transmitter, fetches its events by poll and knows at any
 * time which devices are compliant. What it knows survives a restart, and what it missed is read
 * from the transmitter.
 *
 *   ISSUER=https://transmitter.example.com/ssf CLIENT_ID=... CLIENT_SECRET=... \
 *   TOKEN_ENDPOINT=https://transmitter.example.com/ssf/token node poll-worker.ts
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  createClientCredentials,
  createComplianceState,
  createPollClient,
  createSetVerifier,
  createStreamClient,
  createVerificationWaiter,
} from '@heliograph/receiver'
import { createFileComplianceStore, createFileJtiStore } from '@heliograph/receiver/node'
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'

const DESCRIPTION = 'compliance worker'

const issuer = required('ISSUER')
const folder = process.env['STATE_FOLDER'] ?? 'worker-state'
mkdirSync(folder, { recursive: true })

const stopped = new AbortController()
process.once('SIGTERM', () => stopped.abort())
process.once('SIGINT', () => stopped.abort())
const { signal } = stopped

const authorization = createClientCredentials({
  tokenEndpoint: required('TOKEN_ENDPOINT'),
  clientId: required('CLIENT_ID'),
  authentication: { method: 'client_secret_basic', clientSecret: required('CLIENT_SECRET') },
  scope: 'ssf.read ssf.manage',
})
const client = createStreamClient({ issuer, authorization })

const streams = await client.listStreams({ signal })
const stream =
  streams.find(({ description }) => description === DESCRIPTION) ??
  (await client.createStream(
    {
      description: DESCRIPTION,
      events_requested: [DEVICE_COMPLIANCE_CHANGE],
      heliograph_sequence: true,
    },
    { signal },
  ))
const { jwks_uri: jwksUri } = await client.getConfiguration()
if (jwksUri === undefined) throw new Error('the transmitter publishes no keys')

// A stream that is made anew counts from the beginning: what was known of another one stays with that.
const store = await createFileComplianceStore({
  path: join(folder, `compliance-${stream.stream_id}.jsonl`),
})
const seen = await createFileJtiStore({ path: join(folder, 'seen.jsonl') })
const compliance = createComplianceState({
  store,
  source: (options) => client.statePages(stream.stream_id, options),
  onChange: ({ subject, previous, current }) => {
    print({ subject, previous: previous ?? 'unknown', current: current ?? 'unknown' })
  },
  onGap: (gap) => print({ missing: gap }),
  onError: tellProblem,
})

const verifications = createVerificationWaiter()
const poller = createPollClient({
  endpointUrl: stream.delivery.endpoint_url,
  authorization,
  verifier: createSetVerifier({ issuer, audience: stream.aud, keys: { jwksUri } }),
  seen,
  onEvent: verifications.watch(async (set) => {
    await compliance.apply(set)
    print({ event: set.event.type, jti: set.jti })
  }),
  onError: tellProblem,
})

const polling = poller.start(signal)
// Proof that events arrive, then everything that happened before this stream was there. A
// transmitter that does not tell the state of a stream leaves only what the events say.
await client
  .verifyAndWait(stream.stream_id, { verifications, signal })
  .then(() => print({ verified: stream.stream_id }), tellProblem)
await compliance.reconcile({ signal }).then((report) => print({ reconciled: report }), tellProblem)
await polling

await compliance.close()
await Promise.all([seen.close(), store.close()])

function tellProblem(problem: unknown): void {
  if (!signal.aborted) print({ problem: describe(problem) })
}

/** Of a SET that was not handled, what hindered it. */
function describe(problem: unknown): string {
  if (problem instanceof Error) return problem.message
  if (typeof problem !== 'object' || problem === null || !('error' in problem)) return 'unknown'
  return describe(problem.error)
}

function required(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`set ${name}`)
  return value
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
