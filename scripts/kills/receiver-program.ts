/*
 * The receiver as a process of its own, which can be killed: takes pushes and webhooks, polls, verifies everything, and
 * writes it down before it acknowledges it. Remembers nothing: repetitions are of interest here. Ends with its parent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { createPollClient, createPushHandler, createSetVerifier } from '@heliograph/receiver'
import { toNodeHandler } from '@heliograph/receiver/node'
import { verifyStandard } from '../../packages/server/test/support/webhook-verifiers.ts'
import { appendArrival } from './arrival.ts'
import type { ReceiverSettings } from './receiver.ts'

const settings = JSON.parse(process.argv[2] ?? '') as ReceiverSettings
const { baseUrl, port, path, key, pushAudience, pollAudience, pollUrl, webhookSecret } = settings

const verify = (audience: string) =>
  createSetVerifier({
    issuer: baseUrl,
    audience,
    keys: { jwksUri: `${baseUrl}/ssf/jwks.json` },
  })

const handlePush = toNodeHandler(
  createPushHandler({
    verifier: verify(pushAudience),
    onEvent: ({ token }) => appendArrival(path, { way: 'push', token }),
    onRefused: (outcome) => {
      if (outcome.kind === 'refused') noteProblem(`push: ${outcome.error.message}`)
    },
  }),
)

const server = createServer((request, response) => {
  if (request.url === '/hooks') void takeWebhook(request, response)
  else handlePush(request, response)
})
await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
process.on('disconnect', () => process.exit(0))
process.send?.('ready')

await createPollClient({
  endpointUrl: pollUrl,
  authorization: `Bearer ${key}`,
  verifier: verify(pollAudience),
  onEvent: ({ token }) => appendArrival(path, { way: 'poll', token }),
  returnImmediately: true,
  idlePauseMs: 200,
  backOffMs: 100,
  backOffMaxMs: 1_000,
}).start(new AbortController().signal)

async function takeWebhook(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = await text(request)
    verifyStandard({ headers: request.headers, body }, webhookSecret)
    appendArrival(path, { way: 'webhook', eventId: String(request.headers['webhook-id']), body })
    response.writeHead(204).end()
  } catch (error) {
    // A sender that was killed while it sent is none.
    if (request.complete) noteProblem(`webhook: ${String(error)}`)
    response.writeHead(400).end()
  }
}

function noteProblem(problem: string): void {
  appendArrival(path, { way: 'problem', text: problem })
}
